"""Is one run more consistent than another, or is it noise? Two runs, or the same prompts under two models or settings.

**Two runs, confidence.** A sample's part in its run is its jackknife pseudo-value φᵢ = U + 2(N−1)/(N−2) · (rᵢ − U): the mean of
these is the confidence U, and their variance over N its jackknife variance (with many samples freed from its bias, see
``_parts``). The difference of the two means is held against its standard error, with one unseen answer in each run as in
``intervals``; and so is every way to deal the N + M samples to two runs anew, or 2,000 of them: the studentized permutation
test. The interval reaches as many standard errors to either side as 5 % of the ways exceed, so that interval, test and
verdict are one: a run is called more consistent exactly when the interval excludes 0. It reaches at least ``LEAST`` standard
errors: where nearly all answers are equal there is next to nothing to deal, and a single odd one would seem significant.

Why not deal out the answers themselves, by the matrix of both runs together? That asks whether both come from one population,
and two models that write different programs never do. On real answers to two prompts that are equally consistent, it called
one of them more consistent in 18 of 100 cases; this does so in 5 to 7, and on one population in 3 to 7.

**Two runs, agreement.** Newcombe's interval: the distances to the ends of both runs' own intervals, added by squares.

**The same prompts twice.** The differences prompt by prompt, by Student's t and by the sign-flip test; the interval is the wider
of the two. It speaks of prompts like these; each counts the same, however many samples it had.

How many samples would do is a projection: enough to find the difference seen, were it the true one, in 80 % of the cases.
Few samples that cannot tell have mostly seen too small a difference, and then the projection is too large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluator_core import permutation
from evaluator_core.cross import common_language
from evaluator_core.intervals import (
    FEWEST,
    has_likeness,
    jackknife,
    pseudo_values,
    share_ends,
    unseen_likeness,
    unseen_variance,
)
from evaluator_core.metrics import agreeing
from evaluator_core.types import Matrix, Score

LEAST = 1.25
"""The fewest standard errors to either side. So N equal answers in both runs leave ± 13 points at N = 10, ± 24 at N = 5."""
FEWEST_PROMPTS = 6
"""Of five differences all have one sign in two of 32 ways: more than 5 %."""
MOST = 1_000
"""Of samples or prompts: where more are needed, no number is named."""

_REACH = float(special.ndtri(1 - permutation.LEVEL / 2))
_POWER = float(special.ndtri(0.8))
_TRUSTED = 10  # samples
_ROUNDED = 0.05  # values come with one decimal; no spread is known better than that


@dataclass(frozen=True, slots=True)
class Difference:
    """The first minus the second in points, with its 95 % interval; the ends are rounded outward to two decimals."""

    points: float
    """What was seen."""
    low: float
    """The lower end."""
    high: float
    """The upper end."""
    p_value: float | None = None
    """How often chance alone gives as much; at most 0.05 where the interval excludes 0. ``None`` for agreement."""

    @property
    def is_real(self) -> bool:
        """Whether the interval excludes 0: the one ground on which something is called more consistent."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, or the same prompts twice, held against each other."""

    confidence: Difference | None
    """``None`` with too few samples or prompts."""
    agreement: Difference | None
    """``None`` with too few samples, when the thresholds differ, and over prompts."""
    needed: int | None
    """Projected: how many samples of each, or prompts, would tell them apart; ``None`` when these do, or beyond ``MOST``."""
    sentence: str
    """What to make of it: a sentence without a full stop, that begins small unless with a name."""
    by_text: bool = False
    """Whether the runs were compared by text alone, for want of a common language with a grammar."""


