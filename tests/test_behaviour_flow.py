"""The whole flow on real answers in the real sandbox, and its parts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator_core.behaviour import behaves_alike, find_witness, from_json, run_behaviour, to_json
from evaluator_core.behaviour.clusters import label_outcomes
from evaluator_core.behaviour.correctness import pass_at_k
from evaluator_core.behaviour.examples import user_inputs
from evaluator_core.behaviour.inputs import choose_inputs
from evaluator_core.behaviour.records import Kind, Outcome, Source, Status
from evaluator_core.errors import InvalidInput, ResultDamaged

CODES = [
    "def f(x: int):\n    return x * 2",
    "def f(x):\n    return x + x",
    "def f(x):\n    return x ** 2 if x > 5 else x * 2",
    'def f(x):\n    """Double."""\n    pass',
    "",
    "def f(x):\n    return float(2 * x)",
    "import numpy\ndef f(x):\n    return 2 * x",
]
PROMPT = "Double a number with f: f(3) == 6, and f(4) returns 8."


def test_the_whole_flow() -> None:
    found = run_behaviour(CODES, PROMPT)
    assert [group.members for group in found.groups] == [(0, 1, 5), (2,)]
    assert [trial.status for trial in found.trials][3:] == [Status.EMPTY, Status.NO_CODE, Status.RAN, Status.UNSUPPORTED]
    assert found.metrics.behaviour_agreement_percent == round(100 * 3 / 21, 1)
    assert (found.metrics.largest_group, found.metrics.groups) == (3, 2)
    assert found.consensus in (0, 1, 5)
    assert found.correctness is not None
    assert found.correctness.expectations == 2
    assert dict(found.correctness.met) == {0: 2, 1: 2, 2: 2, 3: 0, 4: 0, 5: 2, 6: 0}
    witness = find_witness(found, 0, 2)
    assert witness is not None
    assert (witness.input.text, witness.first.text, witness.second.text) == ("f(6)", "12", "36")
    assert find_witness(found, 0, 1) is None
    assert behaves_alike(found, 0, 3) is None
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_in_another_order_and_with_other_workers_it_is_the_same() -> None:
    first = run_behaviour(CODES, PROMPT, workers=1)
    assert to_json(run_behaviour(CODES, PROMPT, workers=2)) == to_json(first)
    turned = run_behaviour(CODES[::-1], PROMPT)
    last = len(CODES) - 1
    assert {frozenset(last - member for member in group.members) for group in turned.groups} == {
        frozenset(group.members) for group in first.groups
    }
    assert turned.metrics == first.metrics


def test_where_nothing_can_be_run_there_is_no_number() -> None:
    found = run_behaviour(["", "hello there"], "Say something.")
    assert found.metrics.behaviour_agreement_percent is None
    assert found.groups == ()
    assert found.consensus is None


def test_a_users_call_may_say_what_it_should_give() -> None:
    found = run_behaviour(CODES[:3], "", calls=["f(10) == 20", "f(1)"])
    assert [item.source for item in found.inputs][:2] == [Source.USER, Source.USER]
    assert found.correctness is not None
    assert dict(found.correctness.met) == {0: 1, 1: 1, 2: 0}


@pytest.mark.parametrize("line", ["f(x)", "f(__import__('os'))", "1 + 1", "f(*[1])", "f(", "f([1 for _ in 'a'])"])
def test_a_call_with_anything_but_literals_is_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 2"):
        run_behaviour(CODES, "", calls=["f(1)", line])


@pytest.mark.parametrize(
    ("prompt", "call", "expected"),
    [
        ('def f(x):\n    """\n    >>> f([1, 2])\n    [2, 1]\n    """\n', "f([1, 2])", "[2, 1]"),
        ("f('a', 2) == 'aa'", "f('a', 2)", "'aa'"),
        ("f(3) → 9", "f(3)", "9"),
        ("f(3) -> (1, 'x')", "f(3)", "(1, 'x')"),
        ("For example f(3) returns 9.", "f(3)", "9"),
        ("`f(3)` should return `None`", "f(3)", "None"),
        ("f(3)", "f(3)", None),
    ],
)
def test_examples_in_the_prompt(prompt: str, call: str, expected: str | None) -> None:
    _, inputs = choose_inputs(["def f(x, y=1):\n    return x"], prompt)
    example = next(item for item in inputs if item.source is Source.EXAMPLE)
    assert (example.text, example.expected) == (call, expected)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ('def f(s: str):\n    """s is a string of "(" and ")"."""', "'(())'"),
        ('def f(s: str):\n    """s consists only of 1s and 0s: a string of 1s and 0s."""', "'0011'"),
        ('def f(s: str):\n    """s is a sentence; count its words."""', "'a I'"),
        ('def f(s: str):\n    """Sum the digits of s."""', "'0099'"),
        ("def f(s: str):\n    \"\"\"Sort the words 'zero', 'one' and 'two' in s.\"\"\"", "'two zero'"),
        ('def f(xs):\n    """Join the elements of the list xs."""', "['a']"),
        ('def f(s):\n    """Do something with it."""', "'a'"),
    ],
    ids=["brackets", "binary", "sentence", "digits", "quoted words", "a list of what", "nothing is known"],
)
def test_texts_and_types_that_the_prompt_speaks_of_are_tried(prompt: str, text: str) -> None:
    _, inputs = choose_inputs([prompt], prompt)
    assert f"f({text})" in {item.text for item in inputs}
    if "string of" in prompt:  # then no other text is asked for
        assert not any("ñ" in item.text for item in inputs)


def test_broken_answers_do_not_decide_what_was_asked() -> None:
    good = ["def f(x):\n    return 10 // x", "def f(x):\n    y = 10\n    return y // x", "def f(n):\n    return int(10 / n // 1)"]
    broken = ["def f(x):\n    return undefined + x", "def f(x):\n    return missing(x)"]
    found = run_behaviour(good + broken, "Write f(x).", calls=[])
    assert found.groups[0].members == (0, 1, 2)
    verdicts = {item.text: counted for item, counted in zip(found.inputs, found.in_verdict, strict=True)}
    assert verdicts["f(2)"]
    assert not verdicts["f(0)"]  # all that work refuse it
    assert all(len(group.members) == 1 for group in found.groups[1:])


def test_programs_read_lines() -> None:
    codes = ["n = int(input())\nprint(n * 2)", "import sys\nprint(2 * int(sys.stdin.readline()))", "print(int(input()) ** 2)"]
    found = run_behaviour(codes, "Read a number and print its double.\n\nInput:\n21\n\nOutput:\n42\n")
    assert found.target is None
    assert [group.members for group in found.groups] == [(0, 1), (2,)]
    assert found.correctness is not None
    assert dict(found.correctness.met) == {0: 1, 1: 1, 2: 0}


def test_methods_of_a_class() -> None:
    prompt = 'class A:\n    """\n    >>> a = A(5)\n    >>> a.take(2)\n    3\n    """\n    def take(self, k: int) -> int: ...\n'
    code = "class A:\n    def __init__(self, n):\n        self.n = n\n    def take(self, k):\n        return self.n {} k\n"
    found = run_behaviour([code.format("-"), code.format("+"), code.format("-")], prompt)
    assert [group.members for group in found.groups] == [(0, 2), (1,)]
    assert found.inputs[0].text == "A(5).take(2)"


ACCOUNT = """class Account:
    def __init__(self):
        self.amount = 0
    def deposit(self, amount):
        self.amount += amount
        return self.amount
    def withdraw(self, amount):
        if amount > self.amount:
            raise ValueError
        self.amount -= amount
        return self.amount
    def left(self):
        return self.amount
