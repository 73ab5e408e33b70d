"""The results folder: one JSON file per run, and ``summary.csv`` with a row for each. Nothing else touches it.

A run is saved in two steps under one lock: its JSON file gets its name, then its row is appended. A crash in between
leaves a whole JSON file without a row, or a row cut short; ``repair`` puts both right.
"""

from __future__ import annotations

import logging
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from evaluator_core.errors import InvalidInput, ResultDamaged, ResultNotFound, StoreUnavailable
from evaluator_core.journal import Journal, Unfinished, check_run_id, is_running, new_run_id, read_journal, run_ids
from evaluator_core.line_file import append_line
from evaluator_core.plan import Plan
from evaluator_core.run_json import format_run, parse_run
from evaluator_core.summary import HEADER, Summary, format_row, parse_summary, row_of
from evaluator_core.types import Run

SUMMARY = "summary.csv"

_log = logging.getLogger(__name__)

_NAME = re.compile(r"eval_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-[1-9]\d{0,5})?\.json", re.ASCII)
_LOCK = ".lock"
_LOCK_SECONDS = 60.0
_DRAFT = ".draft-"
_UNFINISHED_RUNS = "unfinished"
_ABANDONED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Repair:
    """What a crash had left, and what was done about it."""

    rows_added: tuple[str, ...] = ()
    """Names of whole JSON files that had no row."""
    unreadable: tuple[str, ...] = ()
    """JSON files that cannot be read as a run, each with the reason."""


def is_result_name(name: str) -> bool:
    """Whether a result file may have that name; no other name ever leads to a file."""
    return _NAME.fullmatch(name) is not None


def _age(name: str) -> tuple[str, int]:
    """A key that sorts result names by time, and those of one second by their number."""
    time_part, number = name.removesuffix(".json")[: len("eval_2025-09-18_11-20-03")], name.removesuffix(".json")[25:]
    return time_part, int(number or 1)


