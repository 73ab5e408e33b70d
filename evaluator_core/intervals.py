"""The mean of all pairs of N samples, and how far it may be from the truth. Arrays in, arrays out, all within [0, 1].

The metrics are U-statistics of order two: the mean U of a similarity h over all pairs i < j of N independent samples. The truth
is the mean of h over two independent draws. The N(N−1)/2 pairs share their samples and are far from independent: everything
here is built from the N row means, one for each *sample*.

Variance: the delete-one jackknife. Leaving sample i out moves the mean by −2(rᵢ − U)/(N−2), where rᵢ is the mean of its pairs,
hence ``v = 4 (N−1) / (N (N−2)²) · Σ (rᵢ − U)²``. It is biased upward (Efron and Stein), by about the variance of the second
order; yet it is 0 where all rows are alike, however few they are. There is a cure for each kind of metric:

**Shares of pairs** (h is 0 or 1): Wilson's score interval, with U(1−U)/v for the number of observations. For such an h the
variance lies between 2U(1−U)/(N(N−1)) (the rows say nothing) and 2U(1−U)/N (Hoeffding's bound), so that number is held between
N/2 and N(N−1)/2. Where all pairs agree, the lower end is exact: a kind of share p fills N samples with chance p^N, and the truth
is then at least p². Where none agrees, the upper end is: a kind of share p comes less than twice with chance
(1−p)^N + N p (1−p)^(N−1), and the truth is p² when all else is scattered, which is what hides longest.

**Means of graded similarities**: the jackknife on the arcsine scale, with one imagined answer more. It is as like the others
as two different programs are, ``UNSEEN`` give or take ``UNSEEN_SPREAD``. It adds 4((U − UNSEEN)² + UNSEEN_SPREAD²)/(N+1)² to the
variance, which is the jackknife's term for such a row among N alike, and one degree of freedom to Student's t. So N equal
answers give no interval of width zero: a kind that is one answer in twenty stays unseen in ten samples 60 % of the time.

Assumption: the samples are independent draws of one population. Limits: the intervals are approximate and were chosen by their
measured coverage (``python -m benchmarks statistics``), which holds on average over prompts and not for each of them; a rare
kind of answer that was not seen and is much less like the others than ``UNSEEN`` lies outside of what they allow for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special  # scipy.stats knows the same and takes a second to load

Array = NDArray[np.float64]
Ends = Callable[[Array, Array, Array | int], tuple[Array, Array]]
"""Mean, jackknife variance and number of samples → the ends of the interval."""

LEVEL = 0.95
FEWEST = 4
"""Fewer samples have no interval: of three, leaving one out leaves a single pair."""
MOST = 4_000
"""Where projections end: no metric needs more for ± 5 points."""
UNSEEN = 0.6
"""How like the others an answer is whose kind was not seen: two real answers of different syntax to one prompt have 0.61."""
UNSEEN_SPREAD = 0.1
"""How far it may be from that, as a standard deviation: so that no interval is a point."""

_TAIL = (1.0 - LEVEL) / 2.0
_NORMAL = float(special.ndtri(1.0 - _TAIL))
_EXACT = 1e-12  # a mean of ones may miss 1.0 in the last bit


def jackknife(values: Array) -> tuple[Array, Array]:
    """The mean of all pairs and its delete-one jackknife variance, over the last two axes of N×N values, N ≥ 3."""
    rows, size = row_means(values), values.shape[-1]
    mean = rows.mean(axis=-1)
    squares = np.square(rows - mean[..., None]).sum(axis=-1)
    return np.clip(mean, 0.0, 1.0), 4.0 * (size - 1) / (size * (size - 2) ** 2) * squares


def pseudo_values(values: Array) -> Array:
    """Each sample's part in the mean of all pairs: N times the mean less N−1 times the mean without it. They may leave [0, 1]."""
    rows, size = row_means(values), values.shape[-1]
    mean = rows.mean(axis=-1, keepdims=True)
    return np.asarray(mean + 2.0 * (size - 1) / (size - 2) * (rows - mean))


