"""What chance alone would do: the same values dealt anew to two groups, or with other signs. Deterministic.

Few ways are tried all; of many, a fixed number, the same ones each time. What was seen is always among them, which makes the
test exact for values that can be exchanged: it errs in at most 5 % of the cases.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

WAYS = 2_000
"""How many ways are tried at most."""
LEVEL = 0.05
"""How often chance alone may exceed the limit."""

_DIGITS = 9  # equal on paper must be equal here


def deal(first: int, second: int) -> tuple[NDArray[np.float64], bool]:
    """Ways to deal ``first`` + ``second`` values to two groups, a row each with ones for the first; and whether these are all."""
    if math.comb(first + second, first) <= WAYS:
        return _all_deals(first, second), True
    keys = np.random.default_rng(0).random((WAYS - 1, first + second))
    chosen = np.argpartition(keys, first, axis=1)[:, :first]
    ways = np.zeros_like(keys)
    np.put_along_axis(ways, chosen, 1.0, axis=1)
    return ways, False


def flip(count: int) -> tuple[NDArray[np.float64], bool]:
    """Ways to give ``count`` values a sign, a row each of 1 and −1; and whether these are all."""
    if 2**count <= WAYS:
        return np.array(list(product((1.0, -1.0), repeat=count))), True
    return np.random.default_rng(0).choice((1.0, -1.0), (WAYS - 1, count)), False


def limit(ratios: NDArray[np.float64]) -> float:
    """What a ratio must exceed to be beyond chance: at most 5 % of them do. The one that was seen is to be among them."""
    ordered = np.sort(ratios.round(_DIGITS))[::-1]
    return float(ordered[int(LEVEL * len(ordered))])


def p_value(seen: float, ratios: NDArray[np.float64]) -> float:
    """The share of ways that give as much as was seen; at most 5 % exactly when what was seen exceeds the limit."""
    return float(np.mean(ratios.round(_DIGITS) >= round(seen, _DIGITS)))


@cache
def _all_deals(first: int, second: int) -> NDArray[np.float64]:
    ways = np.zeros((math.comb(first + second, first), first + second))
    for row, chosen in enumerate(combinations(range(first + second), first)):
        ways[row, list(chosen)] = 1.0
    ways.flags.writeable = False
    return ways
