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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from filelock import FileLock, Timeout

from evaluator_core.behaviour.behaviour_json import read_metrics
from evaluator_core.behaviour.records import BehaviourMetrics
from evaluator_core.errors import InvalidInput, ResultDamaged, ResultNotFound, StoreUnavailable
from evaluator_core.journal import Extension, Journal, Unfinished, check_run_id, is_running, new_run_id, read_journal, run_ids
from evaluator_core.plan import Plan
from evaluator_core.run_json import format_run, parse_part, parse_run
from evaluator_core.statistics import Interval, read_intervals
from evaluator_core.summary import Summary, row_of
from evaluator_core.summary_file import SummaryFile
from evaluator_core.types import Run, Version

SUMMARY = "summary.csv"

_log = logging.getLogger(__name__)

_NAME = re.compile(r"eval_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-[1-9]\d{0,5})?\.json", re.ASCII)
_LOCK = ".lock"
_LOCK_SECONDS = 60.0
_DRAFT = ".draft-"
_RENEWED = ".renewed-"
_UNFINISHED_RUNS = "unfinished"
_ABANDONED_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Repair:
    """What a crash had left, and what was done about it."""

    rows_added: tuple[str, ...] = ()
    """Names of whole JSON files that had no row."""
    unreadable: tuple[str, ...] = ()
    """JSON files that cannot be read as a run, each with the reason."""
    damaged: tuple[str, ...] = ()
    """Lines of the summary that are no row, as they stand; they are left there."""


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """What stands in a run's file and not in its row."""

    intervals: Mapping[str, Interval]
    """The 95 % interval of each metric that has one, by the metric's field."""
    behaviour: BehaviourMetrics | None
    """What its answers do; ``None`` when they were not run."""
    temperature: float | None = None
    """The temperature it was asked at; ``None`` for the endpoint's own."""


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
        self._summary = SummaryFile(folder / SUMMARY)

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
                self._summary.append(row_of(run, path.as_posix()))
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return path

    def add_behaviour(self, name: str, run: Run) -> Path:
        """Write a stored run anew with the behaviour of ``run``; its numbers, and so its row, stay as they are. Its path."""
        path = self.path_of(name)
        with self._locked():
            stored = self.load(name)
            if stored.score.samples != run.score.samples:
                raise InvalidInput(f"{name} has other answers now than those that were run: run them again")
            self._write_draft(replace(stored, behaviour=run.behaviour, score=run.score)).replace(path)
        return path

    def renew(self, name: str, run: Run) -> Path:
        """Put a run with more answers in the place of a stored one, whose numbers it keeps as a version. Its path."""
        path = self.path_of(name)
        with self._locked():
            stored = self.load(name)
            answers = {sample.index for sample in run.score.samples}
            if not {sample.index for sample in stored.score.samples} < answers:
                raise InvalidInput(
                    f"{name} has been extended by another process meanwhile: its answers are not those of this run"
                )
            before = Version(len(stored.score.samples), stored.score.metrics, datetime.now().astimezone())
            draft = self._write_draft(replace(run, versions=(*stored.versions, before)))
            # Between the two files a crash leaves the mark, by which the next start puts the row right.
            mark = self.folder / f"{_RENEWED}{name}"
            mark.touch()
            draft.replace(path)
            self._summary.put(row_of(run, path.as_posix()))
            mark.unlink()
        return path

    def load(self, name: str) -> Run:
        """The run stored under a file name such as ``eval_2025-09-18_11-20-03.json``."""
        try:
            return parse_run(self._text(name))
        except ResultDamaged as error:
            raise ResultDamaged(f"{name}: {error}") from error

    def facts(self, name: str) -> StoredFacts:
        """What a list of runs tells of a stored one beyond its row, without reading the rest of its file."""
        text = self._text(name)
        settings = parse_part(text, "settings")
        warmth = settings.get("temperature") if isinstance(settings, dict) else None
        return StoredFacts(
            read_intervals(parse_part(text, "uncertainty")),
            read_metrics(parse_part(text, "behaviour")),
            float(warmth) if isinstance(warmth, int | float) else None,
        )

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
        return self._summary.read()

    def repair(self) -> Repair:
        """Put right what a crash left: cut a row that was not finished, give each whole file its row, drop old drafts."""
        if not self.folder.is_dir():
            return Repair()
        self._drop_abandoned_drafts()
        with self._locked():
            self._summary.mend_end()
            self._finish_renewals()
            summary = self.summary()
            listed = {row.file_name for row in summary.rows}
            added, unreadable = [], []
            for name in self.names():
                if name in listed:
                    continue
                try:
                    run = self.load(name)
                    self._summary.append(row_of(run, (self.folder / name).as_posix()))
                    added.append(name)
                except ResultDamaged as error:
                    unreadable.append(str(error))
                except ValueError as error:
                    unreadable.append(f"{name}: {error}")
        return Repair(tuple(added), tuple(unreadable), summary.damaged)

    def start_journal(self, plan: Plan, created_at: datetime, extension: Extension | None = None) -> Journal:
        """The journal of a new run, begun with what is to be asked."""
        try:
            self._unfinished.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from error
        journal = Journal(self._unfinished, new_run_id(created_at))
        journal.begin(plan, created_at, extension)
        return journal

    def start_extension(self, plan: Plan, run: Run, extension: Extension) -> Journal:
        """The journal of a run that asks for more answers of a stored one, begun with those that it has."""
        for run_id in run_ids(self._unfinished):
            with suppress(ResultDamaged, ResultNotFound):
                other = self.unfinished(run_id).extension
                if other is not None and other.name == extension.name:
                    raise InvalidInput(f"{extension.name} is being extended already: go on with {run_id} first, or wait for it")
        journal = self.start_journal(plan, run.created_at, extension)
        for sample in run.score.samples:
            journal.add(sample.reply)
        for failure in run.failures:
            journal.add(failure)
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

    def find_stored(self, unfinished: Unfinished) -> Path | None:
        """The file of a run that has a journal, when it is stored already."""
        created_at, extension = unfinished.created_at, unfinished.extension
        if extension is not None:
            is_done = self.load(extension.name).settings.n_requested > extension.since
            return self.path_of(extension.name) if is_done else None
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
        if repair.damaged:
            first = ascii(repair.damaged[0][:120])
            _log.warning("passed over %d damaged lines of %s, the first: %s", len(repair.damaged), folder / SUMMARY, first)
        for reason in repair.unreadable:
            _log.warning("skipped a file in %s: %s", folder, reason)
        return store

    def _text(self, name: str) -> str:
        path = self.path_of(name)
        try:
            # Whatever was written beside JSON, reading must not fail on it before the parser has said what is wrong.
            return path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be read: {error.strerror}") from error

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

    def _finish_renewals(self) -> None:
        for mark in self.folder.glob(f"{_RENEWED}*"):
            name = mark.name.removeprefix(_RENEWED)
            with suppress(ResultDamaged, ResultNotFound):
                self._summary.put(row_of(self.load(name), (self.folder / name).as_posix()))
            mark.unlink(missing_ok=True)

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
