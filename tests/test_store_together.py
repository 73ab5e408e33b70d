"""Many writers at one results folder at once: no row is lost, none is mixed with another."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from evaluator_core.store import SUMMARY, Store
from evaluator_core.summary import row_of
from tests.runs import ALIKE, BUILTIN, LOOP, make_run

WRITERS = 8


def test_eight_processes_lose_nothing(tmp_path: Path) -> None:
    with ProcessPoolExecutor(WRITERS, mp_context=get_context("spawn")) as processes:
        _write_together(processes, tmp_path, each=100)


def test_eight_threads_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(WRITERS) as threads:
        _write_together(threads, tmp_path, each=20)


def _write_together(writers: Executor, folder: Path, each: int) -> None:
    saved = [path for paths in writers.map(partial(save_many, folder, each), range(WRITERS)) for path in paths]
    store = Store(folder)
    summary = store.summary()
    assert len(set(saved)) == WRITERS * each
    assert set(store.names()) == {Path(path).name for path in saved}
    assert (summary.damaged, summary.torn) == ((), "")
    assert sorted(row.saved_file for row in summary.rows) == sorted(saved)
    for row in summary.rows:
        assert row == row_of(store.load(Path(row.saved_file).name), row.saved_file)
    assert {(row.model, row.question) for row in summary.rows} == {
        (_model(writer), _question(writer, number)) for writer in range(WRITERS) for number in range(each)
    }
    assert {entry.name for entry in folder.iterdir()} == {*store.names(), SUMMARY, ".lock"}, "no draft is left"


def save_many(folder: Path, count: int, writer: int) -> list[str]:
    """Save runs one after the other, as one writer; the paths."""
    store = Store.open(folder)
    texts = (LOOP, BUILTIN, ALIKE)[: 2 + writer % 2]
    runs = (
        make_run(texts, model=_model(writer), question=_question(writer, number), created_at=datetime.now().astimezone())
        for number in range(count)
    )
    return [store.save(run).as_posix() for run in runs]


def _model(writer: int) -> str:
    return f"model {writer}"


def _question(writer: int, number: int) -> str:
    return f'Writer {writer} asks, "once more":\n' + f"{number} 🧮\n" * (1 + number % 50)
