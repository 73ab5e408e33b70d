"""Running answers: worker processes, each with CPython for WASI under wasmtime, and nothing without them.

This process never loads the answer, nor native code for it. A worker that dies takes only the answer that it ran.
"""

from __future__ import annotations

import atexit
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evaluator_core.assets import PYTHON_WASI, compiled_dir, find_asset
from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.records import Input, Kind, Outcome, Status, Trial
from evaluator_core.errors import SandboxUnavailable
from evaluator_core.machine import usable_cores

_START_SECONDS = 180.0
_JOB_SECONDS = 120.0
_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TEMP", "TMP", "TMPDIR")

Progress = Callable[[int, int], None]
"""Told how many answers have been run, and how many there are."""


@dataclass(frozen=True, slots=True)
class Job:
    """One answer to run."""

    index: int
    """The sample's index."""
    code: str
    """Its code."""


def engine_name() -> str:
    """What runs the answers, with versions, as it stands in stored runs."""
    try:
        return f"{PYTHON_WASI.label} ({PYTHON_WASI.package} {PYTHON_WASI.version}), wasmtime {version('wasmtime')}"
    except PackageNotFoundError as error:
        raise SandboxUnavailable("wasmtime is not installed; install it with: pip install -r requirements.txt") from error


def default_workers() -> int:
    """One worker a core, and not more than four: each takes a few hundred megabytes at worst."""
    return min(4, usable_cores())


class Sandbox:
    """A set of workers, started at first use and kept; usable from several threads, ended by ``close()``."""

    def __init__(self, workers: int | None = None) -> None:
        """Nothing starts yet."""
        self.workers = workers or default_workers()
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._halts: set[Halt] = set()

    def run(
        self, jobs: Sequence[Job], inputs: Sequence[Input], progress: Progress | None = None, halt: Halt | None = None
    ) -> tuple[Trial, ...]:
        """Each answer on every input, in the order of ``jobs``; equal codes are run once. ``Halted`` when ``halt`` is called."""
        halt = halt or Halt()
        wasm = find_asset(PYTHON_WASI)
        engine_name()
        codes = list(dict.fromkeys(job.code for job in jobs))
        calls = [_call(item) for item in inputs]
        program = bool(inputs) and inputs[0].stdin is not None
        done, told = 0, threading.Lock()

        def run_one(code: str) -> dict[str, Any]:
            nonlocal done
            halt.check()
            worker = self._idle.get()
            try:
                result = worker.run({"code": code, "calls": calls, "program": program}, wasm, halt)
            except Halted:
                worker.close()
                raise
            finally:
                self._idle.put(worker)
            with told:
                done += 1
                if progress:
                    progress(done, len(codes))
            return result

        pool = self._begin(halt)
        try:
            results = dict(zip(codes, pool.map(run_one, codes), strict=True))
        finally:
            self._halts.discard(halt)
        return tuple(_trial(job.index, results[job.code]) for job in jobs)

    def close(self) -> None:
        """End all workers, what they run included, and wait for them."""
        with self._lock:
            for halt in list(self._halts):
                halt.call()
            pool, self._pool = self._pool, None
            if pool is not None:
                pool.shutdown()
            while not self._idle.empty():
                self._idle.get().close()

    def _begin(self, halt: Halt) -> ThreadPoolExecutor:
        with self._lock:
            self._halts.add(halt)
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="sandbox")
                for _ in range(self.workers):
                    self._idle.put(_Worker())
            return self._pool


class _Worker:
    """One child process and the pipe to it; a dead one is replaced at the next job."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def run(self, job: dict[str, Any], wasm: Path, halt: Halt) -> dict[str, Any]:
        child = self._child
        if child is None or child.poll() is not None:
            self.close()
            child = self._start(wasm, halt)
        with halt.ends(child):
            answer = _ask(child, json.dumps(job), _JOB_SECONDS)
        try:
            result = json.loads(answer)
        except ValueError:
            result = None
        if not isinstance(result, dict):
            self.close()
            return {"load": ["crashed", "null"], "outcomes": []}
        return result

    def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was still to be written has no reader any more
                    continue

    def _start(self, wasm: Path, halt: Halt) -> subprocess.Popen[str]:
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            try:
                child = self._child = subprocess.Popen(
                    [sys.executable, "-m", "evaluator_core.behaviour.worker", str(wasm), str(compiled_dir())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    encoding="utf-8",
                    env=environment,
                )
            except OSError as error:
                raise SandboxUnavailable(f"the sandbox's process could not be started ({error}); answers are not run") from error
            with halt.ends(child):
                answer = _ask(child, "", _START_SECONDS)
            message = json.loads(answer) if answer else {}
            if "ready" not in message:
                self.close()
                log.seek(0)
                said = log.read().strip().splitlines()
                reason = message.get("error") or (said[-1][:300] if said else "it said nothing")
                raise SandboxUnavailable(
                    f"the sandbox could not be started ({reason}); answers are not run without it. "
                    "Install the exact packages of requirements.txt on a system that wasmtime has wheels for"
                )
        return child


def _ask(child: subprocess.Popen[str], line: str, seconds: float) -> str:
    """Send a line, if there is one, and wait for one; ``""`` when the child dies or takes too long, and is ended."""
    assert child.stdin is not None
    assert child.stdout is not None
    alarm = threading.Timer(seconds, child.kill)
    alarm.start()
    try:
        if line:
            child.stdin.write(line + "\n")
            child.stdin.flush()
        return child.stdout.readline()
    except OSError:
        return ""
    finally:
        alarm.cancel()


def _call(item: Input) -> dict[str, Any]:
    if item.stdin is not None:
        return {"stdin": item.stdin}
    last = len(item.steps) - 1
    return {
        "steps": [
            {"name": step.name, "arguments": step.arguments, "named": step.named, "keep": place < last and not step.apart}
            for place, step in enumerate(item.steps)
        ]
    }


def _trial(index: int, result: dict[str, Any]) -> Trial:
    kind, text = result["load"]
    word = _word(text)
    if kind == "unsupported":
        return Trial(index, Status.UNSUPPORTED, f"no module {word}" if word else "a missing module")
    if kind == "undefined":
        return Trial(index, Status.NOT_LOADING, f"does not define {word}")
    if kind in ("raised", "exited"):
        return Trial(index, Status.NOT_LOADING, word or "exits while it loads")
    if kind != "loaded":
        return Trial(index, Status.CRASHED, kind if kind in set(Kind) else "crashed")
    missing = [_word(text) for kind, text in result["outcomes"] if kind == "unsupported"]
    if missing:
        return Trial(index, Status.UNSUPPORTED, f"no module {missing[0]}" if missing[0] else "a missing module")
    return Trial(index, Status.RAN, outcomes=tuple(_outcome(kind, text) for kind, text in result["outcomes"]))


def _outcome(kind: str, text: str) -> Outcome:
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # a guest that forges its own result may write anything
        return Outcome(Kind.CRASHED)
    return Outcome(Kind(kind), text)


def _word(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return value[:80] if isinstance(value, str) else ""


_shared = Sandbox()
atexit.register(_shared.close)


def shared_sandbox() -> Sandbox:
    """The one set of workers of this process."""
    return _shared
