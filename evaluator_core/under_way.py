"""One run under way: what is missing is asked for, every answer is kept as it comes, then all is compared and stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.in_run import with_behaviour
from evaluator_core.errors import ModelNotFound, NotEnoughSamples, RequestRefused, RunCancelled
from evaluator_core.journal import Extension, Journal, Unfinished
from evaluator_core.plan import Plan
from evaluator_core.sampling import Dialect, Outcome, Patience, sample
from evaluator_core.scoring import score_replies
from evaluator_core.statistics import needed_for
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
    stage: str = ""
    """What else is to be said of it, for a person; ``""`` when nothing is."""

    @property
    def waiting(self) -> int:
        """Requests that have not ended."""
        return self.requested - len(self.replies) - len(self.failures)


class RunUnderWay:
    """The answers of one run, from the first request to the stored numbers."""

    def __init__(
        self,
        plan: Plan,
        created_at: datetime,
        journal: Journal,
        store: Store,
        *,
        before: Unfinished | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        patience: Patience | None = None,
    ) -> None:
        """``before`` is what had arrived when the journal was opened."""
        self._plan, self._created_at, self._journal, self._store = plan, created_at, journal, store
        self._on_progress, self._patience = on_progress, patience
        self._extension = before.extension if before else None
        self._replies = {reply.index: reply for reply in before.replies} if before else {}
        self._failures = {failure.index: failure for failure in before.failures} if before else {}
        self._dialect = Dialect(before.refused if before else ())
        self._stage = ""

    async def finish(self, *, ask_missing: bool = True) -> Evaluation:
        """Ask for what is missing, unless told not to; then compare all answers and store the run."""
        if ask_missing:
            await self._ask()
        elif self._extension:
            self._plan = replace(self._plan, n_samples=max((*self._replies, *self._failures)) + 1)
        if len(self._replies) < 2:
            raise self._not_enough()
        if self._extension and max(self._replies) < self._extension.since:
            return self._nothing_new(self._extension)
        self._stage = ""
        self._report(scoring=True)
        halt = Halt()
        try:
            return await to_the_end(lambda: self._compare_and_store(halt), halt)
        except Halted:
            raise self._cancelled() from None

    async def _ask(self) -> None:
        since = self._extension.since if self._extension else 0
        # What failed is asked for again; what had failed in the run that is extended stays as it was.
        self._failures = {index: failure for index, failure in self._failures.items() if index < since}
        known = self._replies.keys() | self._failures.keys()
        missing = [index for index in range(self._plan.n_samples) if index not in known]
        self._report()
        try:
            while missing:
                count = len(missing)
                if self._extension and self._extension.points is not None:
                    count = min(count, await asyncio.to_thread(self._next_batch, self._extension))
                    if not count:
                        self._plan = replace(self._plan, n_samples=missing[0])
                        return
                batch, missing = missing[:count], missing[count:]
                await sample(self._plan, batch, self._keep, patience=self._patience, dialect=self._dialect)
        except asyncio.CancelledError:
            raise self._cancelled() from None
        except (ModelNotFound, RequestRefused):
            if not any(index >= since for index in self._replies):
                self._journal.end()  # nothing new was paid for, and the same request would be refused again
            raise

    def _next_batch(self, goal: Extension) -> int:
        """How many answers to ask for before looking again; 0 when the number is known well enough.

        Half of what seems to be missing, so that the end is approached in small steps and not overshot by many.
        """
        plan = self._plan
        score = score_replies(self._in_order(), plan.language, plan.threshold, plan.prompt)
        half_width, needed = needed_for(score, goal.field, goal.points or 0.0)
        if half_width is not None:
            self._stage = f"± {half_width:.1f} points so far, and ± {goal.points:g} are wanted"
            self._report()
            if half_width <= (goal.points or 0.0):
                return 0
        return max(1, min(plan.concurrency, (needed - len(score.samples)) // 2)) if needed else 1

    def _keep(self, outcome: Outcome) -> None:
        self._journal.add(outcome, self._dialect.refused)  # on disk before the next is awaited
        if isinstance(outcome, Reply):
            self._replies[outcome.index] = outcome
        else:
            self._failures[outcome.index] = outcome
        self._report()

    def _compare_and_store(self, halt: Halt) -> Evaluation:
        plan = self._plan
        score = score_replies(self._in_order(), plan.language, plan.threshold, plan.prompt)
        run = _run_of(plan, self._created_at, score, self._failed(), self._dialect)
        stored = self._store.load(self._extension.name) if self._extension else None
        if plan.behaviour:
            like = stored.behaviour if stored else None
            run = with_behaviour(run, like=like, on_progress=lambda stage: self._report(scoring=True, stage=stage), halt=halt)
        path = self._store.renew(self._extension.name, run) if self._extension else self._store.save(run)
        self._journal.end()
        return Evaluation(self._store.load(path.name) if self._extension else run, path.as_posix())

    def _in_order(self) -> tuple[Reply, ...]:
        return tuple(self._replies[index] for index in sorted(self._replies))

    def _failed(self) -> tuple[SampleFailure, ...]:
        return tuple(self._failures[index] for index in sorted(self._failures))

    def _report(self, *, scoring: bool = False, stage: str = "") -> None:
        if self._on_progress is not None:
            self._on_progress(Progress(self._plan.n_samples, self._in_order(), self._failed(), scoring, stage or self._stage))

    def _nothing_new(self, extension: Extension) -> Evaluation:
        """The stored run as it is, when its number was known already; an error, when it was asked for more and nothing came."""
        if failed := sum(index >= extension.since for index in self._failures):
            raise NotEnoughSamples(
                f"none of {failed} further requests brought an answer{self._reasons()}; {extension.name} is as it was: "
                f"go on later with --resume {self._journal.run_id}",
                self._journal.run_id,
            )
        self._journal.end()
        path = self._store.path_of(extension.name)
        return Evaluation(self._store.load(path.name), path.as_posix())

    def _reasons(self) -> str:
        reasons = "; ".join(sorted({f"{failure.kind}: {failure.message}" for failure in self._failures.values()})[:3])
        return f" ({reasons})" if reasons else ""

    def _not_enough(self) -> NotEnoughSamples:
        return NotEnoughSamples(
            f"{len(self._replies)} of {self._plan.n_samples} answers arrived, and it takes two to compare"
            + self._reasons()
            + f"; what arrived is kept: go on later with --resume {self._journal.run_id}",
            self._journal.run_id,
        )

    def _cancelled(self) -> RunCancelled:
        arrived, run_id = len(self._replies), self._journal.run_id
        message = (
            f"cancelled with {arrived} of {self._plan.n_samples} answers, which are kept: go on later with --resume {run_id}"
        )
        if arrived >= 2:
            message += f", or score what arrived with --resume {run_id} --as-is"
        return RunCancelled(message, run_id)


async def to_the_end(work: Callable[[], _Result], halt: Halt) -> _Result:
    """The result of work in another thread. A cancel ends what the sandbox runs; where nothing runs there, it comes too late."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        halt.call()
        return await task


def _run_of(plan: Plan, created_at: datetime, score: Score, failures: tuple[SampleFailure, ...], dialect: Dialect) -> Run:
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