def row_means(values: Array) -> Array:
    """Each sample's mean similarity to the others; the diagonal is not looked at."""
    diagonal = np.diagonal(values, axis1=-2, axis2=-1)
    return np.asarray((values.sum(axis=-1) - diagonal) / (values.shape[-1] - 1))


def share_ends(mean: Array, variance: Array, size: Array | int) -> tuple[Array, Array]:
    """The interval's ends for a share of pairs, from its jackknife variance with ``size`` ≥ 4 samples."""
    spread = mean * (1.0 - mean)
    effective = spread / np.maximum(variance, 1e-300)
    effective = np.clip(effective, size / 2.0, size * (size - 1.0) / 2.0)
    shift = _NORMAL**2 / effective
    centre = (mean + shift / 2.0) / (1.0 + shift)
    half = np.sqrt(_NORMAL**2 * spread / effective + shift**2 / 4.0) / (1.0 + shift)
    low, high = centre - half, centre + half
    low = np.where(mean > 1.0 - _EXACT, _TAIL ** (2.0 / size), low)
    high = np.where(mean < _EXACT, np.square(special.betaincinv(2.0, size - 1.0, 1.0 - _TAIL)), high)
    return np.clip(np.minimum(low, mean), 0.0, 1.0), np.clip(np.maximum(high, mean), 0.0, 1.0)


def mean_ends(mean: Array, variance: Array, size: Array | int, unseen: Array | float = UNSEEN) -> tuple[Array, Array]:
    """The interval's ends for a mean of similarities, from its jackknife variance with ``size`` ≥ 4 samples."""
    variance = variance + unseen_variance(mean, size, unseen)
    shrunk = (size * mean + unseen) / (size + 1.0)  # inside (0, 1), where the scale has a slope
    centre = np.arcsin(np.sqrt(shrunk))
    half = special.stdtrit(size, 1.0 - _TAIL) * np.sqrt(variance) / (2.0 * np.sqrt(shrunk * (1.0 - shrunk)))
    low = np.square(np.sin(np.clip(centre - half, 0.0, np.pi / 2)))
    high = np.square(np.sin(np.clip(centre + half, 0.0, np.pi / 2)))
    return np.minimum(low, mean), np.maximum(high, mean)


def unseen_variance(mean: Array | float, size: Array | int, unseen: Array | float = UNSEEN) -> Array:
    """What one unseen answer adds to the variance of a mean of similarities."""
    added: Array = 4.0 * (np.square(mean - unseen) + UNSEEN_SPREAD**2) / np.square(size + 1.0)
    return added


def has_likeness(values: Array) -> NDArray[np.bool_]:
    """For each row whether it is like any other: an answer without code never is."""
    itself = np.diagonal(values, axis1=-2, axis2=-1) != 0.0
    return np.asarray(np.count_nonzero(values, axis=-1) > itself, dtype=np.bool_)


def unseen_likeness(with_code: Array | float) -> Array:
    """``UNSEEN`` where only this share of the answers holds code: those without are like no answer, whatever it is."""
    return np.asarray(np.maximum(UNSEEN * with_code, UNSEEN_SPREAD), dtype=np.float64)


def samples_for(ends: Ends, mean: float, variance: float, size: int, half_width: float) -> int:
    """How many samples in all would make half of the interval at most ``half_width``: a projection, not a promise.

    It takes mean and spread as they are in the ``size`` samples seen, and lets the variance shrink with the number of samples.
    At most ``MOST``.
    """
    sizes = np.arange(FEWEST, MOST + 1, dtype=np.float64)
    low, high = ends(np.full_like(sizes, mean), variance * size / sizes, sizes)
    wide = np.flatnonzero((high - low) / 2.0 > half_width)
    return int(sizes[min(wide[-1] + 1, len(sizes) - 1)]) if len(wide) else FEWEST
