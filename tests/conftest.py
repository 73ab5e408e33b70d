"""What every test lives with: no settings from the outside, a folder of its own, and no trace of the key."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator_core.sampling import Patience
from tests.model_server import KEY, ModelServer

QUICK = Patience(request_seconds=20, first_delay=0.01, longest_delay=0.05)
"""Patience for tests: as many attempts as ever, with short waits between them."""

_SETTINGS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name in _SETTINGS or (name.startswith("EVALUATOR_") and name != "EVALUATOR_CACHE_DIR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("EVALUATOR_RESULTS_DIR", str(tmp_path / "results"))


@pytest.fixture(autouse=True)
def main_module_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit's test tool leaves its script as the main module, which processes started later would run anew."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def no_key_in_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Everything that any library logs while a test runs, down to debug level, is free of the key."""
    caplog.set_level(logging.DEBUG)
    yield
    assert KEY not in caplog.text


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def openai_at(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ModelServer:
    """The test server as the endpoint ``openai``, with its key in the environment."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return server


@pytest.fixture(scope="session", autouse=True)
def no_key_in_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No file that the tests leave behind holds the key, or its beginning."""
    yield
    leaks = [
        path
        for path in tmp_path_factory.getbasetemp().rglob("*")
        if path.is_file() and not path.is_symlink() and KEY[:12].encode() in path.read_bytes()
    ]
    assert not leaks, f"the key is in {leaks}"
