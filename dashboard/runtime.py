"""The store and the background runs of this server process, shared by all its visitors."""

from __future__ import annotations

import threading

from evaluator_core.builtin_model import shared_model
from evaluator_core.jobs import JobRunner
from evaluator_core.settings import results_dir
from evaluator_core.store import Store

_lock = threading.Lock()
_runner: JobRunner | None = None
_store: Store | None = None


def store() -> Store:
    """The results folder, repaired once when the server first needs it."""
    global _store
    with _lock:
        if _store is None or _store.folder != results_dir():
            _store = Store.open(results_dir())
        return _store


def runner() -> JobRunner:
    """The background runs, started when they are first needed."""
    global _runner
    current = store()
    with _lock:
        if _runner is None:
            _runner = JobRunner(current)
        return _runner


def close_runtime() -> None:
    """End the background runs, keeping what arrived, and the built-in model."""
    global _runner, _store
    with _lock:
        if _runner is not None:
            _runner.close()
        _runner = _store = None
    shared_model().close()
