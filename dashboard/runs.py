"""Stored runs for the pages, read once as long as their files do not change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from heapq import nlargest
from pathlib import Path

import pandas as pd

from dashboard.runtime import store
from dashboard.words import one_line
from evaluator_core.errors import EvaluatorError
from evaluator_core.store import SUMMARY, Store, StoredFacts
from evaluator_core.summary import COLUMNS, Summary, SummaryRow
from evaluator_core.types import Run

Stamp = tuple[int, int]
"""Change time and size of a file: what tells one content from another."""


def load_run(name: str) -> Run:
    """A stored run by its file name."""
    path = store().path_of(name)
    return _load(store().folder, name, _stamp(path))


def read_summary() -> Summary:
    """All rows of the summary."""
    return _summary(store().folder, _stamp(store().folder / SUMMARY))


def summary_frame() -> pd.DataFrame:
    """The rows as a table, newest first, with the time as a time, the result's file name, and what a line of the trends shows."""
    return _frame(store().folder, _stamp(store().folder / SUMMARY)).copy(deep=False)


def stored_facts(names: Iterable[str]) -> dict[str, StoredFacts]:
    """What the files of these runs tell beyond their rows, by the name of the file; those that cannot be read are left out."""
    found = {}
    for name in names:
        with suppress(EvaluatorError):
            found[name] = _facts(store().folder, name, _stamp(store().path_of(name)))
    return found


def newest_rows(count: int) -> list[SummaryRow]:
    """The rows of the last runs, newest first."""
    return nlargest(count, read_summary().rows, key=lambda row: row.timestamp)


def earlier_run(run: Run) -> SummaryRow | None:
    """The last run before this one, of the same prompt and model."""
    rows = [
        row
        for row in read_summary().rows
        if row.model == run.model and row.question == run.question and row.timestamp < run.timestamp
    ]
    return max(rows, key=lambda row: row.timestamp, default=None)


def _stamp(path: Path) -> Stamp:
    try:
        state = path.stat()
    except OSError:
        return (0, 0)
    return (state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _load(folder: Path, name: str, stamp: Stamp) -> Run:
    return Store(folder).load(name)


@lru_cache(maxsize=4096)
def _facts(folder: Path, name: str, stamp: Stamp) -> StoredFacts:
    return Store(folder).facts(name)


@lru_cache(maxsize=2)
def _summary(folder: Path, stamp: Stamp) -> Summary:
    return Store(folder).summary()


@lru_cache(maxsize=2)
def _frame(folder: Path, stamp: Stamp) -> pd.DataFrame:
    rows = _summary(folder, stamp).rows
    frame = pd.DataFrame([[getattr(row, column) for column in COLUMNS] for row in rows], columns=list(COLUMNS))
    frame["time"] = pd.to_datetime(frame["timestamp"], format="%Y-%m-%d_%H-%M-%S", errors="coerce")
    frame["name"] = [row.file_name for row in rows]
    frame["series"] = series_names(list(zip(frame["model"], frame["question"], strict=True)))
    return frame.sort_values("time", ascending=False, kind="stable").reset_index(drop=True)


def series_names(asked: list[tuple[str, str]]) -> list[str]:
    """What the line of each run is called: its model and the beginning of its prompt, numbered where two of them begin alike."""
    names: dict[tuple[str, str], str] = {}
    taken: Counter[str] = Counter()
    for model, question in dict.fromkeys(asked):
        name = f"{one_line(model, 40)} · {one_line(question, 60)}"
        taken[name] += 1
        names[model, question] = name if taken[name] == 1 else f"{name} ({taken[name]})"
    return [names[pair] for pair in asked]
