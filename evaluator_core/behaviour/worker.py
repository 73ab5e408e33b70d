"""The process in which answers run. It takes one job a line on standard input and gives one result a line.

It says first whether the sandbox could be started. It lives as long as its input is open: when the parent ends, however
it ends, the system closes the pipe and the worker goes too, in the middle of a job if need be.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from pathlib import Path
from typing import Any

_STACK_BYTES = 16 << 20  # the interpreter's own frames lie on the thread's stack, beside those of WebAssembly


def main(wasm: Path, folder: Path) -> None:
    """Serve jobs until standard input ends."""
    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.stack_size(_STACK_BYTES)
    threading.Thread(target=_serve, args=(jobs, wasm, folder), daemon=True).start()
    threading.stack_size(0)
    for line in sys.stdin:
        jobs.put(json.loads(line))
    os._exit(0)  # a call that is still running is not waited for


def _serve(jobs: queue.SimpleQueue[dict[str, Any]], wasm: Path, folder: Path) -> None:
    try:
        from evaluator_core.behaviour.compiled import load_module
        from evaluator_core.behaviour.instance import Runner

        runner = Runner(*load_module(wasm, folder))
    except Exception as error:  # whatever it is, the parent must hear of it
        _say({"error": f"{type(error).__name__}: {error}"[:500]})
        os._exit(1)
    _say({"ready": True})
    while True:
        job = jobs.get()
        _say(runner.run(job["code"], job["calls"], job["program"]))


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
