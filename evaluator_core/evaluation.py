"""The whole flow: sample → extract → compare → measure → store. From a plan, a journal or a stored run to stored numbers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.in_run import add_behaviour
from evaluator_core.endpoint import Endpoint
from evaluator_core.endpoints import endpoints
from evaluator_core.errors import BehaviourStopped, InvalidInput
from evaluator_core.journal import Extension
from evaluator_core.metrics import LABELS
from evaluator_core.plan import MAX_SAMPLES, Plan, make_plan, plan_of
from evaluator_core.sampling import Patience
from evaluator_core.settings import results_dir
from evaluator_core.store import Store
from evaluator_core.under_way import Evaluation, Progress, RunUnderWay, to_the_end

_Result = TypeVar("_Result")


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
    system_prompt, seed, concurrency, behaviour. ``resume`` names an unfinished run to go on with instead;
    ``ask_missing=False`` then scores what had arrived, and asks for nothing more.
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
        return await RunUnderWay(plan, created_at, journal, store, on_progress=on_progress, patience=patience).finish()


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
        saved = store.find_stored(unfinished)
        if saved is not None:  # it was stored, and the process ended before it could remove the journal
            journal.end()
            return Evaluation(store.load(saved.name), saved.as_posix())
        plan = replace(unfinished.plan, endpoint=endpoint) if endpoint else unfinished.plan
        run = RunUnderWay(
            plan, unfinished.created_at, journal, store, before=unfinished, on_progress=on_progress, patience=patience
        )
        return await run.finish(ask_missing=ask_missing)


async def extend_run(
    name: str,
    store: Store,
    *,
    more: int,
    points: float | None = None,
    field: str = "confidence_percent",
    endpoint: Endpoint | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    patience: Patience | None = None,
    on_start: Callable[[str], None] | None = None,
) -> Evaluation:
    """Ask for ``more`` answers of a stored run, with its own settings; its file becomes a new version of the same run.

    With ``points`` it stops as soon as the metric ``field`` is known to ± so many points, and at ``more`` at the latest.
    No answer is asked for twice: those that are there count.
    """
    run = store.load(name)
    known = endpoints()
    if endpoint is None and run.endpoint not in known:
        raise InvalidInput(
            f"there is no endpoint {run.endpoint[:80]!r} here to ask for more: set one up under that name, in the file of "
            f"EVALUATOR_ENDPOINTS; there are {', '.join(known)}"
        )
    plan = _extended_plan(plan_of(run), more, points, field)
    if endpoint is not None:
        plan = replace(plan, endpoint=endpoint)
    with store.start_extension(plan, run, Extension(name, run.settings.n_requested, points, field)) as journal:
        if on_start is not None:
            on_start(journal.run_id)
        before = store.unfinished(journal.run_id)
        under_way = RunUnderWay(plan, run.created_at, journal, store, before=before, on_progress=on_progress, patience=patience)
        return await under_way.finish()


def _extended_plan(plan: Plan, more: int, points: float | None, field: str) -> Plan:
    problems = []
    if not 1 <= more <= MAX_SAMPLES - plan.n_samples:
        problems.append(f"more: {more} is not from 1 to {MAX_SAMPLES - plan.n_samples}, so that there are {MAX_SAMPLES} at most")
    if points is not None and not 0.5 <= points <= 50:
        problems.append(f"points: {points:g} is not from 0.5 to 50")
    if field not in LABELS:
        problems.append(f"field: {field[:60]!r} is none of {', '.join(LABELS)}")
    if problems:
        raise InvalidInput("; ".join(problems))
    return replace(plan, n_samples=plan.n_samples + more)


def extend(name: str, *, more: int = 5, points: float | None = None, store: Store | None = None, **options: Any) -> Evaluation:
    """Ask for more answers of a stored run, as ``extend_run`` does; ``points=5`` stops once confidence is known to ± 5."""
    return run_here(extend_run(name, store or Store.open(results_dir()), more=more, points=points, **options))


async def run_stored_answers(
    name: str,
    store: Store,
    *,
    calls: Sequence[str] = (),
    function: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Evaluation:
    """Run the answers of a stored run in the sandbox, and keep in its file what they do. No model is asked."""
    halt = Halt()

    def work() -> Evaluation:
        run = store.load(name)
        replies = tuple(sample.reply for sample in run.score.samples)

        def report(stage: str) -> None:
            if on_progress is not None:
                on_progress(Progress(len(replies), replies, scoring=True, stage=stage))

        run = add_behaviour(run, calls=calls, function=function, on_progress=report, halt=halt)
        return Evaluation(run, store.add_behaviour(name, run).as_posix())

    try:
        return await to_the_end(work, halt)
    except Halted:
        raise BehaviourStopped("cancelled before every answer had been run; the stored run is as it was") from None


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
