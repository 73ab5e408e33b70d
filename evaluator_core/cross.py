"""The answers of two runs compared with each other: N × M similarities in [0, 1], on the scale of each run's own matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Indel

from evaluator_core.languages import Language, find_language
from evaluator_core.metrics import pair_values
from evaluator_core.similarity import LONG, THREADS_FROM, count_shingles, shingle_overlap
from evaluator_core.syntax import read_syntax
from evaluator_core.types import Score, Weights

Block = NDArray[np.float64]
"""N×M similarities in [0, 1]: a row for each answer of the first run, a column for each of the second."""


def common_language(first: Score, second: Score) -> Language | None:
    """The language by whose structure two runs can be compared; ``None`` when there is only text to go by."""
    if first.language != second.language or first.ast is None or second.ast is None:
        return None
    return find_language(first.language)


def cross_similarity(first: Score, second: Score) -> Block:
    """Hybrid similarity of every answer of one run with every answer of another; by text alone without a common language.

    Equal codes are exactly 1.0; an answer without code is 0.0 to everything.
    """
    codes, others = [sample.code for sample in first.samples], [sample.code for sample in second.samples]
    text = _clear(_block(codes, others), codes, others)
    language = common_language(first, second)
    if language is None:
        return text
    kinds, other_kinds = _kinds(codes, language), _kinds(others, language)
    structure = _clear(_block(kinds, other_kinds), kinds, other_kinds)
    structure[text == 1.0] = 1.0  # equal codes too long to parse
    structure = _clear(structure, codes, others)
    weights = Weights()
    return weights.structure * structure + weights.text * text


def cross_mean(block: Block) -> float | None:
    """The mean of all N×M similarities, in [0, 1]; ``None`` when a run has no answers."""
    return float(block.mean()) if block.size else None


def within_mean(score: Score, other: Score) -> float | None:
    """The mean similarity of the pairs inside one run, by the view in which it can be held against the other run.

    That is the hybrid with a common language, else the text. ``None`` with fewer than two answers.
    """
    if len(score.samples) < 2:
        return None
    return float(pair_values(score.text if common_language(score, other) is None else score.hybrid).mean())


def _block(first: Sequence[str], second: Sequence[str]) -> Block:
    """Similarity of every string with every other, as ``similarity_matrix`` finds it for one list."""
    if not first or not second:
        return np.zeros((len(first), len(second)))
    block: Block = process.cdist(
        [sequence if len(sequence) <= LONG else "" for sequence in first],
        [sequence if len(sequence) <= LONG else "" for sequence in second],
        scorer=Indel.normalized_similarity,
        dtype=np.float64,
        workers=-1 if max(len(first), len(second)) >= THREADS_FROM else 1,
    )
    if max(map(len, (*first, *second))) > LONG:
        _fill_long(block, first, second)
    return block


def _fill_long(block: Block, first: Sequence[str], second: Sequence[str]) -> None:
    """Put in the pairs in which one sequence or both are long."""
    shingles = {sequence: count_shingles(sequence) for sequence in {*first, *second}}
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            if max(len(one), len(other)) > LONG:
                # Different texts can have the same shingles; only equal ones are 1.0.
                most = 1.0 - 1.0 / (len(one) + len(other))
                block[row, column] = 1.0 if one == other else min(most, shingle_overlap(shingles[one], shingles[other]))


def _clear(block: Block, first: Sequence[str], second: Sequence[str]) -> Block:
    """Make the empty strings unlike everything."""
    block[[not sequence for sequence in first], :] = 0.0
    block[:, [not sequence for sequence in second]] = 0.0
    return block


def _kinds(codes: Sequence[str], language: Language) -> list[str]:
    """The syntax of each code; ``""`` where it was not read."""
    found = [read_syntax(code, language) for code in codes]
    return [syntax.kinds if syntax else "" for syntax in found]