def compare_runs(a: Score, b: Score, names: tuple[str, str] = ("A", "B")) -> Comparison:
    """Which of two runs is more consistent, by the view that both have. Time grows with N²."""
    by_text = common_language(a, b) is None
    first, second = (a.text, b.text) if by_text else (a.hybrid, b.hybrid)
    few = [f"{name} has {len(matrix)}" for name, matrix in zip(names, (first, second), strict=True) if len(matrix) < FEWEST]
    if few:
        sentence = f"not enough samples to compare: each needs {FEWEST}, and {' and '.join(few)}"
        return Comparison(None, None, None, sentence, by_text)
    confidence, needed = compare_means(first, second)
    agreement = None
    if a.threshold == b.threshold:
        agreement = compare_shares(*(agreeing(matrix, a.threshold).astype(np.float64) for matrix in (first, second)))
    count = f"{len(first)}" if len(first) == len(second) else f"{len(first)} and {len(second)}"
    if confidence.is_real:
        sentence = _verdict(confidence, names)
    elif (first == 1.0).all() and (second == 1.0).all():
        sentence = (
            f"both are perfectly consistent in these {count} samples; up to {confidence.high:.0f} points may still part them"
        )
    elif needed is None:
        sentence = f"these {count} samples cannot tell them apart; {MOST:,} each might not either"
    else:
        sentence = f"these {count} samples cannot tell them apart; about {needed:,} each would"
    return Comparison(confidence, agreement, needed, sentence, by_text)