class Store:
    """A results folder. Any number of threads, processes and containers may use it at once."""

    def __init__(self, folder: Path) -> None:
        """Nothing is read or made yet: the folder appears with the first run."""
        self.folder = folder
        self._unfinished = folder / _UNFINISHED_RUNS

    def ensure_writable(self) -> None:
        """Make the folder if there is none, and make sure that this user can write into it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise self._unwritable(error) from error

    def save(self, run: Run) -> Path:
        """Write a finished run's file and row; its path, relative when the folder's is."""
        if run.score.confidence_percent is None:
            raise InvalidInput("a run with fewer than two answers has no numbers, and is not saved")
        draft = self._write_draft(run)
        try:
            with self._locked():
                path = self._free_path(run.timestamp)
                draft.replace(path)
                self._append(format_row(row_of(run, path.as_posix())))
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return path

    def load(self, name: str) -> Run:
        """The run stored under a file name such as ``eval_2025-09-18_11-20-03.json``."""
        path = self.path_of(name)
        try:
            # Whatever was written beside JSON, reading must not fail on it before the parser has said what is wrong.
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error
        try:
            return parse_run(text)
        except ResultDamaged as error:
            raise ResultDamaged(f"{name}: {error}") from error

    def path_of(self, name: str) -> Path:
        """The file of that name in the folder; ``ResultNotFound`` for any other name, wherever it would lead."""
        path = self.folder / name if is_result_name(name) else None
        if path is None or path.is_symlink() or not path.is_file():
            raise ResultNotFound(f"there is no result {name[:80]!r}; the names stand in {SUMMARY}, column saved_file")
        return path

    def names(self) -> tuple[str, ...]:
        """The names of all result files, oldest first."""
        try:
            entries = [entry.name for entry in os.scandir(self.folder) if entry.is_file(follow_symlinks=False)]
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise StoreUnavailable(f"{self.folder} cannot be read: {error.strerror}") from error
        return tuple(sorted(filter(is_result_name, entries), key=_age))

    def summary(self) -> Summary:
        """All rows of the summary, and the lines that are damaged."""
        return parse_summary(self._summary_bytes().decode("utf-8", "replace"))

    def repair(self) -> Repair:
        """Put right what a crash left: cut a row that was not finished, give each whole file its row, drop old drafts."""
        if not self.folder.is_dir():
            return Repair()
        self._drop_abandoned_drafts()
        with self._locked():
            self._mend_summary_end()
            listed = {row.saved_file.replace("\\", "/").rsplit("/", 1)[-1] for row in self.summary().rows}
            added, unreadable = [], []
            for name in self.names():
                if name in listed:
                    continue
                try:
                    run = self.load(name)
                    self._append(format_row(row_of(run, (self.folder / name).as_posix())))
                    added.append(name)
                except ResultDamaged as error:
                    unreadable.append(str(error))
                except ValueError as error:
                    unreadable.append(f"{name}: {error}")
        return Repair(tuple(added), tuple(unreadable))

    def start_journal(self, plan: Plan, created_at: datetime) -> Journal:
        """The journal of a new run, begun with what is to be asked."""
        try:
            self._unfinished.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        journal = Journal(self._unfinished, new_run_id(created_at))
        journal.begin(plan, created_at)
        return journal

    def reopen_journal(self, run_id: str) -> Journal:
        """The journal of an unfinished run, to go on with it."""
        return Journal(self._unfinished, check_run_id(self._unfinished, run_id))

    def unfinished(self, run_id: str) -> Unfinished:
        """What an unfinished run has so far."""
        return read_journal(self._unfinished, run_id)

    def interrupted(self) -> tuple[str, ...]:
        """The names of the unfinished runs that no process works on, oldest first: those that can be resumed."""
        return tuple(run_id for run_id in run_ids(self._unfinished) if not is_running(self._unfinished, run_id))

    def find_saved(self, created_at: datetime) -> Path | None:
        """The file of the run that was started at that very moment, when it is stored already."""
        prefix = f"eval_{created_at:%Y-%m-%d_%H-%M-%S}"
        for name in self.names():
            if name.startswith(prefix):
                with suppress(ResultDamaged):
                    if self.load(name).created_at == created_at:
                        return self.folder / name
        return None

    @classmethod
    def open(cls, folder: Path) -> Store:
        """The store in a folder, after a repair of what an earlier crash may have left there."""
        store = cls(folder)
        repair = store.repair()
        if repair.rows_added:
            _log.warning("added %d rows to %s that a crash had left out", len(repair.rows_added), folder / SUMMARY)
        for reason in repair.unreadable:
            _log.warning("skipped a file in %s: %s", folder, reason)
        return store

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # The kernel's own file lock: it ends with its holder, and holds between containers that share the folder.
        try:
            with FileLock(self.folder / _LOCK, timeout=_LOCK_SECONDS, poll_interval=0.005):
                yield
        except Timeout as error:
            raise StoreUnavailable(
                f"{self.folder / _LOCK} has been held by another process for {_LOCK_SECONDS:.0f} s; end it and try again"
            ) from error
        except OSError as error:
            raise self._unwritable(error) from error

    def _write_draft(self, run: Run) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(prefix=_DRAFT, suffix=".json", dir=self.folder)
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            # A lone surrogate has no UTF-8 form; "backslashreplace" writes it as \udXXX, which is its JSON escape.
            with open(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
                file.writelines(format_run(run))
                file.flush()
                os.fsync(file.fileno())
            Path(draft).chmod(0o644)
        except BaseException as error:
            Path(draft).unlink()
            if isinstance(error, OSError):
                raise self._unwritable(error) from error
            raise
        return Path(draft)

    def _free_path(self, timestamp: str) -> Path:
        path = self.folder / f"eval_{timestamp}.json"
        number = 2
        while path.exists() or path.is_symlink():
            path = self.folder / f"eval_{timestamp}-{number}.json"
            number += 1
        return path

    def _summary_bytes(self) -> bytes:
        path = self.folder / SUMMARY
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error

    def _mend_summary_end(self) -> None:
        """Cut a row that was not finished; end a last row that lacks only its line end."""
        data = self._summary_bytes()
        # "surrogateescape" keeps the length, also where the cut went through a character.
        torn = parse_summary(data.decode("utf-8", "surrogateescape")).torn
        if torn:
            os.truncate(self.folder / SUMMARY, len(data) - len(torn.encode("utf-8", "surrogateescape")))
        elif data and not data.endswith(b"\n"):
            append_line(self.folder / SUMMARY, b"")

    def _append(self, row: str) -> None:
        # CSV has no escape for a lone surrogate; it becomes "?" there, and the JSON file keeps it.
        append_line(self.folder / SUMMARY, row.encode("utf-8", "replace"), header=HEADER.encode(), durable=True)

    def _drop_abandoned_drafts(self) -> None:
        for draft in self.folder.glob(f"{_DRAFT}*.json"):
            with suppress(OSError):
                if time.time() - draft.stat().st_mtime > _ABANDONED_SECONDS:
                    draft.unlink()

    def _unwritable(self, error: OSError) -> StoreUnavailable:
        user = f"user id {os.getuid()}" if hasattr(os, "getuid") else "this user"
        return StoreUnavailable(
            f"{self.folder} cannot be written: {error.strerror or error}; "
            f"make it writable for {user}, or set EVALUATOR_RESULTS_DIR to a folder that is"
        )
