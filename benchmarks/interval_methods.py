"""The chosen ways to an interval, and others that were tried: the matrices of many runs in, low and high ends out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evaluator_core.intervals import jackknife, mean_ends, share_ends

Array = NDArray[np.float64]
Method = Callable[[Array], tuple[Array, Array]]

RESAMPLES = 200


def chosen_for_means(matrices: Array) -> tuple[Array, Array]:
    return mean_ends(*jackknife(matrices), matrices.shape[-1])


def chosen_for_shares(matrices: Array) -> tuple[Array, Array]:
    return share_ends(*jackknife(matrices), matrices.shape[-1])


def jackknife_t(matrices: Array) -> tuple[Array, Array]:
    mean, variance = jackknife(matrices)
    half = stats.t.ppf(0.975, matrices.shape[-1] - 1) * np.sqrt(variance)
    return np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)


def jackknife_logit(matrices: Array) -> tuple[Array, Array]:
    mean, variance = jackknife(matrices)
    inside = np.clip(mean, 1e-9, 1 - 1e-9)
    half = stats.t.ppf(0.975, matrices.shape[-1] - 1) * np.sqrt(variance) / (inside * (1 - inside))
    centre = np.log(inside / (1 - inside))
    return 1 / (1 + np.exp(np.clip(half - centre, -50, 50))), 1 / (1 + np.exp(np.clip(-half - centre, -50, 50)))


def bootstrap_of_samples(matrices: Array) -> tuple[Array, Array]:
    """Percentiles over resampled samples; pairs of a sample with itself are left out."""
    size = matrices.shape[-1]
    weights = np.random.default_rng(1).multinomial(size, np.full(size, 1 / size), RESAMPLES).astype(np.float64)
    weights = weights[(weights > 0).sum(axis=1) > 1]
    off = matrices * (1 - np.eye(size))
    sums = ((weights @ off) * weights).sum(axis=2)
    means = sums / (size**2 - np.square(weights).sum(axis=1))
    return np.quantile(means, 0.025, axis=1), np.quantile(means, 0.975, axis=1)


def bootstrap_of_pairs(matrices: Array) -> tuple[Array, Array]:
    """Percentiles over resampled pairs, as if they were independent: what not to do."""
    rows, columns = np.triu_indices(matrices.shape[-1], 1)
    pairs = matrices[:, rows, columns]
    count = pairs.shape[1]
    weights = np.random.default_rng(1).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    means = pairs @ weights.T / count
    return np.quantile(means, 0.025, axis=1), np.quantile(means, 0.975, axis=1)


OTHERS: dict[str, Method] = {
    "jackknife, t": jackknife_t,
    "jackknife, logit": jackknife_logit,
    "bootstrap of samples": bootstrap_of_samples,
    "bootstrap of PAIRS": bootstrap_of_pairs,
}


def pooled_permutation_differs(pooled: Array, first: int, deals: Array) -> bool:
    """Whether dealing out the answers of two runs by their pooled matrix finds the difference significant: what not to do."""
    off = pooled * (1 - np.eye(len(pooled)))
    ways = np.concatenate([(np.arange(len(pooled)) < first).astype(np.float64)[None, :], deals])
    second = len(pooled) - first
    means = ((ways @ off) * ways).sum(axis=1) / (first * (first - 1))
    others = (((1 - ways) @ off) * (1 - ways)).sum(axis=1) / (second * (second - 1))
    differences = np.abs(means - others).round(9)
    return bool(np.mean(differences >= differences[0]) <= 0.05)
