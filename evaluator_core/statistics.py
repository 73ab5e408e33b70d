"""How far a run's numbers may be from what endlessly many answers would give: the uncertainty that N samples leave.

How an interval is made, and on which assumptions, is in ``intervals``; here it is put to a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from evaluator_core.behaviour.records import Behaviour
from evaluator_core.insights import identical_groups
from evaluator_core.intervals import (
    FEWEST,
    LEVEL,
    Ends,
    has_likeness,
    jackknife,
    mean_ends,
    samples_for,
    share_ends,
    unseen_likeness,
)
from evaluator_core.metrics import LABELS, agreeing
from evaluator_core.types import Matrix, Score

METHOD = "jackknife over samples; Wilson score for shares of pairs, arcsine scale with one unseen answer for means"
NOT_ENOUGH = "not enough samples for an interval"
EXPLANATION = (
    "These answers are a sample: others would give other numbers. If one asked the model anew, again and again, and worked such "
    "an interval out each time, about 95 of 100 intervals would hold the number that endlessly many answers give. A wide one "
    "says: too few answers to tell."
)
"""What an interval is, to someone who never took statistics."""
AIM_POINTS = 5.0
"""How near ``samples_needed`` brings agreement and confidence to the truth, in points to either side."""

_BITS = 1e-6  # what is wrong in the last bits must not move an end to the next tenth


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the truth lies, in percent within 0..100, rounded outward to one decimal. It is never a point."""

    low: float
    """The lower end."""
    high: float
    """The upper end."""

    @property
    def half_width(self) -> float:
        """Half of its width in points: the “±” of a number that lies in the middle."""
        return round((self.high - self.low) / 2.0, 2)


@dataclass(frozen=True, slots=True)
class NewKind:
    """The chance that the next answer is of a kind not seen yet (Good–Turing)."""

    percent: float
    """The share of answers whose kind was seen once: right on average, for one sample fewer. 0 means rare, not never."""
    at_most_percent: float
    """A bound from above that holds about 95 % of the time: Clopper and Pearson's upper end for that many of N."""


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """What N samples leave open about each metric, provided that they are independent draws of one population."""

    method: str
    """How the intervals were made, in one line."""
    level: float
    """How often such intervals hold the truth, on average over prompts."""
    n_samples: int
    """From how many samples."""
    intervals: Mapping[str, Interval | None]
    """By the metric's field; ``None`` where there is none. ``behaviour_agreement_percent`` is there where answers were run."""
    samples_needed: int | None
    """Projected: how many samples in all would bring both agreement and confidence within ± 5 points, if further answers vary
    as those seen. Both, since the reading rests on both. Never below the present number; ``None`` without an interval."""
    samples_needed_by_metric: Mapping[str, int]
    """Projected for each metric alone; normalized confidence is confidence stretched, and left out."""
    new_kind: NewKind | None
    """Kinds being groups of identical syntax, and all answers without code one kind; ``None`` with too few samples."""
    new_behaviour: NewKind | None
    """Kinds being groups of behaviour, and all answers in none of them one kind; ``None`` where answers were not run."""
    reason: str | None = None
    """Why there is no interval, in words; ``None`` where there are some."""


def read_intervals(data: Any) -> dict[str, Interval]:
    """The intervals in the ``uncertainty`` of a stored run, by the metric's field; those that cannot be read are left out."""
    found = {}
    with suppress(AttributeError, KeyError, TypeError):
        for field, ends in data["intervals"].items():
            low, high = (ends["low"], ends["high"]) if ends else (None, None)
            if isinstance(low, int | float) and isinstance(high, int | float) and 0 <= low <= high <= 100:
                found[str(field)] = Interval(low, high)
    return found


def uncertainty(score: Score, behaviour: Behaviour | None = None) -> Uncertainty:
    """The uncertainty of a run's metrics, and of its behaviour's where its answers were run. Time grows with N²."""
    places = {sample.index: place for place, sample in enumerate(score.samples)}
    groups = behaviour.groups if behaviour is not None else ()
    members = [[places[index] for index in group.members if index in places] for group in groups]
    found = matrix_uncertainty(score.hybrid, score.threshold, members or None)
    if found.reason is not None:
        return found
    count = len(score.samples)
    return replace(
        found,
        new_kind=new_kind(identical_groups(score), count),
        new_behaviour=new_kind(members, count) if members else None,
    )


