"""The three numbers, what they say, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import InvalidInput, Metrics, Reading, score
from evaluator_core.metrics import measure, pair_values, read
from evaluator_core.types import DEFAULT_THRESHOLD, Matrix


def matrix_of(*pairs: float) -> Matrix:
    """The symmetric matrix whose pairs i < j are these, in order."""
    size = (1 + math.isqrt(1 + 8 * len(pairs))) // 2
    assert size * (size - 1) // 2 == len(pairs)
    matrix = np.eye(size)
    matrix[np.triu_indices(size, 1)] = pairs
    return np.maximum(matrix, matrix.T)


def test_the_published_example() -> None:
    hybrid = matrix_of(0.9, *[0.74125] * 8, 0.9)
    assert pair_values(hybrid).mean() == pytest.approx(0.773)
    metrics = measure(hybrid, DEFAULT_THRESHOLD)
    assert metrics == Metrics(agreement_percent=20.0, confidence_percent=77.3, normalized_confidence_percent=54.6)
    assert read(metrics) is Reading.MODERATE


def test_only_pairs_count_not_the_diagonal_and_each_once() -> None:
    hybrid = matrix_of(0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert sorted(pair_values(hybrid)) == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert measure(hybrid, 0.5) == Metrics(33.3, 35.0, 0.0)


def test_normalized_confidence_is_held_at_zero_below_a_mean_of_one_half() -> None:
    assert measure(matrix_of(0.2, 0.3, 0.4), 0.85).normalized_confidence_percent == 0.0
    assert measure(matrix_of(0.5, 0.5, 0.5), 0.85).normalized_confidence_percent == 0.0
    assert measure(matrix_of(0.0), 0.85) == Metrics(0.0, 0.0, 0.0)


def test_equal_answers_are_one_hundred_three_times() -> None:
    assert measure(matrix_of(1.0, 1.0, 1.0), 1.0) == Metrics(100.0, 100.0, 100.0)


def test_a_pair_exactly_at_the_threshold_agrees() -> None:
    assert measure(matrix_of(0.85), 0.85).agreement_percent == 100.0
    assert measure(matrix_of(0.0), 0.0).agreement_percent == 100.0


def test_a_pair_that_misses_the_threshold_by_rounding_alone_agrees() -> None:
    missed = 0.1 + 0.7
    assert missed < 0.8
    assert measure(matrix_of(missed), 0.8).agreement_percent == 100.0
    assert measure(matrix_of(float(np.nextafter(0.85, 0))), 0.85).agreement_percent == 100.0


def test_a_pair_that_misses_the_threshold_by_more_does_not_agree() -> None:
    assert measure(matrix_of(0.849999), 0.85).agreement_percent == 0.0


@pytest.mark.parametrize("replies", [[], ["def f(): pass"], [""]])
def test_fewer_than_two_samples_have_no_numbers(replies: list[str]) -> None:
    result = score(replies)
    assert result.metrics == Metrics(None, None, None)
    assert result.agreement_percent is None
    assert result.confidence_percent is None
    assert result.normalized_confidence_percent is None
    assert read(result.metrics) is None
    assert list(result.pairs()) == []
    assert any("Fewer than two answers" in note for note in result.notes)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3) | st.lists(st.floats(0, 1), min_size=10, max_size=10), st.floats(0, 1))
def test_numbers_are_percentages_with_one_decimal(pairs: list[float], threshold: float) -> None:
    metrics = measure(matrix_of(*pairs), threshold)
    agreement, confidence, normalized = (
        metrics.agreement_percent,
        metrics.confidence_percent,
        metrics.normalized_confidence_percent,
    )
    assert agreement is not None
    assert confidence is not None
    assert normalized is not None
    for number in (agreement, confidence, normalized):
        assert type(number) is float
        assert 0 <= number <= 100
        assert number == round(number, 1)
    assert normalized <= confidence
    assert confidence == pytest.approx(100 * sum(pairs) / len(pairs), abs=0.051)


@pytest.mark.parametrize(
    ("agreement", "confidence", "reading"),
    [
        (80.0, 85.1, Reading.STRONG),
        (100.0, 100.0, Reading.STRONG),
        (79.9, 85.1, Reading.MODERATE),
        (80.0, 85.0, Reading.MODERATE),
        (100.0, 85.0, Reading.MODERATE),
        (0.0, 50.0, Reading.MODERATE),
        (100.0, 50.0, Reading.MODERATE),
        (100.0, 49.9, Reading.LOW),
        (0.0, 49.9, Reading.LOW),
        (0.0, 0.0, Reading.LOW),
    ],
)
def test_the_reading_at_its_boundaries(agreement: float, confidence: float, reading: Reading) -> None:
    assert read(Metrics(agreement, confidence, None)) is reading


def test_score_measures_its_own_matrix() -> None:
    replies = ["def f(a):\n    return a", "def g(b):\n    return b", "def f(a):\n    return a + 1", "No code."]
    result = score(replies, threshold=0.9)
    assert result.threshold == 0.9
    assert result.metrics == measure(result.hybrid, 0.9)
    assert [(pair.i, pair.j) for pair in result.pairs()] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert [pair.hybrid_similarity for pair in result.pairs()] == pair_values(result.hybrid).tolist()


@pytest.mark.parametrize("threshold", [1.5, -0.1, math.nan, math.inf, "x", "0.85", True, False, None])
def test_a_threshold_that_is_no_number_from_0_to_1_is_refused_by_name(threshold: Any) -> None:
    with pytest.raises(InvalidInput, match="threshold") as refusal:
        score(["a", "b"], threshold=threshold)
    assert repr(threshold) in str(refusal.value)


@pytest.mark.parametrize("threshold", [0, 1, 0.0, 0.85, 1.0])
def test_a_threshold_from_0_to_1_is_taken(threshold: float) -> None:
    assert score(["x = 1", "x = 1"], threshold=threshold).agreement_percent == 100.0


def test_one_text_in_place_of_a_list_is_refused() -> None:
    with pytest.raises(InvalidInput, match="outputs"):
        score("def f(): pass")


@pytest.mark.parametrize("wrong", [None, 1, b"x = 1", ["x = 1"]])
def test_an_output_that_is_no_text_is_refused_with_its_place(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match=r"outputs\[1\]") as refusal:
        score(["x = 1", wrong, "x = 1"])
    assert type(wrong).__name__ in str(refusal.value)


def test_every_output_that_is_no_text_is_named_at_once() -> None:
    replies: Any = [None, "x = 1", 3]
    with pytest.raises(InvalidInput, match=r"outputs\[0\].*outputs\[2\]"):
        score(replies)


@pytest.mark.parametrize("language", ["", "  ", "x" * 41, "py\nthon"])
def test_a_language_that_is_no_name_is_refused_by_name(language: str) -> None:
    with pytest.raises(InvalidInput, match="language"):
        score(["x = 1", "x = 1"], language=language)


def test_a_refusal_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="threshold"):
        score([], threshold=2)
