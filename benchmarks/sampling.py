"""Wall time and memory of sampling, against a server with a known latency in a process of its own."""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection

from benchmarks.memory import peak_megabytes
from evaluator_core.endpoint import custom_endpoint
from evaluator_core.plan import Plan
from evaluator_core.sampling import Outcome, sample
from evaluator_core.types import Reply
from tests.model_server import KEY, ModelServer

LATENCY = 0.2
REPETITIONS = 5


def main() -> None:
    print(f"Sampling, from a server that takes {LATENCY * 1000:.0f} ms for each answer; the best of {REPETITIONS} repetitions")
    print("growth: of a fresh process's memory, after a first run of 16\n")
    print(f"{'N':>5}{'at once':>9}{'ideal s':>9}{'wall s':>8}{'wall/ideal':>12}{'most in flight':>16}{'growth MB':>11}")
    ratio = 0.0
    for count, concurrency in ((16, 16), (64, 16), (500, 16), (500, 64)):
        # A process of its own: what this one has had in memory before would hide the growth.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            seconds, most, growth = fresh.submit(_measure, count, concurrency, REPETITIONS if count < 500 else 1).result()
        ideal = math.ceil(count / concurrency) * LATENCY
        if (count, concurrency) == (64, 16):
            ratio = seconds / ideal
        print(
            f"{count:>5}{concurrency:>9}{ideal:>9.2f}{seconds:>8.2f}{seconds / ideal:>12.2f}{most:>16}{growth:>11.1f}", flush=True
        )
    print(f"\naim: N=64, 16 at once, at most 1.2 times the ideal: {ratio:.2f}, {'reached' if ratio <= 1.2 else 'missed'}")


def _measure(count: int, concurrency: int, repetitions: int) -> tuple[float, int, float]:
    """The best seconds of some runs, the most requests that the server saw at once, and the growth of this process in MB."""
    _sample(16, 16)
    before = peak_megabytes()
    runs = [_sample(count, concurrency) for _ in range(repetitions)]
    return min(seconds for seconds, _ in runs), max(most for _, most in runs), peak_megabytes() - before


def _sample(count: int, concurrency: int) -> tuple[float, int]:
    """Seconds for one run, and the most requests that the server saw at once."""
    context = get_context("spawn")
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
