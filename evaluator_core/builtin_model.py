"""The embedded model: SmolLM2-135M in a process of its own, answering on loopback like any other endpoint.

The child gets its key over standard input, says its address on standard output, and lives as long as that input is
open: when the parent ends, however it ends, the system closes the pipe and the child goes too.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from evaluator_core.assets import MODEL_WEIGHTS, find_asset
from evaluator_core.errors import EndpointUnreachable
from evaluator_core.machine import usable_cores

NAME = "smollm2-135m"
ABOUT = (
    "SmolLM2-135M-Instruct (Hugging Face, Apache-2.0), 4-bit, 98 MB: a very small model that needs no key and no network. "
    "It is here to try the tool out; its programs are often wrong."
)
_CONTEXT = 2048
_MAX_TOKENS = 512
_START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where the running model answers, and the key it wants."""

    base_url: str
    key: str


class BuiltinModel:
    """The child process: started at first use, restarted after a crash, shared by all runs of this process."""

    def __init__(self) -> None:
        """Nothing starts yet."""
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._address: Address | None = None

    def address(self) -> Address:
        """Where to ask; starts the child when none is alive. Blocks while it loads, for a second or so."""
        with self._lock:
            if self._child is None or self._address is None or self._child.poll() is not None:
                self._discard()
                self._start(find_asset(MODEL_WEIGHTS))
            assert self._address is not None
            return self._address

    @property
    def pid(self) -> int | None:
        """The child's process id while it is alive."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def close(self) -> None:
        """End the child and wait for it."""
        with self._lock:
            self._discard()

    def _start(self, weights: Path) -> None:
        key = secrets.token_urlsafe(24)
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "evaluator_core.builtin_model", str(weights)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )
            self._child = child
            assert child.stdin is not None
            assert child.stdout is not None
            # A child that hangs while loading is ended, and its silence is then the end of its output.
            alarm = threading.Timer(_START_SECONDS, child.kill)
            alarm.start()
            try:
                child.stdin.write(key + "\n")
                child.stdin.flush()
                answer = child.stdout.readline()
            except OSError:
                answer = ""
            finally:
                alarm.cancel()
            if not answer:
                self._discard()
                log.seek(0)
                reason = log.read().strip().splitlines()
                raise EndpointUnreachable(
                    f"the built-in model could not be started ({reason[-1][:300] if reason else 'it said nothing'}); "
                    "try again, or choose another endpoint"
                )
        self._address = Address(json.loads(answer)["base_url"], key)

    def _discard(self) -> None:
        child, self._child, self._address = self._child, None, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                stream.close()


_shared = BuiltinModel()
atexit.register(_shared.close)


def shared_model() -> BuiltinModel:
    """The one built-in model of this process."""
    return _shared


def choose_threads(cores: int) -> int:
    """One core is left to the rest of the machine: threads that wait for each other by spinning crawl without it."""
    return max(1, min(4, cores - 1))


def choose_slots(cores: int) -> int:
    """Answers that it writes at the same time; more wait. One thread is a quarter faster with four than with one."""
    return min(8, 2 + 2 * choose_threads(cores))


def serve(weights: Path) -> None:
    """Load the model, say where it answers, and stay until standard input ends. Runs in the child."""
    import xllamacpp  # only the child loads native code

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {NAME}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [sys.stdin.readline().strip()]
    cores = usable_cores()
    parameters.n_parallel = choose_slots(cores)
    parameters.n_ctx = _CONTEXT * parameters.n_parallel
    parameters.n_predict = _MAX_TOKENS
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = choose_threads(cores)
    parameters.verbosity = -1
    parameters.ui = False
    server = xllamacpp.Server(parameters)
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    sys.stdin.read()
    os._exit(0)  # native threads are not waited for


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