def compare_over_prompts(
    values_a: Sequence[float | None], values_b: Sequence[float | None], names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """Which of two is more consistent over the same prompts, from their confidence in percent, in the same order of prompts.

    A prompt for which one of them has no number is left out.
    """
    pairs = [(one, other) for one, other in zip(values_a, values_b, strict=True) if one is not None and other is not None]
    count = len(pairs)
    if count < FEWEST_PROMPTS:
        return Comparison(None, None, None, f"not enough prompts to compare: {FEWEST_PROMPTS} are needed, and there are {count}")
    values = np.sort([one - other for one, other in pairs])  # the result must not depend on the order of the prompts
    ways, all_of_them = permutation.flip(count)
    means = np.concatenate([[values.mean()], ways @ values / count])
    spread = np.sqrt(np.maximum(np.square(values).sum() - count * np.square(means), 0.0) / (count - 1))
    errors = np.maximum(spread, _ROUNDED) / math.sqrt(count)
    ratios = np.abs(means) / errors
    among = ratios[1:] if all_of_them else ratios
    mean, error, degrees = float(means[0]), float(errors[0]), count - 1
    reach = max(permutation.limit(among), float(special.stdtrit(degrees, 1 - permutation.LEVEL / 2)))
    p_value = max(permutation.p_value(ratios[0], among), 2 * float(special.stdtr(degrees, -ratios[0])))
    found = _difference(mean, mean - reach * error, mean + reach * error, p_value)
    if found.is_real:
        return Comparison(found, None, None, _verdict(found, names, f" over {count} prompts"))
    needed = math.ceil((_REACH + _POWER) ** 2 * count * error**2 / mean**2) if abs(mean) > 1e-3 else MOST + 1
    if needed > MOST:
        return Comparison(found, None, None, f"these {count} prompts cannot tell them apart; {MOST:,} might not either")
    needed = max(needed, count + 1)
    return Comparison(found, None, needed, f"these {count} prompts cannot tell them apart; about {needed:,} would")


def compare_means(first: Matrix, second: Matrix) -> tuple[Difference, int | None]:
    """The difference of the mean similarities of two runs of four samples or more, and how many of each would tell them apart."""
    if len(first) > len(second):  # the same ways of dealing, whichever run is named first
        found, needed = compare_means(second, first)
        return Difference(0.0 - found.points, 0.0 - found.high, 0.0 - found.low, found.p_value), needed
    parts = [_parts(matrix) for matrix in (first, second)]
    unseen = unseen_likeness(np.concatenate([has_likeness(matrix) for matrix in (first, second)]).mean())
    values = np.concatenate(parts)
    order = np.lexsort((values, values.round(9)))  # the result must not depend on the order of the samples
    ways, all_of_them = permutation.deal(len(first), len(second))
    ways = np.concatenate([(order < len(first)).astype(np.float64)[None, :], ways])
    means, variances = _moments(ways, values[order], len(first), unseen)
    others, other_variances = _moments(1.0 - ways, values[order], len(second), unseen)
    differences, errors = means - others, np.sqrt(variances + other_variances)
    ratios = np.abs(differences) / errors
    among = ratios[1:] if all_of_them else ratios
    points, error = float(differences[0]), float(errors[0])
    reach = max(permutation.limit(among), LEAST)
    p_value = max(permutation.p_value(ratios[0], among), 2 * float(special.ndtr(-ratios[0] * _REACH / LEAST)))
    found = _difference(100 * points, 100 * (points - reach * error), 100 * (points + reach * error), p_value)
    if found.is_real:
        return found, None
    counts = np.arange(len(second) + 1, MOST + 1, dtype=np.float64)
    projected = [part.var(ddof=1) / counts + unseen_variance(part.mean(), counts, unseen) for part in parts]
    enough = np.flatnonzero((_REACH + _POWER) * np.sqrt(projected[0] + projected[1]) <= abs(points))
    return found, int(counts[enough[0]]) if len(enough) else None


def compare_shares(first: Matrix, second: Matrix) -> Difference:
    """The difference of two shares of agreeing pairs, from matrices of zeros and ones of four samples or more."""
    (mean, variance), (other, other_variance) = jackknife(first), jackknife(second)
    low, high = share_ends(mean, variance, len(first))
    other_low, other_high = share_ends(other, other_variance, len(second))
    points = float(mean - other)
    below, above = math.hypot(mean - low, other_high - other), math.hypot(high - mean, other - other_low)
    return _difference(100 * points, 100 * (points - below), 100 * (points + above), None)


def _parts(matrix: Matrix) -> NDArray[np.float64]:
    """Each sample's pseudo-value, drawn towards their mean by as much as the jackknife variance is known to be too large.

    With δ for the variance that rows do not explain, it is too large by δ(4/(N(N−2)) − 2/(N(N−1))). With few samples δ is not
    known well enough, and that excess just makes up for what few samples hide: so 1 − 10/N of it is taken away, from N = 11 on.
    """
    values, size = pseudo_values(matrix), len(matrix)
    mean, variance = values.mean(), values.var(ddof=1) / size
    if size <= _TRUSTED or variance < 1e-12:
        return values
    effects = (values - mean) / 2.0
    unexplained = matrix - mean - effects[:, None] - effects[None, :]
    squares = np.square(unexplained).sum() - np.square(np.diagonal(unexplained)).sum()
    excess = squares / (size * (size - 3)) * (4.0 / (size * (size - 2)) - 2.0 / (size * (size - 1)))
    kept = max(0.25, 1.0 - (1.0 - _TRUSTED / size) * excess / variance)
    return np.asarray(mean + math.sqrt(kept) * (values - mean))


def _moments(
    ways: NDArray[np.float64], values: NDArray[np.float64], size: int, unseen: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each way the mean of the values that it picks, and the variance of that mean with one unseen answer."""
    means = ways @ values / size
    squares = np.maximum(ways @ np.square(values) - size * np.square(means), 0.0)
    return means, squares / (size * (size - 1)) + unseen_variance(means, size, unseen)


def _difference(points: float, low: float, high: float, p_value: float | None) -> Difference:
    """Rounded outward: an end that rounds to 0 does not exclude it."""
    low, high = math.floor(low * 100 + 1e-6) / 100, math.ceil(high * 100 - 1e-6) / 100
    return Difference(round(points, 1) + 0.0, max(-100.0, low), min(100.0, high) + 0.0, p_value)


def _verdict(found: Difference, names: tuple[str, str], where: str = "") -> str:
    better, worse = names if found.points > 0 else names[::-1]
    points, ends = abs(found.points), sorted((abs(found.low), abs(found.high)))
    digits = 0 if ends[0] >= 1 else 1 if ends[0] >= 0.1 else 2  # “0 to 7” would contradict the verdict
    interval = f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"
    return f"{better} is more consistent than {worse}{where} (difference {points:.{digits}f} points, 95 % interval {interval})"
