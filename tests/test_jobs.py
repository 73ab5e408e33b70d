"""Jobs in the background, on a real server: order, progress, cancel, resume, and an end to each of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from evaluator_core.endpoint import custom_endpoint
from evaluator_core.errors import AuthenticationFailed, ResultNotFound, RunCancelled
from evaluator_core.jobs import JobRunner, JobState
from evaluator_core.plan import Plan, make_plan
from evaluator_core.settings import results_dir
from evaluator_core.store import Store
from tests.conftest import QUICK
from tests.model_server import KEY, Answer, ModelServer, failure, replay


@pytest.fixture
def store() -> Store:
    return Store(results_dir())


@pytest.fixture
def runner(store: Store) -> Iterator[JobRunner]:
    running = JobRunner(store, at_once=1, patience=QUICK)
    yield running
    running.close()


@pytest.fixture
def gate(openai_at: ModelServer) -> Iterator[threading.Event]:
    """While it is not set, the server answers the first two requests of a run and holds back the others."""
    opened = threading.Event()

    def script(number: int, body: dict[str, Any]) -> Answer:
        if body["seed"] >= 2:
            opened.wait(60)
        return replay(number, body)

    openai_at.script = script
    yield opened
    opened.set()


def plan(prompt: str = "Write f.", n_samples: int = 4) -> Plan:
    return make_plan({"prompt": prompt, "model": "openai/replayed", "n_samples": n_samples, "seed": 0, "concurrency": 4})


def arrived(runner: JobRunner, job_id: str, count: int, server: ModelServer) -> None:
    """Wait until a job has that many answers; the server's own count comes a moment earlier than the job's."""
    deadline = threading.Event()
    for _ in range(1000):
        if len(runner.job(job_id).progress.replies) >= count:
            return
        deadline.wait(0.01)
    raise AssertionError(f"{runner.job(job_id)} on {server.answered} answers")


def test_a_job_ends_with_a_stored_run(runner: JobRunner, openai_at: ModelServer, store: Store) -> None:
    job = runner.wait(runner.start(plan()), 60)
    assert job.state is JobState.DONE
    assert job.evaluation is not None
    assert job.evaluation.saved_file == store.summary().rows[0].saved_file
    assert (len(job.progress.replies), job.progress.waiting, job.progress.scoring) == (4, 0, True)


def test_what_has_arrived_can_be_seen_while_it_runs(runner: JobRunner, gate: threading.Event, openai_at: ModelServer) -> None:
    job_id = runner.start(plan())
    arrived(runner, job_id, 2, openai_at)
    job = runner.job(job_id)
    assert job.state is JobState.RUNNING
    assert [reply.index for reply in job.progress.replies] == [0, 1]
    assert job.run_id is not None
    gate.set()
    assert runner.wait(job_id, 60).state is JobState.DONE


def test_no_more_run_at_once_than_allowed_and_the_rest_in_order(
    runner: JobRunner, gate: threading.Event, openai_at: ModelServer, store: Store
) -> None:
    names = [runner.start(plan(prompt)) for prompt in ("first", "second", "third")]
    arrived(runner, names[0], 2, openai_at)
    assert [job.state for job in runner.jobs()] == [JobState.RUNNING, JobState.WAITING, JobState.WAITING]
    gate.set()
    assert [runner.wait(name, 60).state for name in names] == [JobState.DONE] * 3
    assert [row.question for row in store.summary().rows] == ["first", "second", "third"]


def test_cancel_keeps_what_arrived_and_resume_goes_on(
    runner: JobRunner, gate: threading.Event, openai_at: ModelServer, store: Store
) -> None:
    job_id = runner.start(plan())
    arrived(runner, job_id, 2, openai_at)
    openai_at.wait_for_requests(4)  # one that comes late would look like a request of the resumed run
    runner.cancel(job_id)
    job = runner.wait(job_id, 60)
    assert job.state is JobState.CANCELLED
    assert isinstance(job.error, RunCancelled)
    assert store.interrupted() == (job.run_id,)
    assert job.run_id is not None

    gate.set()
    before = len(openai_at.requests)
    resumed = runner.resume(job.run_id)
    assert runner.wait(resumed, 60).state is JobState.DONE
    assert sorted(body["seed"] for body in openai_at.requests[before:]) == [2, 3]
    assert store.interrupted() == ()


def test_a_key_for_one_use_serves_the_resume_in_the_same_process(
    runner: JobRunner, gate: threading.Event, openai_at: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = custom_endpoint(openai_at.base_url, name="elsewhere", key=KEY)
    job_id = runner.start(replace(plan(), endpoint=endpoint))
    arrived(runner, job_id, 2, openai_at)
    runner.cancel(job_id)
    job = runner.wait(job_id, 60)
    assert job.run_id is not None
    gate.set()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    assert runner.wait(runner.resume(job.run_id), 60).state is JobState.DONE


def test_cancel_of_a_waiting_job_asks_nothing(runner: JobRunner, gate: threading.Event, openai_at: ModelServer) -> None:
    first, second = runner.start(plan("first")), runner.start(plan("second"))
    arrived(runner, first, 2, openai_at)
    runner.cancel(second)
    job = runner.wait(second, 60)
    assert job.state is JobState.CANCELLED
    assert "nothing was asked" in str(job.error)
    gate.set()
    runner.wait(first, 60)
    assert {body["messages"][-1]["content"] for body in openai_at.requests} == {"first"}


def test_a_failed_job_says_why_and_the_next_one_runs(runner: JobRunner, openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: failure(401)
    failed = runner.wait(runner.start(plan()), 60)
    assert failed.state is JobState.FAILED
    assert isinstance(failed.error, AuthenticationFailed)
    assert KEY not in repr(failed)
    openai_at.script = replay
    assert runner.wait(runner.start(plan()), 60).state is JobState.DONE


def test_closing_ends_what_runs_and_keeps_it(store: Store, gate: threading.Event, openai_at: ModelServer) -> None:
    runner = JobRunner(store, at_once=1, patience=QUICK)
    job_id = runner.start(plan())
    arrived(runner, job_id, 2, openai_at)
    runner.close()
    assert len(store.unfinished(store.interrupted()[0]).replies) == 2


def test_unknown_names_are_not_found(runner: JobRunner) -> None:
    for call in (runner.job, runner.cancel, runner.wait, runner.resume):
        with pytest.raises(ResultNotFound):
            call("../job-1")