def matrix_uncertainty(
    hybrid: Matrix, threshold: float, alike: Sequence[Sequence[int]] | None = None, *, points: float = AIM_POINTS
) -> Uncertainty:
    """The uncertainty that a matrix of similarities shows; ``alike`` are the rows of each group of behaviour, if there are any.

    A matrix knows no kinds, so there is no chance of a new one.
    """
    size = len(hybrid)
    fields = [*LABELS, *(() if alike is None else ("behaviour_agreement_percent",))]
    if size < FEWEST:
        return Uncertainty(METHOD, LEVEL, size, dict.fromkeys(fields), None, {}, None, None, NOT_ENOUGH)
    views: dict[str, tuple[Matrix, Ends]] = {
        "agreement_percent": (agreeing(hybrid, threshold).astype(np.float64), share_ends),
        "confidence_percent": (hybrid, partial(mean_ends, unseen=unseen_likeness(has_likeness(hybrid).mean()))),
    }
    if alike is not None:
        views["behaviour_agreement_percent"] = (_same_group(alike, size), share_ends)
    intervals: dict[str, Interval | None] = dict.fromkeys(fields)
    needed = {}
    for field, (values, ends) in views.items():
        mean, variance = jackknife(values)
        low, high = (float(end) for end in ends(mean, variance, size))
        found = intervals[field] = _interval(low, high)
        reached = found.half_width <= points
        needed[field] = size if reached else max(size + 1, samples_for(ends, float(mean), float(variance), size, points / 100))
        if field == "confidence_percent":
            intervals["normalized_confidence_percent"] = _interval(_normalized(low), _normalized(high))
    both = max(needed["agreement_percent"], needed["confidence_percent"])
    return Uncertainty(METHOD, LEVEL, size, intervals, both, needed, None, None)


def needed_for(score: Score, field: str, points: float) -> tuple[float | None, int | None]:
    """The half-width of a metric's interval, and how many samples in all would bring it to ± ``points`` (projected).

    Both are ``None`` where there is no interval yet.
    """
    found = matrix_uncertainty(score.hybrid, score.threshold, points=points)
    interval = found.intervals[field]
    if interval is None:
        return None, None
    # Normalized confidence is confidence stretched by two: what it needs is what confidence needs for half the points.
    if field == "normalized_confidence_percent":
        found = matrix_uncertainty(score.hybrid, score.threshold, points=points / 2)
        return interval.half_width, found.samples_needed_by_metric["confidence_percent"]
    return interval.half_width, found.samples_needed_by_metric[field]


def new_kind(groups: Sequence[Sequence[int]], total: int) -> NewKind | None:
    """The chance that the next answer belongs to no group, those in no group being one kind; ``None`` with too few answers."""
    if total < FEWEST:
        return None
    sizes = [len(group) for group in groups]
    once = [*sizes, total - sum(sizes)].count(1)
    most = float(special.betaincinv(once + 1, total - once, (1 + LEVEL) / 2)) if once < total else 1.0
    return NewKind(round(100 * once / total, 1), math.ceil(most * 1000 - _BITS) / 10)


def _same_group(groups: Sequence[Sequence[int]], size: int) -> Matrix:
    """1 where two answers are in one group; an answer in none agrees with nobody."""
    label = np.full(size, -1)
    for number, rows in enumerate(groups):
        label[list(rows)] = number
    same: Matrix = ((label[:, None] == label[None, :]) & (label >= 0)).astype(np.float64)
    return same


def _normalized(mean: float) -> float:
    """Rising with the mean, so that the ends of its interval are those of the normalized one."""
    return min(1.0, max(0.0, (mean - 0.5) / 0.5))


def _interval(low: float, high: float) -> Interval:
    """The ends in percent. Normalized confidence is held at 0, where an interval may shrink to nothing: a tenth is left."""
    lower, upper = math.floor(low * 1000 + _BITS) / 10, math.ceil(high * 1000 - _BITS) / 10
    return Interval(lower, max(upper, round(lower + 0.1, 1)))
