"""Who behaves like whom: outcomes → groups, metrics, the consensus answer, and the input on which two part.

Everything here is independent of the order of the answers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from evaluator_core.behaviour.records import (
    Behaviour,
    BehaviourMetrics,
    Group,
    Input,
    Kind,
    Outcome,
    Source,
    Status,
    Trial,
    Witness,
)
from evaluator_core.similarity import compare
from evaluator_core.types import Weights

MAX_RAISING = 0.1
"""The largest share of answers that may fail on an input of the verdict; one answer may always."""
_FAULTS = frozenset({"NameError", "UnboundLocalError", "AttributeError", "NotImplementedError"})
RELATIVE, ABSOLUTE = 1e-6, 1e-9
"""How far two floats may be apart and still be the same."""


def in_contract(inputs: Sequence[Input], trials: Sequence[Trial]) -> tuple[bool, ...]:
    """For each input whether answers are held to it: on the others too many refuse for it to be what was asked.

    Answers that fail on every input are broken, and have no say in it. A name that is not defined is a fault of the answer,
    not a refusal of the input.
    """
    ran = [trial for trial in trials if trial.status is Status.RAN and any(one.kind is Kind.VALUE for one in trial.outcomes)]
    kept = []
    for place, item in enumerate(inputs):
        outcomes = [trial.outcomes[place] for trial in ran]
        failing = sum(outcome.kind is not Kind.VALUE for outcome in outcomes)
        refusing = sum(outcome.kind is not Kind.VALUE and not _is_fault(outcome) for outcome in outcomes)
        limit = max(1.0, MAX_RAISING * len(ran)) if len(ran) > 2 else 0.0
        # What the user or the prompt calls is meant to work, unless most answers fail on it.
        meant = item.source in (Source.USER, Source.EXAMPLE) or refusing <= limit
        kept.append(bool(ran) and meant and failing * 2 <= len(ran))
    return tuple(kept)


def _is_fault(outcome: Outcome) -> bool:
    return outcome.kind is Kind.RAISED and json.loads(outcome.text) in _FAULTS


def label_outcomes(outcomes: Sequence[Outcome]) -> list[int]:
    """A number for each outcome; the same number means the same result, floats within the tolerance."""
    unique = sorted({(outcome.kind.value, outcome.text) for outcome in outcomes})
    values = [(kind, *_flatten(text)) for kind, text in unique]
    parent = list(range(len(unique)))

    def root(place: int) -> int:
        while parent[place] != place:
            place = parent[place]
        return place

    buckets: dict[tuple[str, str], list[int]] = {}
    for place, (kind, skeleton, _) in enumerate(values):
        buckets.setdefault((kind, skeleton), []).append(place)
    for members in buckets.values():
        for at, first in enumerate(members):
            for second in members[at + 1 :]:
                if root(first) != root(second) and _close(values[first][2], values[second][2]):
                    parent[root(second)] = root(first)
    number = {key: root(place) for place, key in enumerate(unique)}
    return [number[outcome.kind.value, outcome.text] for outcome in outcomes]


def group_trials(trials: Sequence[Trial], counted: Sequence[bool], codes: dict[int, str]) -> tuple[Group, ...]:
    """The answers that ran, grouped by what they gave on the inputs that count; largest first."""
    ran = [trial for trial in trials if trial.status is Status.RAN]
    places = [place for place, counts in enumerate(counted) if counts]
    if not ran or not places:
        return ()
    columns = [label_outcomes([trial.outcomes[place] for trial in ran]) for place in places]
    members: dict[tuple[int, ...], list[int]] = {}
    for row, trial in enumerate(ran):
        signature = tuple(column[row] for column in columns)
        if all(trial.outcomes[place].kind is not Kind.VALUE for place in places):
            signature = (-1, trial.index)  # an answer that never gave a result agrees with nobody
        members.setdefault(signature, []).append(trial.index)
    groups = [Group(tuple(sorted(group)), _typical(sorted(group), codes)) for group in members.values()]
    return tuple(sorted(groups, key=lambda group: (-len(group.members), group.members)))


def measure_groups(groups: Sequence[Group], total: int) -> BehaviourMetrics:
    """The numbers of the groups among ``total`` answers; those in no group are each alone."""
    if not groups or total < 2:
        return BehaviourMetrics(None, len(groups[0].members) if groups else None, len(groups) or None, None)
    sizes = [len(group.members) for group in groups]
    pairs = sum(size * (size - 1) // 2 for size in sizes)
    alone = total - sum(sizes)
    shares = [size / total for size in sizes] + [1 / total] * alone
    entropy = -sum(share * math.log(share) for share in shares) / math.log(total)
    agreement = round(100 * pairs / (total * (total - 1) / 2), 1)
    return BehaviourMetrics(agreement, max(sizes), len(groups), round(min(1.0, max(0.0, entropy)), 6))


def behaves_alike(behaviour: Behaviour, first: int, second: int) -> bool | None:
    """Whether two answers are in one group; ``None`` when one of them did not run, or nothing counted."""
    where = {member: place for place, group in enumerate(behaviour.groups) for member in group.members}
    return where[first] == where[second] if first in where and second in where else None


def find_witness(behaviour: Behaviour, first: int, second: int) -> Witness | None:
    """The smallest input on which two answers that ran differ; ``None`` when they do not, or one did not run."""
    trials = {trial.index: trial for trial in behaviour.trials if trial.status is Status.RAN}
    if first not in trials or second not in trials or behaves_alike(behaviour, first, second) is not False:
        return None
    found = []
    for place, item in enumerate(behaviour.inputs):
        if not behaviour.in_verdict[place] and item.source is not Source.SHRUNK:
            continue
        one, other = trials[first].outcomes[place], trials[second].outcomes[place]
        if item.source is Source.SHRUNK and Kind.VALUE not in (one.kind, other.kind):
            continue
        if Kind.SKIPPED not in (one.kind, other.kind) and len(set(label_outcomes([one, other]))) == 2:
            both = one.kind is Kind.VALUE and other.kind is Kind.VALUE
            found.append((not both, len(item.text), item.text, Witness(item, one, other)))
    return min(found, key=lambda entry: entry[:3])[3] if found else None


def _typical(members: Sequence[int], codes: dict[int, str]) -> int:
    """The member whose code is most like the others'; the first of equals."""
    if len(members) < 3:
        return members[0]
    likeness = compare([codes[member] for member in members], None, Weights(0.0, 1.0)).text.sum(axis=1).round(9)
    return members[int(likeness.argmax())]


def _flatten(text: str) -> tuple[str, tuple[float | int, ...]]:
    """A value without its numbers, and its numbers: what must be equal, and what may differ a little."""
    numbers: list[float | int] = []

    def walk(value: Any) -> Any:
        if isinstance(value, list) and len(value) == 2 and value[0] == "float":
            numbers.append(float(value[1]))
            return ["number"]
        if isinstance(value, int) and not isinstance(value, bool):
            numbers.append(value)
            return ["number"]
        return [walk(part) for part in value] if isinstance(value, list) else value

    return json.dumps(walk(json.loads(text))), tuple(numbers)


def _close(first: Sequence[float | int], second: Sequence[float | int]) -> bool:
    return all(_same_number(one, other) for one, other in zip(first, second, strict=True))


def _same_number(one: float | int, other: float | int) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (math.isnan(one) and math.isnan(other))
    except OverflowError:  # an integer that no float reaches
        return False
