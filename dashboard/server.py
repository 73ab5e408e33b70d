"""How the server starts and ends: what it must have, what it says in its log, and how soon it is gone."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from dashboard.runtime import cancel_runs, close_runtime, runner, settings, sign_in_providers, store
from evaluator_core.errors import EvaluatorError
from evaluator_core.http_api import Server, api_routes
from evaluator_core.http_guard import Guard

OPEN_TO_ALL = (
    "Anyone who can reach this server can use it, its keys included: set EVALUATOR_API_TOKEN, or listen on 127.0.0.1 only."
)
_GRACE_SECONDS = 8.0

_log = logging.getLogger("evaluator_core.server")


def prepare() -> None:
    """Before anything is served: the log, the settings and the results folder. What cannot be used ends the program here."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    core = logging.getLogger("evaluator_core")
    core.handlers[:] = [handler]
    core.setLevel(logging.INFO)
    core.propagate = False
    try:
        exposed, token = settings().exposed, settings().token
        store().ensure_writable()
    except EvaluatorError as error:
        sys.exit(f"The server cannot start: {error}")
    if exposed and not token and not sign_in_providers():
        _log.warning("=" * 20 + " " + OPEN_TO_ALL + " " + "=" * 20)


def routes() -> list[BaseRoute]:
    """The routes of the API."""
    return list(api_routes(Server(settings(), store, runner)))


def middleware() -> list[Middleware]:
    """What stands before every request."""
    return [Middleware(Guard, settings=settings(), pages_sign_in_themselves=bool(sign_in_providers()))]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """End what runs in the background together with the server; its journals stay."""
    with _ends_in_time():
        yield
        close_runtime()


@contextmanager
def _ends_in_time() -> Iterator[None]:
    """A server that is told to end first lets the runs end, for requests that wait for one; and it never lingers."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def end(number: int, frame: FrameType | None) -> None:
        cancel_runs()
        # Whoever does not take its answer must not hold the server. Everything that arrived is in the journals by now.
        last_resort = threading.Timer(_GRACE_SECONDS, os._exit, [1])
        last_resort.daemon = True
        last_resort.start()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
