"""Pairs of answers by code and by behaviour: the third matrix, and the four corners between looking and doing alike."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from evaluator_core.behaviour.clusters import label_outcomes
from evaluator_core.behaviour.records import Behaviour, Status
from evaluator_core.types import Matrix, Score


class Corner(StrEnum):
    """Where a pair lies; the dangerous one first."""

    LOOKS_ALIKE = "Similar code, different behaviour"
    SAME = "Same code and same behaviour"
    DOES_ALIKE = "Different code, same behaviour"
    DIFFERENT = "Different in both"


@dataclass(frozen=True, slots=True)
class PairBehaviour:
    """Two answers that both ran."""

    i: int
    """Index of the first sample."""
    j: int
    """Index of the second sample, larger than ``i``."""
    structure: float
    """How alike their code is, in [0, 1]: by structure, or by text where there is no grammar."""
    behaviour: float
    """The share of inputs on which they gave the same, in [0, 1]."""
    corner: Corner
    """Where that puts them."""


def behaviour_matrix(behaviour: Behaviour) -> Matrix:
    """N×N: the share of the inputs of the verdict on which two answers gave the same; 0 for one that did not run."""
    size = len(behaviour.trials)
    ran = [row for row, trial in enumerate(behaviour.trials) if trial.status is Status.RAN]
    places = [place for place, counts in enumerate(behaviour.in_verdict) if counts]
    matrix = np.zeros((size, size))
    if places:
        labels = np.array([label_outcomes([behaviour.trials[row].outcomes[place] for row in ran]) for place in places])
        for column, row in enumerate(ran):
            matrix[row, ran] = (labels == labels[:, [column]]).mean(axis=0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def pairs_of(score: Score, behaviour: Behaviour) -> tuple[PairBehaviour, ...]:
    """Every pair of answers in a group of behaviour, the dangerous ones first, the most alike code before the rest."""
    alike = behaviour_matrix(behaviour)
    code = score.text if score.ast is None else score.ast
    group = {member: place for place, one in enumerate(behaviour.groups) for member in one.members}
    rows = [row for row, trial in enumerate(behaviour.trials) if trial.index in group]
    found = []
    for at, first in enumerate(rows):
        for second in rows[at + 1 :]:
            i, j = behaviour.trials[first].index, behaviour.trials[second].index
            similar, same = code[first, second] >= score.threshold, group[i] == group[j]
            corner = (
                (Corner.SAME if similar else Corner.DOES_ALIKE) if same else (Corner.LOOKS_ALIKE if similar else Corner.DIFFERENT)
            )
            found.append(PairBehaviour(i, j, float(code[first, second]), float(alike[first, second]), corner))
    order = list(Corner)
    return tuple(sorted(found, key=lambda pair: (order.index(pair.corner), -pair.structure, pair.i, pair.j)))


def order_by_behaviour(behaviour: Behaviour) -> tuple[int, ...]:
    """The rows with the members of each group side by side, largest group first, then those that did not run."""
    row_of = {trial.index: row for row, trial in enumerate(behaviour.trials)}
    grouped = [row_of[member] for group in behaviour.groups for member in group.members]
    return (*grouped, *(row for row in range(len(behaviour.trials)) if row not in set(grouped)))
