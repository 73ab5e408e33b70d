"""What a crash leaves in the results folder, and how opening the folder puts it right."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from evaluator_core.run_json import format_run
from evaluator_core.store import SUMMARY, Repair, Store
from evaluator_core.summary import HEADER, row_of
from tests.runs import BUILTIN, LOOP, detailed_run, make_run

ROOT = Path(__file__).parent.parent

_CRASH = """
import os, signal, sys
from pathlib import Path
from evaluator_core.store import Store
from evaluator_core.summary_file import SummaryFile
from tests.runs import detailed_run
SummaryFile.append = lambda file, row: os.kill(os.getpid(), signal.SIGKILL)
Store(Path(sys.argv[1])).save(detailed_run())
"""


def test_a_process_killed_between_file_and_row_loses_neither(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run([sys.executable, "-c", _CRASH, str(tmp_path)], env=environment, check=False)
    assert ended.returncode == -signal.SIGKILL
    store = Store(tmp_path)
    (name,) = store.names()
    assert store.summary().rows == ()

    with caplog.at_level(logging.WARNING):
        opened = Store.open(tmp_path)
    row = row_of(detailed_run(), (tmp_path / name).as_posix())
    assert opened.summary().rows == (row,)
    assert "1 rows" in caplog.text
    table = pd.read_csv(tmp_path / SUMMARY)
    assert list(table.confidence_percent) == [row.confidence_percent]

    content = (tmp_path / SUMMARY).read_bytes()
    assert Store(tmp_path).repair() == Repair()
    assert (tmp_path / SUMMARY).read_bytes() == content


@pytest.mark.parametrize("folder", ["results", "my results, all", "runs.json"])
def test_a_summary_cut_at_any_byte_is_whole_after_a_repair(folder: str, tmp_path: Path) -> None:
    results = tmp_path / folder
    store = Store(results)
    for question in ("one", "two,\nwith 🧮 lines", 'three "🧮" of\n\nmany, many\r\nlines 👩‍👩‍👧\n'):
        store.save(make_run([LOOP, BUILTIN], question=question, model="a, b"))
    path = results / SUMMARY
    whole, rows = path.read_bytes(), store.summary().rows
    starts = [match.start() for match in re.finditer(rb"^2025-09-18_", whole, re.MULTILINE)]

    failed = {}
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        intact = [row for row, end in zip(rows, [*starts[1:], len(whole)], strict=True) if end <= size]
        read = list(store.summary().rows)
        if read[: len(intact)] != intact or len(read) > len(intact) + 1:
            failed[size] = f"before opening: {read}"
            continue
        store.repair()
        summary = store.summary()
        if set(summary.rows) != set(rows) or len(summary.rows) != len(rows):
            failed[size] = f"rows after opening: {summary.rows}"
        elif summary.damaged or summary.torn:
            failed[size] = f"still damaged: {summary.damaged or summary.torn}"
        elif not path.read_bytes().startswith(HEADER.encode()):
            failed[size] = "no header"
        elif not path.read_bytes().endswith(b"\n"):
            failed[size] = "no line end"
    shown = "\n".join(f"at byte {size} of {len(whole)}: {reason:.160}" for size, reason in list(failed.items())[-12:])
    assert not list(failed), f"{len(failed)} cuts fail, the last of them:\n{shown}"


def test_a_row_can_follow_a_torn_one_before_any_repair(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(make_run(question="one"))
    path = tmp_path / SUMMARY
    size = path.stat().st_size
    store.save(make_run(question="two\nlines"))
    os.truncate(path, size + 40)
    store.save(make_run(question="three"))
    assert [row.question for row in store.summary().rows] == ["one", "three"]
    assert sorted(row.question for row in Store.open(tmp_path).summary().rows) == ["one", "three", "two\nlines"]


def test_a_lost_summary_is_made_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for number in range(12):
        store.save(make_run(question=f"question {number}"))
    rows = store.summary().rows
    (tmp_path / SUMMARY).unlink()
    summary = Store.open(tmp_path).summary()
    assert set(summary.rows) == set(rows)
    assert summary.damaged == ()
    assert summary.rows == rows, "in the order in which the runs were saved"


def test_rows_written_from_another_folder_or_system_are_known(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.save(make_run())
    for saved_file in (f"results/{path.name}", f"C:\\results\\{path.name}", path.name, f"/elsewhere/{path.name}"):
        row = (tmp_path / SUMMARY).read_text().splitlines()[1].rsplit(",", 1)[0]
        (tmp_path / SUMMARY).write_text(f'{HEADER}{row},"{saved_file}"\n')
        assert store.repair() == Repair(), saved_file


UNREADABLE = {
    "empty": b"",
    "foreign": b'{"name": "package"}',
    "a list": b"[1, 2]",
    "deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe\x00",
    "cut off": "".join(format_run(make_run())).encode()[:-40],
    "without numbers": "".join(format_run(make_run([LOOP]))).encode(),
    "a similarity too large": "".join(format_run(make_run()))
    .replace('"text_similarity": ', '"text_similarity": 1' + "0" * 400 + ', "was": ', 1)
    .encode(),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_file_that_is_no_run_is_named_and_passed_over(content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    path = store.save(make_run())
    (tmp_path / SUMMARY).unlink()
    bad = "eval_2024-12-31_23-59-59.json"
    (tmp_path / bad).write_bytes(content)

    repair = store.repair()
    assert repair.rows_added == (path.name,)
    (reason,) = repair.unreadable
    assert bad in reason
    assert (tmp_path / bad).read_bytes() == content, "nothing is thrown away"
    assert [row.saved_file for row in store.summary().rows] == [path.as_posix()]
    with caplog.at_level(logging.WARNING):
        Store.open(tmp_path)
    assert bad in caplog.text


def test_a_damaged_line_is_named_and_left_where_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(tmp_path)
    store.save(make_run())
    with (tmp_path / SUMMARY).open("a") as file:
        file.write("gar\x1b[2Jbage\n")
    content = (tmp_path / SUMMARY).read_bytes()
    with caplog.at_level(logging.WARNING):
        assert len(Store.open(tmp_path).summary().rows) == 1
    assert "1 damaged lines" in caplog.text
    assert "'gar\\x1b[2Jbage'" in caplog.text
    assert (tmp_path / SUMMARY).read_bytes() == content


def test_other_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    Store(tmp_path).save(make_run())
    others = ["notes.txt", "eval_.json", "eval_2025-09-18.json", "eval_2025-09-18_11-20-03.json.bak", ".draft-notes.txt"]
    for name in others:
        (tmp_path / name).write_text("{}")
        os.utime(tmp_path / name, (0, 0))
    assert Store(tmp_path).repair() == Repair()
    assert [(tmp_path / name).read_text() for name in others] == ["{}"] * len(others)


def test_drafts_older_than_an_hour_are_removed_and_younger_ones_kept(tmp_path: Path) -> None:
    Store(tmp_path).save(make_run())
    now = time.time()
    ages = {
        ".draft-old.json": 3700,
        ".draft-ancient.json": 1e8,
        ".draft-young.json": 3500,
        ".draft-new.json": 0,
    }
    for name, age in ages.items():
        (tmp_path / name).write_text('{"schema_version": 1')
        os.utime(tmp_path / name, (now - age, now - age))
    store = Store.open(tmp_path)
    assert sorted(path.name for path in tmp_path.glob(".draft-*")) == [".draft-new.json", ".draft-young.json"]
    assert len(store.summary().rows) == 1
