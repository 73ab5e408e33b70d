"""The results folder: names, rows, what may be read from outside, and what happens when it cannot be used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from evaluator_core import store as store_module
from evaluator_core.errors import InvalidInput, ResultNotFound, StoreUnavailable
from evaluator_core.store import SUMMARY, Store
from evaluator_core.summary import row_of
from tests.runs import BUILTIN, CREATED_AT, LOOP, make_run

NAME = "eval_2025-09-18_11-20-03.json"
ROOT = Path(__file__).parent.parent


def test_a_run_is_one_file_and_one_row(tmp_path: Path) -> None:
    store, run = Store(tmp_path / "new" / "results"), make_run()
    path = store.save(run)
    assert path == tmp_path / "new" / "results" / NAME
    assert store.names() == (NAME,)
    assert store.summary().rows == (row_of(run, path.as_posix()),)
    assert _entries(store.folder) == [NAME, SUMMARY]


def test_a_relative_folder_gives_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(Path("results"))
    assert store.save(make_run()).as_posix() == f"results/{NAME}"
    assert [row.saved_file for row in store.summary().rows] == [f"results/{NAME}"]


def test_others_may_read_the_files(tmp_path: Path) -> None:
    path = Store(tmp_path).save(make_run())
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_folder_that_is_not_there_holds_nothing_and_is_not_made_by_reading(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "results")
    assert store.names() == ()
    assert store.summary().rows == ()
    assert not store.folder.exists()


def test_a_run_without_numbers_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        Store(tmp_path / "results").save(make_run([LOOP]))
    assert not (tmp_path / "results").exists()


def test_runs_of_the_same_second_are_numbered(tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = [make_run(question=f"question {number}") for number in range(5)]
    names = [store.save(run).name for run in runs]
    stem = NAME.removesuffix(".json")
    assert names == [NAME, f"{stem}-2.json", f"{stem}-3.json", f"{stem}-4.json", f"{stem}-5.json"]
    assert store.summary().rows == tuple(row_of(run, (tmp_path / name).as_posix()) for run, name in zip(runs, names, strict=True))
    assert [store.load(name).question for name in names] == [run.question for run in runs]


def test_names_are_listed_oldest_first(tmp_path: Path) -> None:
    store = Store(tmp_path)
    seconds = [0] * 12 + [1, 2, 2]
    saved = [store.save(make_run(created_at=CREATED_AT + timedelta(seconds=second))).name for second in seconds]
    assert store.names() == tuple(saved)


def test_a_name_that_is_taken_by_anything_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    (tmp_path / "eval_2025-09-18_11-20-03-2.json").symlink_to(tmp_path / "nowhere")
    assert Store(tmp_path).save(make_run()).name == "eval_2025-09-18_11-20-03-3.json"


OUTSIDE_NAMES = [
    "",
    ".",
    "..",
    "../x",
    f"../{NAME}",
    f"..\\{NAME}",
    f"%2e%2e/{NAME}",
    f"%2e%2e%2f{NAME}",
    f"./{NAME}",
    f"/{NAME}",
    f"//{NAME}",
    "/etc/passwd",
    "C:\\Windows\\win.ini",
    f"{NAME}/..",
    f"{NAME}/../../{NAME}",
    f"{NAME}\0",
    f"{NAME}\0.json",
    f"\0{NAME}",
    f"{NAME}\n",
    f" {NAME}",
    f"{NAME} ",
    "eval_٢٠٢٥-09-18_11-20-03.json",
    "eval_２０２５-09-18_11-20-03.json",
    "eval_2025-09-18_11-20-03-0.json",
    "eval_2025-09-18_11-20-03-..json",
    "EVAL_2025-09-18_11-20-03.JSON",
    "eval_*.json",
    "x" * 100_000,
    "\ud800",
    SUMMARY,
    ".lock",
]


@pytest.mark.parametrize("name", OUTSIDE_NAMES, ids=[ascii(name[:40]) for name in OUTSIDE_NAMES])
def test_only_the_name_of_a_result_is_a_name(name: str, tmp_path: Path) -> None:
    outer, inner = Store(tmp_path), Store(tmp_path / "results")
    outer.save(make_run(question="secret"))
    inner.save(make_run())
    with pytest.raises(ResultNotFound) as caught:
        inner.load(name)
    assert len(str(caught.value)) < 600
    assert str(caught.value).isprintable()


def test_a_link_that_leads_outside_is_not_followed(tmp_path: Path) -> None:
    secret = Store(tmp_path / "elsewhere").save(make_run(question="secret"))
    store = Store(tmp_path / "results")
    store.save(make_run(question="own"))
    link = store.folder / "eval_2025-01-01_00-00-00.json"
    link.symlink_to(secret)
    with pytest.raises(ResultNotFound):
        store.load(link.name)
    assert store.names() == (NAME,)
    assert [row.question for row in Store.open(store.folder).summary().rows] == ["own"]


def test_a_folder_with_the_name_of_a_result_is_none(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    store = Store.open(tmp_path)
    with pytest.raises(ResultNotFound):
        store.load(NAME)
    assert store.names() == ()


def test_a_folder_that_cannot_be_made_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "results"
    with pytest.raises(StoreUnavailable, match=re.escape(str(folder))) as caught:
        Store(folder).save(make_run())
    assert "EVALUATOR_RESULTS_DIR" in str(caught.value)


def test_a_file_where_the_folder_should_be_is_named_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.write_text("in the way")
    store = Store.open(folder)
    with pytest.raises(StoreUnavailable, match=re.escape(str(folder))) as caught:
        store.save(make_run())
    assert "EVALUATOR_RESULTS_DIR" in str(caught.value)
    with pytest.raises(StoreUnavailable, match=re.escape(str(folder))):
        store.names()
    with pytest.raises(StoreUnavailable, match=re.escape(str(folder))):
        store.summary()


_HOLD_LOCK = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_that_another_process_holds_is_waited_for_and_then_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.save(make_run())
    monkeypatch.setattr(store_module, "_LOCK_SECONDS", 0.2)
    command = [sys.executable, "-c", _HOLD_LOCK, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreUnavailable, match=re.escape(str(tmp_path))):
            store.save(make_run())
        with pytest.raises(StoreUnavailable):
            Store.open(tmp_path)
        assert len(store.summary().rows) == 1, "reading needs no lock"
        holder.communicate()
    assert _entries(tmp_path) == [NAME, SUMMARY], "nothing is left of the run that could not be saved"
    store.save(make_run())
    assert len(store.summary().rows) == 2


_FULL_DISK = """
import resource, sys
from pathlib import Path
from evaluator_core.errors import StoreUnavailable
from evaluator_core.store import Store
from tests.runs import make_run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    Store(Path(sys.argv[1])).save(make_run(question="does not fit"))
except StoreUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize("step", ["the run's file", "the run's row"])
def test_a_disk_that_fills_up_costs_no_other_row(step: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    before = make_run([LOOP, BUILTIN], question="x" * 5000)
    store.save(before)
    room = 500 if step == "the run's file" else (tmp_path / SUMMARY).stat().st_size + 30

    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _FULL_DISK, str(tmp_path), str(room)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert str(tmp_path) in ended.stdout
    assert [name for name in _entries(tmp_path) if name.startswith(".")] == [], "no draft is left"

    after = make_run(question="fits again")
    store.save(after)
    summary = store.summary()
    assert [row.question for row in summary.rows] == [before.question, after.question]
    assert (summary.damaged, summary.torn) == ((), "")


def _entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.name != ".lock")
