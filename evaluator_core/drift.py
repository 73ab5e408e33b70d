"""Has a model changed? The confidence of repeated runs of one prompt and model, in order of time: steady, or not.

Two questions, with one rate of false alarms of at most 5 % for both together, at each look:

**Does the newest run differ from those before it?** Its distance to their mean, by Student's t for one new value. The spread is
that of the runs before, weighted by their numbers of samples, with one degree of freedom more for what such numbers lead one
to expect (``unseen_variance``): five runs of exactly 100 do not make a sixth of 99 an event. Held to 1.25 %: confidence has
heavier tails than the normal distribution, and on real answers about 2 % of steady runs pass that limit.

**Is there a change point?** For each place with two runs or more on either side, the difference of the means on both sides over
its standard error; the largest of them is held against the largest in 2,000 other orders of the same runs. Steady runs can
be exchanged, so this errs in at most 2.5 %, whatever their distribution. It takes nine runs before it can speak.

Assumptions: runs are independent, and steady means one distribution, but for the numbers of samples. One change is looked for:
a slow trend shows as one, and two opposite changes may hide each other. Who looks after every run looks often, and meets a
false alarm more often than once in twenty histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluator_core.intervals import unseen_variance
from evaluator_core.permutation import WAYS

FEWEST_RUNS = 6
"""Fewer do not show how much runs vary."""
MOST_RUNS = 300
"""Only so many of the newest runs are looked at."""

_NEWEST_LEVEL, _CHANGE_LEVEL = 0.0125, 0.025
_ROUNDED = 0.05**2  # values come with one decimal
_Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Change:
    """Where the runs changed."""

    index: int
    """The first run after the change, counted from 0."""
    before: float
    """Mean confidence before it, in percent; runs with more samples count more."""
    after: float
    """Mean confidence from it on."""
    p_value: float
    """How often other orders of the same runs show as much."""

    @property
    def difference(self) -> float:
        """After minus before, in points."""
        return round(self.after - self.before, 1)


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest run against those before it."""

    value: float
    """Its confidence in percent."""
    before: float
    """The mean of those before it."""
    low: float
    """From where on a run like those before it is expected, in percent within 0..100."""
    high: float
    """Up to where."""

    @property
    def differs(self) -> bool:
        """Whether it lies outside of what is expected."""
        return not self.low <= self.value <= self.high

    @property
    def difference(self) -> float:
        """Its distance to the mean before it, in points."""
        return round(self.value - self.before, 1)


@dataclass(frozen=True, slots=True)
class Drift:
    """What repeated runs show over time."""

    runs: int
    """How many runs there are."""
    newest: Newest | None
    """The newest run; ``None`` with too few runs."""
    change: Change | None
    """The change point; ``None`` when there is none, or with too few runs."""

    @property
    def found(self) -> bool:
        """Whether anything differs."""
        return self.change is not None or (self.newest is not None and self.newest.differs)


def find_drift(values: Sequence[float], n_samples: Sequence[int]) -> Drift:
    """What the confidence in percent of runs in order of time shows, with the number of samples of each (2 or more)."""
    if len(values) != len(n_samples):
        raise ValueError(f"{len(values)} values, but {len(n_samples)} numbers of samples")
    runs = len(values)
    if runs < FEWEST_RUNS:
        return Drift(runs, None, None)
    skipped = max(0, runs - MOST_RUNS)
    kept, weights = np.array(values[skipped:], dtype=np.float64), np.array(n_samples[skipped:], dtype=np.float64)
    return Drift(runs, _newest(kept, weights), _change(kept, weights, skipped))


def describe_drift(drift: Drift, labels: Sequence[str]) -> str:
    """What to make of it, given a label for each run: a sentence without a full stop: “confidence dropped by 15 …”."""
    if drift.newest is None:
        return f"not enough runs to tell drift from noise: {FEWEST_RUNS} are needed, and there {_are(drift.runs)}"
    if drift.change is not None:
        change = drift.change
        turn = "dropped" if change.difference < 0 else "rose"
        means = f"from {change.before:.1f} to {change.after:.1f} on average"
        return f"confidence {turn} by {_points(change.difference)} at the run of {labels[change.index]}, {means}"
    if drift.newest.differs:
        side = "below" if drift.newest.difference < 0 else "above"
        points = _points(drift.newest.difference)
        return f"the newest run, of {labels[-1]}, is {points} {side} the {drift.runs - 1} before it, more than they vary"
    return f"no drift: the newest run is in line with the {drift.runs - 1} before it"


def _newest(values: _Values, weights: _Values) -> Newest:
    past, counts = values[:-1], weights[:-1]
    mean = float(np.average(past, weights=counts))
    # Of a value that counts one sample; a run's variance is that over its number of samples.
    expected = float(np.mean(1e4 * counts * unseen_variance(mean / 100, counts)))
    degrees = len(past)  # one less for the mean, one more for what was expected
    spread = (float(counts @ np.square(past - mean)) + expected) / degrees
    reach = float(special.stdtrit(degrees, 1 - _NEWEST_LEVEL / 2)) * np.sqrt(spread * (1 / weights[-1] + 1 / counts.sum()))
    low, high = max(0.0, mean - reach), min(100.0, mean + reach)
    return Newest(float(values[-1]), round(mean, 1), round(float(low), 1), round(float(high), 1))


def _change(values: _Values, weights: _Values, skipped: int) -> Change | None:
    """The place where the runs differ most, if no more than 2.5 % of other orders show as much."""
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(len(values)), (WAYS - 1, 1)), axis=1)
    orders = np.concatenate([np.arange(len(values))[None, :], orders])
    ratios = _ratios(values[orders], weights[orders])
    largest = ratios.max(axis=1)
    p_value = float(np.mean(largest >= largest[0]))
    if p_value > _CHANGE_LEVEL:
        return None
    place = int(ratios[0].argmax()) + 2
    before = float(np.average(values[:place], weights=weights[:place]))
    after = float(np.average(values[place:], weights=weights[place:]))
    return Change(skipped + place, round(before, 1), round(after, 1), p_value)


def _ratios(values: _Values, weights: _Values) -> _Values:
    """For each row of runs, and each place with two or more on either side, how far apart the means are, in standard errors."""
    values = values - values.mean(axis=1, keepdims=True)
    mass, sums = np.cumsum(weights, axis=1), np.cumsum(weights * values, axis=1)
    left, left_sum = mass[:, 1:-2], sums[:, 1:-2]
    right, right_sum = mass[:, -1:] - left, sums[:, -1:] - left_sum
    squares = (weights * np.square(values)).sum(axis=1, keepdims=True) - left_sum**2 / left - right_sum**2 / right
    floor = _ROUNDED * weights.mean(axis=1, keepdims=True)
    spread = np.maximum(squares / (values.shape[1] - 2), floor)
    distance = np.abs(left_sum / left - right_sum / right)
    return np.asarray((distance / np.sqrt(spread * (1 / left + 1 / right))).round(9))


def _points(difference: float) -> str:
    size = abs(difference)
    return f"{size:.0f} points" if size >= 1.5 else f"{size:.1f} points"


def _are(runs: int) -> str:
    return "is 1" if runs == 1 else f"are {runs}"
