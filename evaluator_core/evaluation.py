"""The whole flow: sample → extract → compare → measure → store. One run, from a plan to its stored numbers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from evaluator_core.endpoint import Endpoint
from evaluator_core.errors import ModelNotFound, NotEnoughSamples, RequestRefused, RunCancelled
from evaluator_core.journal import Journal
from evaluator_core.plan import Plan, make_plan
from evaluator_core.sampling import Dialect, Outcome, Patience, sample
from evaluator_core.scoring import score_replies
from evaluator_core.settings import results_dir
from evaluator_core.store import Store
from evaluator_core.types import Reply, Run, RunSettings, SampleFailure, Score

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A finished run and where it is stored."""

    run: Run
    """What was asked, what came, and how it scored."""
    saved_file: str
    """Path of its JSON file."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    requested: int
    """Answers wanted in all."""
    replies: tuple[Reply, ...] = ()
    """Answers so far, in order of index."""
    failures: tuple[SampleFailure, ...] = ()
    """Requests that brought nothing."""
    scoring: bool = False
    """Whether every request has ended and the answers are being compared."""

    @property
    def waiting(self) -> int:
        """Requests that have not ended."""
        return self.requested - len(self.replies) - len(self.failures)


def evaluate(
    prompt: str = "",
    *,
    resume: str | None = None,
    ask_missing: bool = True,
    store: Store | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    patience: Patience | None = None,
    **values: Any,
) -> Evaluation:
    """Ask a model N times, compare the answers, and store the run.

    ``values`` are the fields of a request: model, endpoint, n_samples, threshold, temperature, max_tokens, language,
    system_prompt, seed, concurrency. ``resume`` names an unfinished run to go on with instead; ``ask_missing=False``
    then scores what had arrived, and asks for nothing more.
    """
    store = store or Store.open(results_dir())
    if resume is None:
        return run_here(evaluate_plan(make_plan({"prompt": prompt, **values}), store, on_progress=on_progress, patience=patience))
    flow = resume_run(resume, store, ask_missing=ask_missing, on_progress=on_progress, patience=patience)
    return run_here(flow)


async def evaluate_plan(
    plan: Plan,
    store: Store,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    patience: Patience | None = None,
    on_start: Callable[[str], None] | None = None,
) -> Evaluation:
    """Run a plan. ``on_start`` is told the run's name, under which it can be resumed should it be interrupted."""
    created_at = datetime.now().astimezone()
    with store.start_journal(plan, created_at) as journal:
        if on_start is not None:
            on_start(journal.run_id)
        return await _work(plan, created_at, (), journal, store, on_progress, patience, ask_missing=True)


async def resume_run(
    run_id: str,
    store: Store,
    *,
    ask_missing: bool = True,
    endpoint: Endpoint | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    patience: Patience | None = None,
) -> Evaluation:
    """Go on with an unfinished run. ``endpoint`` stands in for one whose key was given for one use."""
    with store.reopen_journal(run_id) as journal:
        unfinished = store.unfinished(run_id)
        saved = store.find_saved(unfinished.created_at)
        if saved is not None:  # it was stored, and the process ended before it could remove the journal
            journal.end()
            return Evaluation(store.load(saved.name), saved.as_posix())
        plan = replace(unfinished.plan, endpoint=endpoint) if endpoint else unfinished.plan
        return await _work(
            plan, unfinished.created_at, unfinished.replies, journal, store, on_progress, patience, ask_missing=ask_missing
        )


async def _work(
    plan: Plan,
    created_at: datetime,
    arrived: tuple[Reply, ...],
    journal: Journal,
    store: Store,
    on_progress: Callable[[Progress], None] | None,
    patience: Patience | None,
    *,
    ask_missing: bool,
) -> Evaluation:
    replies = {reply.index: reply for reply in arrived}
    failures: dict[int, SampleFailure] = {}
    dialect = Dialect()

    def report(*, scoring: bool = False) -> None:
        if on_progress is not None:
            in_order = tuple(replies[index] for index in sorted(replies))
            failed = tuple(failures[index] for index in sorted(failures))
            on_progress(Progress(plan.n_samples, in_order, failed, scoring))

    def keep(outcome: Outcome) -> None:
        journal.add(outcome)  # on disk before the next is awaited
        if isinstance(outcome, Reply):
            replies[outcome.index] = outcome
        else:
            failures[outcome.index] = outcome
        report()

    report()
    if ask_missing:
        missing = [index for index in range(plan.n_samples) if index not in replies]
        try:
            await sample(plan, missing, keep, patience=patience, dialect=dialect)
        except asyncio.CancelledError:
            raise RunCancelled(_what_remains(len(replies), plan.n_samples, journal.run_id), journal.run_id) from None
        except (ModelNotFound, RequestRefused):
            if not replies:
                journal.end()  # nothing was paid for, and the same request would be refused again
            raise
    if len(replies) < 2:
        reasons = "; ".join(sorted({f"{failure.kind}: {failure.message}" for failure in failures.values()})[:3])
        raise NotEnoughSamples(
            f"{len(replies)} of {plan.n_samples} answers arrived, and it takes two to compare"
            + (f" ({reasons})" if reasons else "")
            + f"; what arrived is kept: go on later with --resume {journal.run_id}",
            journal.run_id,
        )
    report(scoring=True)
    in_order = [replies[index] for index in sorted(replies)]
    failed = tuple(failures[index] for index in sorted(failures))

    def finish() -> Evaluation:
        score = score_replies(in_order, plan.language, plan.threshold, plan.prompt)
        run = _run(plan, created_at, score, failed, dialect)
        path = store.save(run)
        journal.end()
        return Evaluation(run, path.as_posix())

    return await _to_the_end(finish)


async def _to_the_end(work: Callable[[], _Result]) -> _Result:
    """The result of work in another thread. A cancel that comes when it has begun comes too late: it ends well."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task


def _run(plan: Plan, created_at: datetime, score: Score, failures: tuple[SampleFailure, ...], dialect: Dialect) -> Run:
    missing = plan.n_samples - len(score.samples)
    notes = [*dialect.notes()]
    if missing:
        notes.append(
            f"{missing} of {plan.n_samples} requests brought no answer; the numbers are over the {len(score.samples)} that did."
        )
    return Run(
        created_at=created_at,
        model=plan.model,
        endpoint=plan.endpoint.name,
        question=plan.prompt,
        settings=RunSettings(
            n_requested=plan.n_samples,
            temperature=None if "temperature" in dialect.refused else plan.temperature,
            max_tokens=plan.max_tokens,
            system_prompt=plan.system_prompt or None,
            seed=None if "seed" in dialect.refused else plan.seed,
        ),
        score=replace(score, notes=(*score.notes, *notes)),
        failures=failures,
    )


def _what_remains(arrived: int, requested: int, run_id: str) -> str:
    kept = f"cancelled with {arrived} of {requested} answers, which are kept: go on later with --resume {run_id}"
    return f"{kept}, or score what arrived with --resume {run_id} --as-is" if arrived >= 2 else kept


def run_here(flow: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of a coroutine, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(flow)
    results: list[_Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(flow))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
