"""Repeated runs over time: steady ones raise few alarms, a step is found, and the words name it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core.drift import MOST_RUNS, Drift, describe_drift, find_drift
from tests.test_statistics import draws, population

STEADY = [77.3, 79.0, 76.1, 80.2, 78.4, 75.9, 79.5, 77.0, 78.8, 76.6]


def look(values: list[float], size: int = 10) -> Drift:
    return find_drift(values, [size] * len(values))


def say(values: list[float]) -> str:
    return describe_drift(look(values), [f"run {place}" for place in range(len(values))])


def history(parts: list[tuple[np.ndarray, int]], size: int, seed: int) -> list[float]:
    rows, columns = np.triu_indices(size, 1)
    runs = [
        draws(values, size, count, seed + place)[:, rows, columns].mean(axis=1) for place, (values, count) in enumerate(parts)
    ]
    return [float(value) for value in (100 * np.concatenate(runs)).round(1)]


def graded(mean: float) -> np.ndarray:
    """A hundred answers that are more or less alike, some a little more than others."""
    rng = np.random.default_rng(0)
    taste = rng.normal(0, 0.05, 100)
    noise = rng.normal(0, 0.1, (100, 100))
    return np.clip(mean + taste[:, None] + taste[None, :] + (noise + noise.T) / 2, 0, 1)


@pytest.mark.parametrize(("count", "there"), [(0, "are 0"), (1, "is 1"), (5, "are 5")])
def test_few_runs_tell_nothing(count: int, there: str) -> None:
    found = look(STEADY[:count])
    assert not found.found
    assert found.newest is None
    assert say(STEADY[:count]) == f"not enough runs to tell drift from noise: 6 are needed, and there {there}"


def test_steady_runs_are_called_so() -> None:
    assert say(STEADY) == "no drift: the newest run is in line with the 9 before it"


def test_a_newest_run_that_differs_is_named() -> None:
    found = look([*STEADY, 55.0])
    assert found.change is None
    assert found.newest is not None
    assert found.newest.differs
    assert found.newest.difference == pytest.approx(-22.9)
    assert say([*STEADY, 55.0]) == "the newest run, of run 10, is 23 points below the 10 before it, more than they vary"


def test_a_step_is_found_where_it_is() -> None:
    dropped = [*STEADY, *(value - 15 for value in STEADY[:5])]
    change = look(dropped).change
    assert change is not None
    assert change.index == 10
    assert change.difference == pytest.approx(-14.7, abs=0.2)
    assert say(dropped) == f"confidence dropped by 15 points at the run of run 10, from 77.9 to {change.after} on average"
    assert say(dropped[::-1]).startswith("confidence rose by 15 points at the run of run 5, ")


def test_perfect_runs_do_not_make_an_event_of_a_small_change() -> None:
    assert not look([100.0] * 6 + [98.0]).found
    assert not look([100.0] * 20).found


def test_a_run_of_few_samples_is_given_more_room() -> None:
    wide, narrow = (find_drift([*STEADY, 68.0], [10] * 10 + [size]).newest for size in (2, 200))
    assert wide is not None
    assert narrow is not None
    assert narrow.differs
    assert not wide.differs


def test_only_the_newest_of_very_many_runs_are_looked_at() -> None:
    values = [20.0] * 500 + STEADY * (MOST_RUNS // len(STEADY))
    assert look(values).change is None
    stepped = look(values + [value - 15 for value in STEADY])
    assert stepped.change is not None
    assert stepped.change.index == len(values)


def test_lists_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="6 values, but 5"):
        find_drift(STEADY[:6], [10] * 5)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 100), st.integers(2, 200)), min_size=6, max_size=14))
def test_any_history_is_read(runs: list[tuple[float, int]]) -> None:
    found = find_drift([value for value, _ in runs], [size for _, size in runs])
    assert found.newest is not None
    assert 0 <= found.newest.low <= found.newest.before <= found.newest.high <= 100
    if found.change:
        assert 2 <= found.change.index <= len(runs) - 2
    assert "nan" not in describe_drift(found, ["a run"] * len(runs))


def test_false_alarms_stay_rare() -> None:
    values = population([0.4, 0.2] + [0.02] * 20, 0.6)
    alarms = [look(history([(values, 12)], 10, seed)).found for seed in range(400)]
    assert np.mean(alarms) <= 0.07


def test_a_step_of_fifteen_points_is_found_within_five_runs() -> None:
    before, after = graded(0.75), graded(0.6)
    assert before.mean() - after.mean() == pytest.approx(0.15, abs=0.01)
    found = [
        any(look(values[: 10 + count]).found for count in range(1, 6))
        for values in (history([(before, 10), (after, 5)], 10, seed) for seed in range(0, 200, 2))
    ]
    assert np.mean(found) >= 0.8
