"""The journal of a run under way: what was asked, then each answer as it arrives, one JSON line each.

It outlives the process. While a process works on the run it holds the journal's lock, which ends with the process.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from evaluator_core.endpoint import Endpoint
from evaluator_core.endpoints import endpoints
from evaluator_core.errors import ResultDamaged, ResultNotFound, StoreUnavailable
from evaluator_core.line_file import append_line
from evaluator_core.plan import Plan
from evaluator_core.types import Reply, SampleFailure

_RUN_ID = re.compile(r"run_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_[0-9a-f]{6}", re.ASCII)
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Extension:
    """What makes a run under way a new version of a stored one."""

    name: str
    """The stored run's file."""
    since: int
    """How many answers had been asked for: those from this index on are new."""
    points: float | None = None
    """Stop once ``field`` is known to ± so many points; ``None`` to ask for all."""
    field: str = "confidence_percent"
    """The metric that is to be known."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A run that has not ended, as its journal tells it."""

    run_id: str
    """Its name, for a resume."""
    created_at: datetime
    """When it was started."""
    plan: Plan
    """What was asked. A key that was given for one use is not in it."""
    replies: tuple[Reply, ...]
    """What arrived, in order of index."""
    failures: tuple[SampleFailure, ...] = ()
    """The requests that brought nothing, in order of index."""
    refused: frozenset[str] = frozenset()
    """The parameters that the model does not take, as far as it was noticed."""
    extension: Extension | None = None
    """The stored run that it extends; ``None`` for a run of its own."""

    @property
    def missing(self) -> tuple[int, ...]:
        """The indices that have no answer yet."""
        arrived = {reply.index for reply in self.replies}
        return tuple(index for index in range(self.plan.n_samples) if index not in arrived)


class Journal:
    """A journal that this process writes. As a context it holds the run's lock."""

    def __init__(self, folder: Path, run_id: str) -> None:
        """``folder`` holds all journals; ``check_run_id`` has passed the name."""
        self.run_id = run_id
        self._path = _path(folder, run_id)
        self._lock = FileLock(self._path.with_suffix(".lock"), timeout=0)
        self._ended = False

    def __enter__(self) -> Journal:
        try:
            self._lock.acquire()
        except Timeout as error:
            raise StoreUnavailable(f"the run {self.run_id} is being worked on by another process") from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._lock.release()
        if self._ended:
            Path(self._lock.lock_file).unlink(missing_ok=True)

    def begin(self, plan: Plan, created_at: datetime, extension: Extension | None = None) -> None:
        """Write the first line."""
        head = {"journal": _VERSION, "created_at": created_at.isoformat(), "plan": _plan_record(plan)}
        self._append(head | ({"extends": asdict(extension)} if extension else {}))

    def add(self, outcome: Reply | SampleFailure, refused: Iterable[str] = ()) -> None:
        """Write one answer or failure, and what the model was found to refuse; it is with the system when this returns."""
        record: dict[str, Any] = {"reply" if isinstance(outcome, Reply) else "failure": asdict(outcome)}
        self._append(record | ({"refused": sorted(refused)} if refused else {}))

    def end(self) -> None:
        """The run is stored: nothing needs the journal any more."""
        self._path.unlink(missing_ok=True)
        self._ended = True

    def _append(self, record: dict[str, Any]) -> None:
        try:
            append_line(self._path, json.dumps(record).encode("ascii") + b"\n")
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be written: {error.strerror}; make room or rights there") from error


def new_run_id(created_at: datetime) -> str:
    """A name for a run under way: its time, and enough chance to keep two of the same second apart."""
    return f"run_{created_at:%Y-%m-%d_%H-%M-%S}_{secrets.token_hex(3)}"


def check_run_id(folder: Path, run_id: str) -> str:
    """The name, when a journal has it; ``ResultNotFound`` for any other, wherever it would lead."""
    if not _RUN_ID.fullmatch(run_id) or not _path(folder, run_id).is_file():
        raise ResultNotFound(f"there is no unfinished run {run_id[:80]!r}")
    return run_id


def read_journal(folder: Path, run_id: str) -> Unfinished:
    """What a journal holds. Lines that a crash cut short are passed over: their answers count as missing."""
    path = _path(folder, check_run_id(folder, run_id))
    lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    records = [record for line in lines if isinstance(record := _parsed(line), dict)]
    try:
        head = records[0]
        if head["journal"] != _VERSION:
            raise ValueError(f"version {head['journal']}")
        replies = {record["reply"]["index"]: Reply(**record["reply"]) for record in records if "reply" in record}
        failures = {record["failure"]["index"]: SampleFailure(**record["failure"]) for record in records if "failure" in record}
        return Unfinished(
            run_id=run_id,
            created_at=datetime.fromisoformat(head["created_at"]),
            plan=_plan_of(head["plan"]),
            replies=tuple(replies[index] for index in sorted(replies)),
            failures=tuple(failures[index] for index in sorted(failures.keys() - replies.keys())),
            refused=frozenset(str(name) for record in records for name in record.get("refused", ())),
            extension=Extension(**head["extends"]) if "extends" in head else None,
        )
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ResultDamaged(f"{path.name} cannot be read as a journal ({type(error).__name__}: {error})") from error


def run_ids(folder: Path) -> tuple[str, ...]:
    """The names of all runs that have a journal, oldest first."""
    found = [path.stem for path in folder.glob("run_*.jsonl") if _RUN_ID.fullmatch(path.stem)] if folder.is_dir() else []
    return tuple(sorted(found))


def is_running(folder: Path, run_id: str) -> bool:
    """Whether some process works on the run now."""
    lock = FileLock(_path(folder, run_id).with_suffix(".lock"), timeout=0)
    try:
        with lock:
            return False
    except Timeout:
        return True


def _path(folder: Path, run_id: str) -> Path:
    return folder / f"{run_id}.jsonl"


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _plan_record(plan: Plan) -> dict[str, Any]:
    # Built field by field, not by asdict: a key must not come along.
    record = {name: getattr(plan, name) for name in Plan.__dataclass_fields__ if name != "endpoint"}
    endpoint = plan.endpoint
    return record | {
        "endpoint": {"name": endpoint.name, "base_url": endpoint.base_url, "api_key_env": endpoint.api_key_env},
    }


def _plan_of(record: dict[str, Any]) -> Plan:
    stored = Endpoint(**record["endpoint"])
    there = {endpoint.name: endpoint for endpoint in endpoints().values() if endpoint.base_url == stored.base_url}
    # A key goes to the address that it was set up for: where nothing is set up for this one any more, none goes there.
    endpoint = there.get(stored.name) or next(iter(there.values()), replace(stored, api_key_env=None))
    return Plan(**(record | {"endpoint": endpoint}))
