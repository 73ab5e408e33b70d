"""The method that this project replaces, as a baseline: difflib over ``ast.dump`` and over the text, pair by pair."""

from __future__ import annotations

import ast
import random
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations


@dataclass(frozen=True, slots=True)
class OlderTime:
    """What the older method takes for all pairs."""

    seconds: float
    """For all pairs; scaled up when only some were measured."""
    measured: int
    """How many pairs were measured."""
    pairs: int
    """How many pairs there are."""


def time_older_method(codes: Sequence[str], budget_seconds: float) -> OlderTime:
    """Time the pairs in random order until the budget is spent, and scale to all of them.

    Each code is parsed and dumped once, not once for each pair: that favours the older method.
    """
    started = time.perf_counter()
    dumps = [_dump(code) for code in codes]
    dumping = time.perf_counter() - started
    pairs = list(combinations(range(len(codes)), 2))
    random.Random(len(codes)).shuffle(pairs)
    measured, started = 0, time.perf_counter()
    for first, second in pairs:
        older_similarity(codes[first], codes[second], dumps[first], dumps[second])
        measured += 1
        if time.perf_counter() - started > budget_seconds:
            break
    comparing = time.perf_counter() - started
    return OlderTime(dumping + comparing * len(pairs) / measured, measured, len(pairs))


def older_similarity(first: str, second: str, first_dump: str | None, second_dump: str | None) -> float:
    """0.7 × structure + 0.3 × text; a code that does not parse has structure 0."""
    structure = SequenceMatcher(None, first_dump, second_dump).ratio() if first_dump and second_dump else 0.0
    return 0.7 * structure + 0.3 * SequenceMatcher(None, first, second).ratio()


def _dump(code: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the models' strings
        try:
            return ast.dump(ast.parse(code))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