"""
SESSION = '''class Account:
    """
    >>> account = Account()
    >>> account.deposit(1000)
    1000
    >>> account.withdraw(200)
    800
    """
    def deposit(self, amount: int) -> int: ...
    def withdraw(self, amount: int) -> int: ...
    def left(self) -> int:
        """
        >>> account = Account()
        >>> account.left()
        0
        """
'''


def test_calls_of_one_doctest_are_of_one_object() -> None:
    forgetful = ACCOUNT.replace("self.amount -= amount\n        return self.amount", "return self.amount - amount")
    found = run_behaviour([ACCOUNT, forgetful, ACCOUNT.replace("self.amount", "self.held")], SESSION)
    assert [item.text for item in found.inputs if item.source is Source.EXAMPLE] == [
        "Account().deposit(1000)",
        "a = Account(); a.deposit(1000); a.withdraw(200)",
        "Account().left()",
    ]
    assert found.correctness is not None
    assert dict(found.correctness.met) == {0: 3, 1: 3, 2: 3}
    assert [group.members for group in found.groups] == [(0, 2), (1,)]
    witness = find_witness(found, 0, 1)
    assert witness is not None
    assert witness.input.text.startswith("a = Account(); a.deposit(")
    assert "a.withdraw(" in witness.input.text
    assert from_json(json.loads(json.dumps(to_json(found)))) == found


def test_after_a_call_that_cannot_be_made_here_nothing_is_expected_of_the_object() -> None:
    prompt = SESSION.replace("account.deposit(1000)\n    1000", "account.deposit(int(input()))")
    _, inputs = choose_inputs([ACCOUNT], prompt)
    assert [item.text for item in inputs if item.source is Source.EXAMPLE] == ["Account().left()"]


@pytest.mark.parametrize("text", ["f([1, 2], k='x')", "A(5).take(2)", "a = A(5); a.take(2); a.take(1, now=True)"])
def test_a_call_is_read_as_it_is_written(text: str) -> None:
    (item,) = user_inputs([f"{text} == 7"])
    assert (item.text, item.expected) == (text, "7")


@pytest.mark.parametrize(
    "text", ["a = A(5); b.take(2)", "a = 5; a.take(2)", "import os; f(1)", "a = A(5)", "f(x)", "a = A(5); a.b.c(1)"]
)
def test_what_is_no_call_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="line 1"):
        user_inputs([text])


def test_generated_inputs_are_the_same_in_every_process_and_leave_no_folder(tmp_path: Path) -> None:
    code = (
        "from evaluator_core.behaviour.inputs import choose_inputs\n"
        "print(choose_inputs(['def f(a: list[int], b: str, c: dict[str, float]): return a'], '')[1])"
    )
    root = str(Path(__file__).parents[1])
    for extra in ("", "import json, decimal, unittest\n"):
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{extra}{code}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{choose_inputs(['def f(a: list[int], b: str, c: dict[str, float]): return a'], '')[1]}\n"
    assert list(tmp_path.iterdir()) == []


def test_floats_compare_with_tolerance_in_any_order() -> None:
    texts = ["1", '["float", "1.0"]', '["float", "1.0000000001"]', '["float", "1.1"]', "true", '["list", [1]]', '["tuple", [1]]']
    labels = label_outcomes([Outcome(Kind.VALUE, text) for text in texts])
    assert labels[0] == labels[1] == labels[2]
    assert len(set(labels)) == 5
    turned = label_outcomes([Outcome(Kind.VALUE, text) for text in texts[::-1]])[::-1]
    assert labels == turned


@pytest.mark.parametrize(
    ("total", "passing", "k", "chance"), [(10, 0, 1, 0.0), (10, 10, 3, 1.0), (10, 3, 1, 0.3), (4, 2, 2, 5 / 6)]
)
def test_pass_at_k(total: int, passing: int, k: int, chance: float) -> None:
    assert pass_at_k(total, passing, k) == pytest.approx(chance)


def test_a_damaged_record_is_refused() -> None:
    data = to_json(run_behaviour(CODES[:2], PROMPT))
    data["samples"][0]["outcomes"].pop()
    with pytest.raises(ResultDamaged):
        from_json(data)
    with pytest.raises(ResultDamaged):
        from_json({"version": 99})
