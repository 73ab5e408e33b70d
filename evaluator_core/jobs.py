"""Runs in the background, shared by the pages and the API: started, watched, cancelled and resumed by name.

One thread with one event loop does the asking; comparing is handed to other threads. A job goes on when whoever
started it goes away.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from evaluator_core.behaviour.inputs import check_calls
from evaluator_core.endpoint import Endpoint
from evaluator_core.errors import BehaviourStopped, EvaluatorError, ResultNotFound, RunCancelled, ServerBusy
from evaluator_core.evaluation import evaluate_plan, extend_run, resume_run, run_stored_answers
from evaluator_core.journal import Unfinished
from evaluator_core.plan import Plan, plan_of
from evaluator_core.sampling import Patience
from evaluator_core.store import Store
from evaluator_core.summary import row_of
from evaluator_core.terminal import printable
from evaluator_core.under_way import Evaluation, Progress

_KEPT = 500
_KEPT_WHOLE = 10
_RETRY_AFTER = 30

_log = logging.getLogger(__name__)
_Flow = Callable[[Callable[..., None]], Coroutine[Any, Any, Evaluation]]
"""Begins the work of a job, given a function that changes fields of the job."""


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    """Others are before it."""
    RUNNING = "running"
    """The model is being asked, or the answers compared."""
    DONE = "done"
    """Its numbers are there."""
    FAILED = "failed"
    """It ended with an error; what arrived is kept."""
    CANCELLED = "cancelled"
    """Somebody ended it; what arrived is kept."""


ENDED = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it stands at one moment."""

    job_id: str
    """Its name in this process."""
    plan: Plan
    """What is asked."""
    state: JobState
    """Where it stands."""
    progress: Progress
    """What has arrived."""
    run_id: str | None = None
    """The name under which it can be resumed, once it has begun."""
    evaluation: Evaluation | None = None
    """The finished run; of jobs that ended long ago only ``saved_file`` is kept."""
    saved_file: str | None = None
    """Path of the finished run's file."""
    error: EvaluatorError | None = None
    """Why it failed or was cancelled, for a person."""
    about: str | None = None
    """The file of the stored run that it works on; ``None`` for a new run."""


