"""Populations of answers whose truth is known: what two independent answers have in common on average, counted out.

The 20 real answers of a model to one prompt stand for all that it could say; a run draws N times from all of them. Two draws
may be the same answer, so the truth is the mean over all 400 ordered pairs, an answer with itself included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_outputs import read_lines
from evaluator_core import score
from evaluator_core.metrics import agreeing
from evaluator_core.types import DEFAULT_THRESHOLD, Matrix

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Answers to one prompt, compared with each other."""

    hybrid: Matrix
    """Their similarities; on the diagonal, that of two draws of the same answer: 0 where it holds no code."""
    kinds: NDArray[np.int64]
    """For each answer a number; the same for those of identical syntax."""
    behaviour: Matrix
    """1 for two that pass the prompt's tests and for two draws of one answer, else 0."""
    samples: tuple[str, ...] = ()
    """The answers; empty for made ones."""

    @property
    def agreement(self) -> Matrix:
        """1 where a pair reaches the threshold, else 0."""
        return agreeing(self.hybrid, DEFAULT_THRESHOLD).astype(np.float64)


def real_populations() -> list[Population] | None:
    """One for each prompt of HumanEval, answered 20 times by one model; ``None`` when the data is not there."""
    records = read_lines("labelled_python.jsonl.gz")
    if records is None:
        return None
    return [_real(record["samples"], record["passed"]) for record in records if record["dataset"] == "HumanEval"]


def made_populations(count: int = 60) -> list[Population]:
    """Made ones: a few kinds with shares from even to lopsided, alike within and less so between."""
    rng = np.random.default_rng(0)
    return [_made(rng, concentration) for concentration in rng.choice([0.1, 0.5, 2.0], count)]


def draw(values: Matrix, size: int, runs: int, rng: np.random.Generator) -> Array:
    """The matrices of that many runs of ``size`` answers."""
    chosen = rng.integers(0, len(values), (runs, size))
    return values[chosen[:, :, None], chosen[:, None, :]]


def mean_of_pairs(matrices: Array) -> Array:
    """The mean over the pairs of each run."""
    size = matrices.shape[-1]
    diagonals = np.trace(matrices, axis1=-2, axis2=-1)
    return np.asarray((matrices.sum(axis=(-2, -1)) - diagonals) / (size * (size - 1)))


def _real(samples: list[str], passed: list[bool]) -> Population:
    found = score(samples)
    assert found.ast is not None
    empty = [not sample.code for sample in found.samples]
    hybrid = found.hybrid.copy()
    hybrid[empty, empty] = 0.0
    good = np.array(passed, dtype=np.float64)
    behaviour = np.maximum(np.outer(good, good), np.eye(len(good)))
    return Population(hybrid, (found.ast == 1.0).argmax(axis=1), behaviour, tuple(samples))


def _made(rng: np.random.Generator, concentration: float) -> Population:
    kinds = rng.choice(12, 20, p=rng.dirichlet(np.full(12, concentration)))
    between = rng.uniform(0.3, 0.9, (12, 12))
    hybrid = np.minimum(between, between.T)[np.ix_(kinds, kinds)]
    same = kinds[:, None] == kinds[None, :]
    return Population(np.where(same, 1.0, hybrid), (same).argmax(axis=1), same.astype(np.float64))
