"""What the answers of a run do, as a part of the run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from evaluator_core.behaviour.examples import user_calls
from evaluator_core.behaviour.flow import run_behaviour
from evaluator_core.behaviour.halt import Halt, Halted
from evaluator_core.behaviour.records import Behaviour
from evaluator_core.errors import AssetUnavailable, BehaviourStopped, InvalidInput, SandboxUnavailable
from evaluator_core.settings import behaviour_seconds
from evaluator_core.types import Run

_NOT_RUN = "The answers were not run: "
_STAGES = {"run": "Running the answers", "explain": "Looking for the smallest inputs on which they part"}


def add_behaviour(
    run: Run,
    *,
    calls: Sequence[str] = (),
    function: str | None = None,
    on_progress: Callable[[str], None] | None = None,
    halt: Halt | None = None,
) -> Run:
    """The run with what its answers do on ``calls`` and other inputs; ``function`` names what to call, where it must be said.

    ``on_progress`` is told what is being done, for a person. ``halt`` ends it from another thread, with ``Halted``; what takes
    too long ends with ``BehaviourStopped``.
    """
    if run.score.language != "python":
        raise InvalidInput(f"only Python can be run, and these answers were read as {run.score.language}")
    tell = on_progress or (lambda stage: None)
    tell("Starting the sandbox; the very first time takes some seconds more")
    halt, too_long, limit = halt or Halt(), threading.Event(), behaviour_seconds()

    def end() -> None:
        too_long.set()
        halt.call()

    alarm = threading.Timer(limit, end)
    alarm.daemon = True
    alarm.start()
    try:
        found = run_behaviour(
            run.score.samples,
            run.question,
            calls=calls,
            function=function,
            progress=lambda stage, done, total: tell(f"{_STAGES[stage]}: {done} of {total}"),
            halt=halt,
        )
    except Halted:
        if not too_long.is_set():
            raise
        raise BehaviourStopped(
            f"it was not done within {limit} s, the limit of EVALUATOR_BEHAVIOUR_SECONDS; raise it, or give fewer calls"
        ) from None
    finally:
        alarm.cancel()
    notes = tuple(note for note in run.score.notes if not note.startswith(_NOT_RUN))
    return replace(run, behaviour=found, score=replace(run.score, notes=notes))


def with_behaviour(
    run: Run,
    *,
    like: Behaviour | None = None,
    on_progress: Callable[[str], None] | None = None,
    halt: Halt | None = None,
) -> Run:
    """The run with what its answers do; where they cannot be run, a note says why, and nothing else is lost.

    ``like`` is what fewer of its answers did: its calls and its function are used again.
    """
    try:
        calls = user_calls(like.inputs) if like else ()
        return add_behaviour(run, calls=calls, function=like.target if like else None, on_progress=on_progress, halt=halt)
    except (InvalidInput, AssetUnavailable, SandboxUnavailable, BehaviourStopped) as error:
        return replace(run, score=replace(run.score, notes=(*run.score.notes, f"{_NOT_RUN}{error}")))
