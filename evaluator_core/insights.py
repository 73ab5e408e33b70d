"""What a score shows beyond its three numbers: the typical answer, the odd one out, families of answers.

Answers are named by their place in ``score.samples``, which is their row in the matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from evaluator_core.metrics import measure, pair_values
from evaluator_core.types import Matrix, Score


@dataclass(frozen=True, slots=True)
class Extreme:
    """An answer that stands out by its likeness to the others."""

    row: int
    """Its place among the samples."""
    mean_similarity: float
    """Its mean hybrid similarity to all others, in [0, 1]."""


def typical_answer(score: Score) -> Extreme | None:
    """The answer most like all others; the first of equals, ``None`` with fewer than two or where none holds code."""
    means = mean_similarities(score.hybrid)
    return (
        None
        if means is None or not any(sample.code for sample in score.samples)
        else Extreme(int(np.argmax(means)), float(means.max()))
    )


def odd_one_out(score: Score) -> Extreme | None:
    """The answer least like all others; ``None`` with fewer than three, or when all are equally alike."""
    means = mean_similarities(score.hybrid)
    if means is None or len(means) < 3 or np.ptp(means) < 1e-9:
        return None
    return Extreme(int(np.argmin(means)), float(means.min()))


def mean_similarities(hybrid: Matrix) -> NDArray[np.float64] | None:
    """For each answer its mean similarity to the others; ``None`` with fewer than two."""
    size = len(hybrid)
    if size < 2:
        return None
    # Equal means must be equal to the last bit: the order of a sum changes it.
    means: NDArray[np.float64] = ((hybrid.sum(axis=1) - 1.0) / (size - 1)).round(12)
    return means


def identical_groups(score: Score) -> tuple[tuple[int, ...], ...]:
    """The answers that are the same program, up to names, literals and layout; largest first, those without code left out.

    Without a grammar it is the same text that counts.
    """
    same = (score.text if score.ast is None else score.ast) == 1.0
    left = [row for row, sample in enumerate(score.samples) if sample.code]
    groups: list[tuple[int, ...]] = []
    while left:
        first = left[0]
        groups.append(tuple(row for row in left if same[first, row]))
        left = [row for row in left if not same[first, row]]
    return tuple(sorted(groups, key=lambda group: (-len(group), group)))


def agreement_curve(hybrid: Matrix, steps: int = 100) -> tuple[tuple[float, float], ...]:
    """Agreement in percent at each of ``steps + 1`` thresholds from 0 to 1; empty with fewer than two answers."""
    if len(hybrid) < 2:
        return ()
    pairs = np.sort(pair_values(hybrid))
    thresholds = np.linspace(0.0, 1.0, steps + 1)
    reached = len(pairs) - np.searchsorted(pairs, thresholds - 1e-9)
    return tuple(zip(thresholds.tolist(), (100.0 * reached / len(pairs)).tolist(), strict=True))


def agreement_at(hybrid: Matrix, threshold: float) -> float | None:
    """Agreement in percent at another threshold than the run's."""
    return measure(hybrid, threshold).agreement_percent


def order_by_likeness(hybrid: Matrix) -> tuple[int, ...]:
    """An order of the answers in which alike ones stand side by side (hierarchical clustering, average linkage)."""
    size = len(hybrid)
    if size < 3:
        return tuple(range(size))
    distances = squareform(np.clip(1.0 - hybrid, 0.0, 1.0), checks=False)
    # The best order of the leaves takes time that grows steeply; beyond some hundred answers nobody sees the difference.
    tree = linkage(distances, method="average", optimal_ordering=size <= 200)
    return tuple(int(row) for row in leaves_list(tree))
