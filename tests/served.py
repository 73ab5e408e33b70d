"""The real server in a process of its own, on a free port of loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import requests

from tests.model_server import KEY

ROOT = Path(__file__).parents[1]


def until(happened: Callable[[], bool]) -> None:
    """Wait for what another process does to its files."""
    pause = threading.Event()
    for _ in range(3000):
        if happened():
            return
        pause.wait(0.01)
    raise AssertionError("it never happened")


def sandbox_workers(parent: psutil.Process) -> list[psutil.Process]:
    """The processes below this one in which answers are run."""

    def is_worker(child: psutil.Process) -> bool:
        try:
            return "evaluator_core.behaviour.worker" in child.cmdline()
        except psutil.NoSuchProcess:  # it ended between the two questions
            return False

    return [child for child in parent.children(recursive=True) if is_worker(child)]


def run_clients(url: str, clients: int, each: int) -> list[Future[list[dict[str, Any]]]]:
    """Clients that evaluate at the same time, each several times; what was answered to each of them."""

    def client(number: int) -> list[dict[str, Any]]:
        with requests.Session() as session:
            answers = []
            for turn in range(each):
                body: dict[str, str | int] = {"prompt": f"prompt {number}-{turn}", "n_samples": 5}
                answer = session.post(f"{url}/evaluate", json=body, timeout=120)
                assert answer.status_code == 200, answer.text
                answers.append(answer.json())
            return answers

    pool = ThreadPoolExecutor(clients)
    working = [pool.submit(client, number) for number in range(clients)]
    pool.shutdown(wait=False)
    return working


class Dashboard:
    """``streamlit run app.py``, as a user starts it."""

    def __init__(self, folder: Path, *, address: str = "127.0.0.1", **settings: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.results = folder / "results"
        self.log = folder / "server.log"
        self.address = address
        self.program = ROOT
        self.environment = os.environ | {"EVALUATOR_RESULTS_DIR": str(self.results)} | settings
        folder.mkdir(exist_ok=True)

    def share(self, other: Dashboard) -> None:
        """Use the results folder of another server."""
        self.results = other.results
        self.environment["EVALUATOR_RESULTS_DIR"] = str(self.results)

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        command += ["--server.port", str(self.port), "--server.address", self.address]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self.program, env=self.environment, stdout=log, stderr=subprocess.STDOUT)
        while True:
            assert self.process.poll() is None, self.said()
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                continue

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the server did not end within 10 s") from None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def said(self) -> str:
        """Everything in its log."""
        return self.log.read_text(errors="replace")

    def __enter__(self) -> Dashboard:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        assert KEY not in self.said()
        assert "Traceback" not in self.said(), self.said()[-3000:]
