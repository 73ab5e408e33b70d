"""N codes → three N×N matrices of similarities in [0, 1]: structure, text and hybrid.

Two sequences are as alike as their longest common subsequence is long: ``1 - indel distance / sum of lengths``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel

from evaluator_core.types import Matrix, Weights

LONG = 20_000
"""Characters above which a sequence is compared by its shingles: exact comparison takes time that grows with the square."""

_SHINGLE = 8
THREADS_FROM = 50


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """How alike N samples are, in three views."""

    structure: Matrix | None
    """By syntax; ``None`` when there is no grammar."""
    text: Matrix
    """By characters."""
    hybrid: Matrix
    """The weighted mean."""


def compare(codes: Sequence[str], kinds: Sequence[str] | None, weights: Weights) -> Similarities:
    """Compare every pair of codes, and of their sequences of syntax kinds where there are some.

    An empty code is like no other, not even like another empty one. Where a sequence of kinds is empty, the structure
    could not be read: it is like that of an equal code only.
    """
    empty = np.array([not code for code in codes], dtype=bool)
    text = _separate(similarity_matrix(codes), empty)
    if kinds is None:
        return Similarities(None, text, text.copy())
    structure = similarity_matrix(kinds)
    unread = np.array([not sequence for sequence in kinds], dtype=bool)
    structure[unread, :] = structure[:, unread] = 0.0
    structure[text == 1.0] = 1.0
    structure = _separate(structure, empty)
    return Similarities(structure, text, weights.structure * structure + weights.text * text)


def similarity_matrix(sequences: Sequence[str]) -> Matrix:
    """Similarity of every pair of strings: symmetric, exactly 1.0 for equal ones, 0.0 for those with nothing in common."""
    positions: dict[str, int] = {}
    where = [positions.setdefault(sequence, len(positions)) for sequence in sequences]
    distinct = list(positions)
    exact = [sequence if len(sequence) <= LONG else "" for sequence in distinct]
    # Given one list twice, cdist computes half of the pairs and mirrors them.
    matrix: Matrix = process.cdist(
        exact,
        exact,
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
        workers=-1 if len(exact) >= THREADS_FROM else 1,
    )
    _fill_long(matrix, distinct)
    return matrix if len(distinct) == len(where) else matrix[np.ix_(where, where)]


def _fill_long(matrix: Matrix, sequences: Sequence[str]) -> None:
    """Put in the pairs in which one sequence or both are long."""
    long = [number for number, sequence in enumerate(sequences) if len(sequence) > LONG]
    if not long:
        return
    shingles = [count_shingles(sequence) for sequence in sequences]
    for row in long:
        for column, other in enumerate(shingles):
            if row != column:
                # Different texts can have the same shingles; only equal ones are 1.0.
                most = 1.0 - 1.0 / (len(sequences[row]) + len(sequences[column]))
                matrix[row, column] = matrix[column, row] = min(most, shingle_overlap(shingles[row], other))


def count_shingles(sequence: str) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The distinct runs of eight characters, hashed and sorted, and how often each occurs."""
    characters = np.frombuffer(sequence.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    count = max(0, len(characters) - _SHINGLE + 1)
    hashes = np.zeros(count, dtype=np.uint64)
    for offset in range(_SHINGLE):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + characters[offset : offset + count]
    return np.unique(hashes, return_counts=True)


def shingle_overlap(
    first: tuple[NDArray[np.uint64], NDArray[np.int64]], second: tuple[NDArray[np.uint64], NDArray[np.int64]]
) -> float:
    """Twice the shingles in common over all shingles (Sørensen–Dice), in [0, 1]."""
    _, in_first, in_second = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
    common = np.minimum(first[1][in_first], second[1][in_second]).sum()
    return float(2 * common / max(1, first[1].sum() + second[1].sum()))


def _separate(matrix: Matrix, empty: NDArray[np.bool_]) -> Matrix:
    """Make the marked samples unlike every other one."""
    matrix[empty, :] = matrix[:, empty] = 0.0
    np.fill_diagonal(matrix, 1.0)
    return matrix
