"""Wall time and memory of sampling, against a server with a known latency in a process of its own."""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import resource
import sys
import time
from multiprocessing.connection import Connection

from evaluator_core.endpoint import custom_endpoint
from evaluator_core.plan import Plan
from evaluator_core.sampling import Outcome, sample
from evaluator_core.types import Reply
from tests.model_server import KEY, ModelServer

LATENCY = 0.2
REPETITIONS = 5


def main() -> None:
    print(f"Sampling, from a server that takes {LATENCY * 1000:.0f} ms for each answer; the best of {REPETITIONS} repetitions\n")
    print(f"{'N':>5}{'at once':>9}{'ideal s':>9}{'wall s':>8}{'wall/ideal':>12}{'most in flight':>16}{'growth MB':>11}")
    ratio = 0.0
    for count, concurrency in ((16, 16), (64, 16), (500, 16), (500, 64)):
        before = _peak_mb()
        runs = [_measure(count, concurrency) for _ in range(REPETITIONS if count < 500 else 1)]
        seconds, most = min(run[0] for run in runs), max(run[1] for run in runs)
        ideal = math.ceil(count / concurrency) * LATENCY
        if (count, concurrency) == (64, 16):
            ratio = seconds / ideal
        print(f"{count:>5}{concurrency:>9}{ideal:>9.2f}{seconds:>8.2f}{seconds / ideal:>12.2f}", end="")
        print(f"{most:>16}{_peak_mb() - before:>11.1f}")
    print(f"\naim: N=64, 16 at once, at most 1.2 times the ideal: {ratio:.2f}, {'reached' if ratio <= 1.2 else 'missed'}")


def _measure(count: int, concurrency: int) -> tuple[float, int]:
    """Seconds for one run, and the most requests that the server saw at once."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,))
    process.start()
    try:
        plan = Plan("Write f.", custom_endpoint(here.recv(), key=KEY), "m", n_samples=count, concurrency=concurrency)
        got: list[Outcome] = []
        started = time.perf_counter()
        asyncio.run(sample(plan, range(count), got.append))
        seconds = time.perf_counter() - started
        if not all(isinstance(outcome, Reply) for outcome in got) or len(got) != count:
            print(f"  {sum(isinstance(outcome, Reply) for outcome in got)} of {count} arrived")
        here.send("end")
        return seconds, here.recv()
    finally:
        process.join()


def _serve(connection: Connection) -> None:
    with ModelServer(latency=LATENCY) as server:
        connection.send(server.base_url)
        connection.recv()
        connection.send(server.most_in_flight)


def _peak_mb() -> float:
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
