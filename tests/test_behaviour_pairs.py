"""Looking alike and doing alike: the four corners, the third matrix, and outcomes in words."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator_core import score
from evaluator_core.behaviour import run_behaviour
from evaluator_core.behaviour.pairs import Corner, behaviour_matrix, order_by_behaviour, pairs_of
from evaluator_core.behaviour.records import Kind, Outcome
from evaluator_core.behaviour.showing import show_outcome

CODES = [
    "def f(x):\n    return x + 1",
    "def f(x):\n    if x < 0:\n        return x + 2\n    return x + 1",
    "def f(y):\n    return y + 1",
    "def f(x):\n    return x + 2",
    "def f(x):\n    return x +",
    "def f(x):\n    total = 1\n    for _ in [x]:\n        total += x\n    return total",
]


def test_every_pair_has_its_corner_and_the_dangerous_come_first() -> None:
    behaviour = run_behaviour(CODES, "Write f(x).", calls=["f(1)", "f(-2)", "f(0)"])
    found = {(pair.i, pair.j): pair for pair in pairs_of(score(CODES), behaviour)}
    assert found[0, 2].corner is Corner.SAME
    assert found[0, 3].corner is Corner.LOOKS_ALIKE  # another literal is the same structure
    assert found[0, 5].corner is Corner.DOES_ALIKE
    assert found[3, 5].corner is Corner.DIFFERENT
    assert not any(4 in pair for pair in found)  # it does not load
    corners = [pair.corner for pair in found.values()]
    assert corners == sorted(corners, key=list(Corner).index)
    matrix = behaviour_matrix(behaviour)
    assert np.array_equal(matrix, matrix.T)
    assert matrix[0, 2] == matrix[0, 5] == 1
    assert 0 < matrix[0, 1] < 1
    assert matrix[4].tolist() == [0, 0, 0, 0, 1, 0]
    assert order_by_behaviour(behaviour)[:3] == (0, 2, 5)
    assert sorted(order_by_behaviour(behaviour)) == list(range(6))


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("[1, (2,), 'a']", "[1, (2,), 'a']"),
        ("{'k': {1.5}, 2: None}", "{'k': {1.5}, 2: None}"),
        ("set()", "set()"),
        ("b'ab'", "b'ab'"),
        ("True", "True"),
        ("(x for x in [1, 2])", "iter([1, 2])"),
        ("range(3)", "range(0, 3, 1)"),
        ("1 / 0", "raises ZeroDivisionError"),
        ("float('nan')", "nan"),
        ("type('P', (), {'__init__': lambda self: setattr(self, 'x', 1)})()", "P(x=1)"),
    ],
)
def test_results_are_shown_as_python_writes_them(code: str, shown: str) -> None:
    behaviour = run_behaviour([f"def f():\n    return {code}"] * 2, "Write f().", calls=["f()"])
    assert show_outcome(behaviour.trials[0].outcomes[0]) == shown


@pytest.mark.parametrize("text", ['["dict", [1]]', '["object"]', "[]", '["list"]', '[["x"]]'])
def test_a_forged_result_is_shown_as_it_stands(text: str) -> None:
    assert show_outcome(Outcome(Kind.VALUE, text))
    assert show_outcome(Outcome(Kind.TIMEOUT)) == "takes too long"
    assert len(show_outcome(Outcome(Kind.VALUE, '"' + "x" * 5000 + '"'))) == 300
