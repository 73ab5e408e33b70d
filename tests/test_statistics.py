"""Intervals: they hold what was seen, never shrink to a point, and hold the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator_core import score
from evaluator_core.behaviour import run_behaviour
from evaluator_core.intervals import FEWEST, jackknife, mean_ends, pseudo_values, share_ends
from evaluator_core.metrics import measure, pair_values
from evaluator_core.statistics import NOT_ENOUGH, Interval, Uncertainty, matrix_uncertainty, new_kind, uncertainty
from evaluator_core.types import DEFAULT_THRESHOLD, Matrix
from tests.runs import ALIKE, BUILTIN, LOOP

FIELDS = ("agreement_percent", "confidence_percent", "normalized_confidence_percent")
EMPTY = "I would rather not."


@st.composite
def matrices(draw: st.DrawFn, least: int = 2) -> Matrix:
    """Any symmetric matrix of similarities, extremes and ties included."""
    size = draw(st.integers(least, 9))
    values = st.one_of(st.sampled_from([0.0, 0.5, 0.85, 1.0]), st.floats(0, 1))
    pairs = draw(st.lists(values, min_size=size * (size - 1) // 2, max_size=size * (size - 1) // 2))
    matrix = np.eye(size)
    matrix[np.triu_indices(size, 1)] = pairs
    return np.maximum(matrix, matrix.T)


def known(found: Uncertainty, field: str) -> Interval:
    interval = found.intervals[field]
    assert interval is not None
    return interval


def population(shares: list[float], likeness: float) -> Matrix:
    """A hundred answers of kinds with these shares; those of different kinds are this alike."""
    kinds = np.repeat(np.arange(len(shares)), [round(100 * share) for share in shares])
    return np.where(kinds[:, None] == kinds[None, :], 1.0, likeness)


def draws(values: Matrix, size: int, runs: int, seed: int = 0) -> NDArray[np.float64]:
    chosen = np.random.default_rng(seed).integers(0, len(values), (runs, size))
    return values[chosen[:, :, None], chosen[:, None, :]]


@given(matrices(least=FEWEST), st.floats(0, 1))
def test_an_interval_holds_its_number_lies_within_0_to_100_and_is_no_point(matrix: Matrix, threshold: float) -> None:
    found = matrix_uncertainty(matrix, threshold)
    metrics = measure(matrix, threshold)
    assert found.reason is None
    for field in FIELDS:
        interval = known(found, field)
        assert 0 <= interval.low <= getattr(metrics, field) <= interval.high <= 100
        assert interval.low < interval.high
        assert interval.half_width == pytest.approx((interval.high - interval.low) / 2, abs=0.01)
    assert found.samples_needed is not None
    assert found.samples_needed >= len(matrix)
    assert found.samples_needed == max(found.samples_needed_by_metric.values())


@given(matrices(least=FEWEST), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(matrix: Matrix, random: object) -> None:
    order = np.arange(len(matrix))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert matrix_uncertainty(matrix, 0.85) == matrix_uncertainty(matrix[np.ix_(order, order)], 0.85)


@given(matrices(least=3))
def test_the_jackknife_is_what_leaving_each_sample_out_gives(matrix: Matrix) -> None:
    size = len(matrix)
    without = [pair_values(np.delete(np.delete(matrix, row, 0), row, 1)).mean() for row in range(size)]
    mean = pair_values(matrix).mean()
    variance = (size - 1) / size * np.square(np.array(without) - np.mean(without)).sum()
    found_mean, found_variance = jackknife(matrix)
    assert found_mean == pytest.approx(mean)
    assert found_variance == pytest.approx(variance, abs=1e-12)
    assert pseudo_values(matrix) == pytest.approx([size * mean - (size - 1) * other for other in without], abs=1e-9)


def test_many_matrices_at_once_are_as_one_at_a_time() -> None:
    together = draws(population([0.6, 0.3, 0.1], 0.4), 6, 5)
    for ends in (share_ends, mean_ends):
        low, high = ends(*jackknife(together), 6)
        for place, matrix in enumerate(together):
            assert (low[place], high[place]) == pytest.approx(tuple(map(float, ends(*jackknife(matrix), 6))))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_fewer_than_four_samples_have_no_interval_and_say_so(count: int) -> None:
    found = uncertainty(score([LOOP] * count))
    assert found.reason == NOT_ENOUGH == "not enough samples for an interval"
    assert dict(found.intervals) == dict.fromkeys(FIELDS)
    assert found.samples_needed is None
    assert found.new_kind is None


def test_equal_answers_leave_room_for_a_kind_that_was_not_seen() -> None:
    ten, forty = uncertainty(score([LOOP] * 10)), uncertainty(score([LOOP] * 40))
    # A kind of 69 % fills ten samples with a chance of 2.5 %; two answers are then of that kind with 48 %.
    assert known(ten, "agreement_percent") == Interval(47.8, 100.0)
    # One answer in twenty that is half like the others: 95.1 %, and ten samples show none of it in 60 % of the cases.
    assert known(ten, "confidence_percent").low < 95.1
    assert known(forty, "confidence_percent").low > known(ten, "confidence_percent").low
    assert ten.new_kind is not None
    assert (ten.new_kind.percent, ten.new_kind.at_most_percent) == (0.0, 30.9)
    assert ten.samples_needed is not None
    assert ten.samples_needed > 10


def test_answers_that_all_differ_may_yet_repeat() -> None:
    found = matrix_uncertainty(np.eye(10) * 0.5 + 0.5, 0.85)
    # A kind of 44.5 % comes less than twice in ten samples with a chance of 2.5 %; the square of it is 19.8 %.
    assert known(found, "agreement_percent") == Interval(0.0, 19.9)


def test_answers_without_code_are_like_none() -> None:
    found = uncertainty(score([EMPTY] * 8))
    assert known(found, "confidence_percent").low == 0.0
    assert known(found, "confidence_percent").high < 30
    assert found.new_kind is not None
    assert found.new_kind.percent == 0.0
    mixed = uncertainty(score([LOOP, LOOP, LOOP, EMPTY, EMPTY, LOOP]))
    assert known(mixed, "confidence_percent").low < 40 < known(mixed, "confidence_percent").high


def test_normalized_confidence_follows_confidence() -> None:
    found = uncertainty(score([LOOP, BUILTIN, ALIKE, LOOP, LOOP, LOOP, LOOP]))
    confidence, normalized = (known(found, field) for field in FIELDS[1:])
    assert normalized.low == pytest.approx(max(0.0, 2 * confidence.low - 100), abs=0.21)
    assert normalized.high == pytest.approx(max(0.0, 2 * confidence.high - 100), abs=0.21)


def test_behaviour_has_an_interval_and_a_chance_of_new_behaviour_where_answers_were_run() -> None:
    codes = [f"def f(x):\n    return x + {number}\n" for number in (1, 1, 1, 1, 2)] + ["def f(:"]
    behaviour = run_behaviour(codes, "", calls=["f(1)", "f(2)"])
    found = uncertainty(score(codes), behaviour)
    agreement = behaviour.metrics.behaviour_agreement_percent
    assert agreement is not None
    interval = known(found, "behaviour_agreement_percent")
    assert interval.low < agreement < interval.high
    assert found.new_behaviour is not None
    assert found.new_behaviour.percent == pytest.approx(33.3)  # the one that adds 2, and the one that does not run
    without = uncertainty(score(codes))
    assert "behaviour_agreement_percent" not in without.intervals
    assert without.new_behaviour is None


def test_the_chance_of_a_new_kind_is_the_share_of_kinds_seen_once() -> None:
    found = new_kind([(0, 1, 2), (3,), (4,)], 10)  # five more are of no group, and one kind together
    assert found is not None
    assert found.percent == 20.0
    assert found.percent < found.at_most_percent < 100
    everything = new_kind([(row,) for row in range(5)], 5)
    assert everything is not None
    assert (everything.percent, everything.at_most_percent) == (100.0, 100.0)


def test_what_is_needed_is_projected_and_ends_where_it_is_reached() -> None:
    values = population([0.5, 0.2, 0.2, 0.1], 0.6)
    small = matrix_uncertainty(draws(values, 20, 1)[0], DEFAULT_THRESHOLD)
    assert small.samples_needed is not None
    assert small.samples_needed > 20
    large = matrix_uncertainty(draws(values, small.samples_needed * 2, 1)[0], DEFAULT_THRESHOLD)
    assert known(large, "agreement_percent").half_width <= 5
    assert large.samples_needed == large.n_samples


def test_more_samples_of_one_population_make_narrower_intervals_on_average() -> None:
    for ends, values in ((mean_ends, population([0.6, 0.2, 0.2], 0.5)), (share_ends, population([0.6, 0.2, 0.2], 0.0))):
        widths = []
        for size in (5, 10, 20, 40):
            low, high = ends(*jackknife(draws(values, size, 300)), size)
            widths.append(float(np.mean(high - low)))
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] < widths[0] / 2


@pytest.mark.parametrize("size", [10, 20])
@pytest.mark.parametrize("graded", [True, False])
def test_intervals_hold_the_truth(size: int, graded: bool) -> None:
    covered = []
    for shares in ([0.95, 0.05], [0.8] + [0.02] * 10, [0.4] + [0.03] * 20, [0.25] * 4, [0.01] * 100):
        values = population(shares, 0.6 if graded else 0.0)
        low, high = (mean_ends if graded else share_ends)(*jackknife(draws(values, size, 1000)), size)
        covered.append(np.mean((low <= values.mean()) & (values.mean() <= high)))
    assert np.mean(covered) >= 0.93
    assert min(covered) >= 0.87  # one kind among scattered others is the hardest


def test_pairs_taken_for_independent_do_not_hold_it() -> None:
    """What the oracle above would see if pairs were resampled: the test can fail."""
    values = population([0.6] + [0.04] * 10, 0.5)
    runs = draws(values, 20, 500)
    pairs = runs[:, *np.triu_indices(20, 1)]
    half = 1.96 * pairs.std(axis=1) / np.sqrt(pairs.shape[1])
    assert np.mean(np.abs(pairs.mean(axis=1) - values.mean()) <= half) < 0.7


@settings(deadline=None)
@given(st.lists(st.sampled_from([LOOP, BUILTIN, ALIKE, EMPTY]), min_size=FEWEST, max_size=8))
def test_any_replies_have_an_uncertainty(replies: list[str]) -> None:
    found = uncertainty(score(replies))
    numbers = [end for field in FIELDS for end in (known(found, field).low, known(found, field).high)]
    assert np.isfinite(numbers).all()
    assert found.new_kind is not None
    assert 0 <= found.new_kind.percent <= found.new_kind.at_most_percent <= 100
