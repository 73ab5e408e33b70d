"""A run in the sandbox is ended from outside: at once, with its processes, and with nothing told of what was not run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.in_run import with_behaviour
from evaluator_core.behaviour.records import Input, Kind, Outcome, Source, Step
from evaluator_core.behaviour.sandbox import Job, Sandbox
from tests.runs import make_run
from tests.served import sandbox_workers

HONEST = Job(0, "def f(x):\n    return x + 41")
ENDLESS = [Job(number, f"def f(x):\n    while True: x = {number}") for number in range(1, 100)]
INPUTS = tuple(Input(f"f({x})", Source.USER, (Step("f", f"({x},)"),)) for x in (1, 2, 3))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    box = Sandbox(workers=1)
    yield box
    box.close()


def workers() -> list[psutil.Process]:
    return sandbox_workers(psutil.Process())


@pytest.mark.parametrize("ended_by", ["its switch", "the end of the program"])
def test_a_run_ends_at_once_with_its_processes(sandbox: Sandbox, ended_by: str) -> None:
    begun, told, halt, others = threading.Event(), [], Halt(), workers()

    def progress(done: int, total: int) -> None:
        told.append(done)
        begun.set()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, [HONEST, *ENDLESS], INPUTS, progress, halt)
        begun.wait()  # the second answer runs now, for ever if nobody ends it
        before = [worker for worker in workers() if worker not in others]
        halt.call() if ended_by == "its switch" else sandbox.close()
        with pytest.raises(Halted):
            running.result()
    assert before
    assert psutil.wait_procs(before, timeout=5)[1] == []
    assert told == [1]
    # Others can use it as before.
    assert sandbox.run([HONEST], INPUTS[:1])[0].outcomes == (Outcome(Kind.VALUE, "42"),)


def test_a_switch_that_was_thrown_before_lets_nothing_begin(sandbox: Sandbox) -> None:
    halt, others = Halt(), workers()
    halt.call()
    with pytest.raises(Halted):
        sandbox.run([HONEST], INPUTS, halt=halt)
    assert workers() == others


def test_the_switch_of_one_run_leaves_another_alone() -> None:
    box, halt, begun = Sandbox(workers=2), Halt(), threading.Event()
    try:
        with ThreadPoolExecutor(2) as pool:
            endless = pool.submit(box.run, [HONEST, *ENDLESS], INPUTS, lambda done, total: begun.set(), halt)
            begun.wait()
            honest = pool.submit(box.run, [HONEST], INPUTS[:1])
            halt.call()
            with pytest.raises(Halted):
                endless.result()
            assert honest.result()[0].outcomes == (Outcome(Kind.VALUE, "42"),)
    finally:
        box.close()


def test_a_run_that_takes_too_long_is_stored_without_what_the_answers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_BEHAVIOUR_SECONDS", "1")
    run = make_run([job.code for job in ENDLESS])
    found = with_behaviour(run)
    assert found.behaviour is None
    assert "not done within 1 s, the limit of EVALUATOR_BEHAVIOUR_SECONDS" in found.score.notes[-1]
    assert found.score.metrics == run.score.metrics