class JobRunner:
    """All jobs of one process."""

    def __init__(
        self, store: Store, *, at_once: int = 2, most_waiting: int | None = None, patience: Patience | None = None
    ) -> None:
        """Start the thread; ``at_once`` jobs run at the same time, the others wait in order, at most so many."""
        self._store = store
        self._most = None if most_waiting is None else at_once + most_waiting
        self._closing = False
        self._patience = patience
        self._jobs: dict[str, Job] = {}
        self._ended: dict[str, Future[Job]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._turn = asyncio.Semaphore(at_once)  # hands out turns in the order of asking
        self._thread = threading.Thread(target=self._loop.run_forever, name="jobs", daemon=True)
        self._thread.start()

    def start(self, plan: Plan) -> str:
        """Begin a run, or let it wait for its turn; the job's name."""

        def flow(update: Callable[..., None]) -> Coroutine[Any, Any, Evaluation]:
            return evaluate_plan(
                plan,
                self._store,
                on_progress=lambda progress: update(progress=progress),
                on_start=lambda run_id: update(run_id=run_id),
                patience=self._patience,
            )

        return self._submit(plan, Progress(plan.n_samples), None, flow)

    def resume(self, run_id: str, *, ask_missing: bool = True) -> str:
        """Go on with an unfinished run; the job's name."""
        unfinished = self._store.unfinished(run_id)
        endpoint = self._endpoint_with_key(lambda job: job.run_id == run_id)

        def flow(update: Callable[..., None]) -> Coroutine[Any, Any, Evaluation]:
            return resume_run(
                run_id,
                self._store,
                ask_missing=ask_missing,
                endpoint=endpoint,
                on_progress=lambda progress: update(progress=progress),
                patience=self._patience,
            )

        plan = replace(unfinished.plan, endpoint=endpoint) if endpoint else unfinished.plan
        return self._submit(plan, Progress(plan.n_samples, unfinished.replies), run_id, flow)

    def run_answers(self, name: str, calls: Sequence[str] = (), function: str | None = None) -> str:
        """Run the answers of a stored run in the sandbox; the job's name."""
        run = self._store.load(name)
        check_calls([sample.code for sample in run.score.samples], calls, function)

        def flow(update: Callable[..., None]) -> Coroutine[Any, Any, Evaluation]:
            return run_stored_answers(
                name, self._store, calls=calls, function=function, on_progress=lambda progress: update(progress=progress)
            )

        replies = tuple(sample.reply for sample in run.score.samples)
        return self._submit(plan_of(run), Progress(len(replies), replies, scoring=True), None, flow, name)

    def extend(self, name: str, *, more: int, points: float | None = None, field: str = "confidence_percent") -> str:
        """Ask for more answers of a stored run; the job's name."""
        run = self._store.load(name)
        endpoint = self._endpoint_with_key(lambda job: (job.saved_file or "").endswith(name))
        plan = plan_of(run) if endpoint is None else replace(plan_of(run), endpoint=endpoint)

        def flow(update: Callable[..., None]) -> Coroutine[Any, Any, Evaluation]:
            return extend_run(
                name,
                self._store,
                more=more,
                points=points,
                field=field,
                endpoint=endpoint,
                on_progress=lambda progress: update(progress=progress),
                on_start=lambda run_id: update(run_id=run_id),
                patience=self._patience,
            )

        replies = tuple(sample.reply for sample in run.score.samples)
        return self._submit(plan, Progress(plan.n_samples + more, replies, run.failures), None, flow, name)

    def unfinished(self, run_id: str) -> Unfinished:
        """What an interrupted run has so far."""
        return self._store.unfinished(run_id)

    def job(self, job_id: str) -> Job:
        """The job as it stands now."""
        try:
            return self._jobs[job_id]
        except KeyError:
            raise ResultNotFound(
                f"there is no job {job_id[:80]!r}; it may have been of an earlier start of this server"
            ) from None

    def jobs(self) -> tuple[Job, ...]:
        """All jobs, oldest first; of the ended ones the last few hundred."""
        with self._lock:
            return tuple(self._jobs.values())

    def cancel(self, job_id: str) -> None:
        """End a job soon; nothing happens to one that has ended."""
        self.job(job_id)
        # The loop's thread also makes the tasks, in order: this one is there when the call comes to it.
        self._loop.call_soon_threadsafe(lambda: self._tasks[job_id].cancel())

    def wait(self, job_id: str, timeout: float | None = None) -> Job:
        """The job once it has ended; ``TimeoutError`` when that takes longer."""
        return self.ended(job_id).result(timeout)

    def ended(self, job_id: str) -> Future[Job]:
        """What will hold the job once it has ended."""
        self.job(job_id)
        return self._ended[job_id]

    def cancel_all(self) -> None:
        """Take no more jobs, and end those under way soon, keeping what arrived. Returns at once: a signal may call it."""
        self._closing = True
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._tasks.values()])

    def close(self) -> None:
        """Cancel what is under way, keep what arrived, and end the thread."""
        self.cancel_all()
        for ended in list(self._ended.values()):
            ended.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _endpoint_with_key(self, of: Callable[[Job], bool]) -> Endpoint | None:
        """A key that was given for one use is in no file: while this process lives, the job that it was given to has it."""
        return next((job.plan.endpoint for job in reversed(self.jobs()) if of(job) and job.plan.endpoint.given_key), None)

    def _submit(self, plan: Plan, progress: Progress, run_id: str | None, flow: _Flow, about: str | None = None) -> str:
        with self._lock:
            if self._closing:
                raise ServerBusy("the server is being shut down: ask again when it is back", _RETRY_AFTER)
            if self._most is not None and sum(job.state not in ENDED for job in self._jobs.values()) >= self._most:
                raise ServerBusy(f"{self._most} runs are under way or waiting already: try again in a while", _RETRY_AFTER)
            job_id = secrets.token_hex(4)  # unlike a count, it never means another job after a restart
            self._jobs[job_id] = Job(job_id, plan, JobState.WAITING, progress, run_id, about=about)
            self._ended[job_id] = Future()
            self._ended[job_id].set_running_or_notify_cancel()  # whoever waits for it can give up, but not cancel it
            self._forget()
        self._loop.call_soon_threadsafe(self._make_task, job_id, flow)
        return job_id

    def _forget(self) -> None:
        """Keep the memory of ended jobs small: a thousand answers and their matrices are tens of megabytes."""
        ended = [job for job in self._jobs.values() if self._ended[job.job_id].done()]
        for job in ended[:-_KEPT]:
            del self._jobs[job.job_id], self._ended[job.job_id], self._tasks[job.job_id]
        for job in ended[-_KEPT:-_KEPT_WHOLE]:
            if job.evaluation is not None or job.progress.replies:
                slim = replace(job, evaluation=None, progress=Progress(job.progress.requested))
                self._jobs[job.job_id] = slim
                self._ended[job.job_id] = Future()
                self._ended[job.job_id].set_result(slim)

    def _make_task(self, job_id: str, flow: _Flow) -> None:
        task = self._tasks[job_id] = self._loop.create_task(self._run(job_id, flow))
        # Not at the end of the task's own work: a task that is cancelled before its first step does none.
        task.add_done_callback(lambda _: self._finish(job_id))
        if self._closing:
            task.cancel()

    def _update(self, job_id: str, **changes: Any) -> None:
        self._jobs[job_id] = replace(self._jobs[job_id], **changes)

    def _finish(self, job_id: str) -> None:
        if self._jobs[job_id].state not in ENDED:
            self._update(
                job_id,
                state=JobState.CANCELLED,
                error=EvaluatorError("cancelled before its turn came: nothing was asked"),
            )
        job = self._jobs[job_id]
        _log.info("%s", _log_line(job))
        self._ended[job_id].set_result(job)

    async def _run(self, job_id: str, flow: _Flow) -> None:
        update = partial(self._update, job_id)
        try:
            async with self._turn:
                update(state=JobState.RUNNING)
                evaluation = await flow(update)
                update(state=JobState.DONE, evaluation=evaluation, saved_file=evaluation.saved_file)
        except (RunCancelled, BehaviourStopped) as error:
            update(state=JobState.CANCELLED, error=error)
        except EvaluatorError as error:
            update(state=JobState.FAILED, error=error)
        except Exception as error:
            # A fault of this program must end the job, not hang whoever waits for it.
            _log.exception("job %s failed", job_id)
            update(
                state=JobState.FAILED, error=EvaluatorError(f"internal error: {type(error).__name__}; the log has the details")
            )


def _log_line(job: Job) -> str:
    """The job's end on one line, with nothing in it that could steer a terminal."""
    model = printable(f"{job.plan.endpoint.name}/{job.plan.model}", 80)
    if job.evaluation is None:
        return f"run {job.run_id or job.job_id} of {model} {job.state}: {printable(str(job.error), 300)}"
    row = row_of(job.evaluation.run, job.evaluation.saved_file)
    return (
        f"run of {model} done: agreement {row.agreement_percent}, confidence {row.confidence_percent}, normalized confidence "
        f"{row.normalized_confidence_percent}, {row.n_samples} answers, {printable(row.saved_file, 300)}"
    )
