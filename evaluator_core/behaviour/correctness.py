"""Whether answers meet expected results. The comparison is done here, outside of the sandbox."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from evaluator_core.behaviour.calls import is_literal, literal
from evaluator_core.behaviour.clusters import label_outcomes
from evaluator_core.behaviour.records import Correctness, Input, Kind, Outcome, Status, Trial

PASS_AT = (1, 2, 3, 5, 10, 20, 50, 100)


def check_expectations(inputs: Sequence[Input], trials: Sequence[Trial]) -> Correctness | None:
    """How each answer meets the expected results; ``None`` when nothing is expected or there is no answer.

    An answer that did not run meets none.
    """
    expected = {place: wanted for place, item in enumerate(inputs) if (wanted := _wanted(item)) is not None}
    if not expected or not trials:
        return None
    met = []
    for trial in trials:
        good = 0
        if trial.status is Status.RAN:
            good = sum(len(set(label_outcomes([wanted, trial.outcomes[place]]))) == 1 for place, wanted in expected.items())
        met.append((trial.index, good))
    passing = sum(good == len(expected) for _, good in met)
    total = len(met)
    at = tuple((k, pass_at_k(total, passing, k)) for k in PASS_AT if k <= total)
    return Correctness(len(expected), tuple(met), round(100 * passing / total, 1), at)


def pass_at_k(total: int, passing: int, k: int) -> float:
    """The chance that at least one of k answers, drawn from ``total`` without return, is among the ``passing``.

    This is the unbiased estimator 1 − C(total − passing, k) / C(total, k), in [0, 1].
    """
    if not 1 <= k <= total or not 0 <= passing <= total:
        raise ValueError("k must be within 1 and total, passing within 0 and total")
    return 1.0 - math.comb(total - passing, k) / math.comb(total, k)


def canonical(value: Any) -> Any:
    """A literal's value in the canonical form of the sandbox, as JSON takes it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, complex):
        return ["complex", repr(value.real), repr(value.imag)]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [canonical(part) for part in value]]
    if isinstance(value, set):
        return ["set", sorted((canonical(part) for part in value), key=json.dumps)]
    assert isinstance(value, dict)
    return ["dict", sorted(([canonical(key), canonical(item)] for key, item in value.items()), key=json.dumps)]


def _wanted(item: Input) -> Outcome | None:
    if item.expected is None:
        return None
    if item.stdin is not None:
        lines = [line.rstrip() for line in item.expected.rstrip().split("\n")]
        return Outcome(Kind.VALUE, json.dumps(["printed", "\n".join(lines)]))
    if not is_literal(item.expected):
        return None
    return Outcome(Kind.VALUE, json.dumps(canonical(literal(item.expected))))
