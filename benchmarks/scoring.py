"""Time and memory of ``score()`` against the older method and against bare RapidFuzz."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Indel

from benchmarks.memory import Memory, functions_of, measure_memory
from benchmarks.older_method import OlderTime, time_older_method
from evaluator_core import score
from evaluator_core.languages import find_language
from evaluator_core.syntax import read_syntax

REPETITIONS = {10: 30, 100: 15, 1000: 3, 2000: 1}
OLDER_SECONDS = 5.0
COMPARED_UP_TO = 1000


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    source: str
    """``"real"`` or ``"generated"``."""
    count: int
    """How many functions were scored."""
    length: float
    """Their mean length in characters."""
    seconds: float
    """Best time of ``score()``."""
    floor_seconds: float | None
    """Best time of bare RapidFuzz over ready-made texts and kinds; ``None`` where it was not measured."""
    memory: Memory
    """Of a fresh process that scores once."""
    older: OlderTime | None
    """The older method; ``None`` where it was not measured."""


def main() -> None:
    print(f"Scoring, on {os.cpu_count()} cores; seconds are the best of several repetitions, warm")
    print("older: difflib over ast.dump and text, for all pairs; * scaled from a random sample of the pairs")
    print("floor: bare rapidfuzz cdist over ready-made texts and kinds; peak and growth: memory of a fresh process\n")
    print(f"{'functions':<10}{'N':>5}{'chars':>7}{'score s':>10}{'older s':>12}{'older/score':>12}", end="")
    print(f"{'floor s':>10}{'score/floor':>12}{'peak MB':>9}{'growth MB':>10}  older measured on")
    rows = [row for source in ("generated", "real") for count in REPETITIONS if (row := measure(source, count))]
    if not any(row.source == "real" for row in rows):
        print("\n../shared/data is missing: no real functions were measured, the aims are held against generated ones")
    print_aims(rows)


def measure(source: str, count: int) -> Row | None:
    """Measure one line and print it; ``None`` when there are not enough functions."""
    functions = functions_of(source, count)
    if functions is None:
        return None
    memory = measure_memory(source, count)
    actions = [lambda: score(functions), *([floor_of(functions)] if count <= COMPARED_UP_TO else [])]
    seconds, *floor = best_times(REPETITIONS[count], actions)
    older = time_older_method(functions, OLDER_SECONDS) if count <= COMPARED_UP_TO else None
    length = sum(map(len, functions)) / count
    row = Row(source, count, length, seconds, floor[0] if floor else None, memory, older)
    print_row(row)
    return row


def print_row(row: Row) -> None:
    older, floor = row.older, row.floor_seconds
    cells = [f"{row.source:<10}{row.count:>5}{row.length:>7.0f}{row.seconds:>10.4f}"]
    if older:
        scaled = "*" if older.measured < older.pairs else " "
        cells.append(f"{older.seconds:>11.2f}{scaled}{older.seconds / row.seconds:>12.0f}")
    else:
        cells.append(f"{'–':>11} {'–':>12}")
    cells.append(f"{floor:>10.4f}{row.seconds / floor:>12.2f}" if floor else f"{'–':>10}{'–':>12}")
    cells.append(f"{row.memory.peak:>9.0f}{row.memory.growth:>10.0f}")
    cells.append(f"  {older.measured:,} of {older.pairs:,} pairs" if older else "  –")
    print("".join(cells), flush=True)


def floor_of(functions: list[str]) -> Callable[[], object]:
    """What no scoring by these measures can be faster than: the comparisons alone, over strings that are ready."""
    language = find_language("python")
    assert language is not None
    texts = [sample.code for sample in score(functions).samples]
    kinds = [syntax.kinds if (syntax := read_syntax(text, language)) else "" for text in texts]

    def compare() -> None:
        for strings in (texts, kinds):
            process.cdist(strings, strings, scorer=Indel.normalized_similarity, dtype=np.float64, workers=-1)

    return compare


def best_times(repetitions: int, actions: Sequence[Callable[[], object]]) -> list[float]:
    """The best time of each action. They take turns, so that a slow moment of the machine meets all of them."""
    times: list[list[float]] = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(repetitions):
        for place, action in enumerate(actions):
            started = time.perf_counter()
            action()
            times[place].append(time.perf_counter() - started)
    return [min(taken) for taken in times]


def print_aims(rows: list[Row]) -> None:
    """Say of each aim whether it is reached. The ratios are aimed at for real functions, the rest for any."""
    source = rows[-1].source  # the real ones come last, where there are some
    print("\nAims")
    for row in rows:
        if row.count == 100 and row.source == source and row.older and row.floor_seconds:
            ratio, share = row.older.seconds / row.seconds, row.seconds / row.floor_seconds
            _print_aim(row, "at least 300 times faster than the older method", ratio >= 300, f"{ratio:.0f} times")
            _print_aim(row, "at most 3 times the floor", share <= 3, f"{share:.2f} times")
        if row.count == 1000:
            _print_aim(row, "under 5 s", row.seconds < 5, f"{row.seconds:.2f} s")
            _print_aim(row, "under 300 MB", row.memory.peak < 300, f"{row.memory.peak:.0f} MB")
        if row.count == 2000:
            _print_aim(row, "works", True, f"{row.seconds:.2f} s, {row.memory.peak:.0f} MB")


def _print_aim(row: Row, aim: str, reached: bool, figure: str) -> None:
    print(f"  {'reached' if reached else 'MISSED ':<8} N={row.count:<5} {row.source} functions: {aim}: {figure}")
