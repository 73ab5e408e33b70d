"""What the visitors and the routes of this server process share: its settings, its store and its background runs."""

from __future__ import annotations

import threading
from functools import cache

import streamlit as st

from evaluator_core.behaviour.sandbox import shared_sandbox
from evaluator_core.builtin_model import shared_model
from evaluator_core.jobs import JobRunner
from evaluator_core.settings import ServerSettings, results_dir, server_settings
from evaluator_core.store import Store

_lock = threading.Lock()
_runner: JobRunner | None = None
_store: Store | None = None


@cache
def settings() -> ServerSettings:
    """How this server guards itself, and how much it takes on."""
    return server_settings(st.get_option("server.address"))


@cache
def sign_in_providers() -> tuple[str | None, ...]:
    """The OpenID Connect providers of Streamlit's secrets, by name; ``None`` is the one without a name, none is no sign-in."""
    try:
        section = st.secrets["auth"]
    except (FileNotFoundError, KeyError):
        return ()
    named = tuple(str(name) for name, value in section.items() if hasattr(value, "items"))
    return named or (None,)


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
            limits = settings()
            _runner = JobRunner(current, at_once=limits.runs_at_once, most_waiting=limits.runs_waiting)
        return _runner


def cancel_runs() -> None:
    """Let every run end soon, so that whoever waits for one gets an answer. Takes no lock: a signal may call it."""
    if _runner is not None:
        _runner.cancel_all()


def close_runtime() -> None:
    """End the background runs, keeping what arrived, and the built-in model."""
    global _runner, _store
    with _lock:
        if _runner is not None:
            _runner.close()
        _runner = _store = None
    shared_model().close()
    shared_sandbox().close()
