"""The whole flow of behaviour: codes → inputs → outcomes → groups → numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from evaluator_core.behaviour.clusters import find_witness, group_trials, in_contract, measure_groups
from evaluator_core.behaviour.correctness import check_expectations
from evaluator_core.behaviour.definitions import is_empty
from evaluator_core.behaviour.halt import Halt
from evaluator_core.behaviour.inputs import choose_inputs
from evaluator_core.behaviour.records import Behaviour, BehaviourMetrics, Group, Input, Kind, Outcome, Source, Status, Trial
from evaluator_core.behaviour.sandbox import Job, Sandbox, engine_name, shared_sandbox
from evaluator_core.behaviour.showing import STATUSES
from evaluator_core.behaviour.shrink import smaller_inputs
from evaluator_core.types import Sample

SHRINK_ROUNDS, SHRINK_INPUTS, SHRINK_GROUPS = 3, 24, 6

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and how much there is."""


def run_behaviour(
    samples: Sequence[Sample | str],
    prompt: str,
    *,
    calls: Iterable[str] = (),
    function: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
    halt: Halt | None = None,
) -> Behaviour:
    """Run the answers on the same inputs in the sandbox, and group them by what they do.

    ``calls`` are the user's own, one a line, with or without ``== expected``; ``function`` names what to call, where the
    prompt and the answers do not tell. ``workers`` asks for workers of one's own instead of the shared ones. ``halt`` ends it
    from another thread, with ``Halted``.
    """
    codes = {
        (place if isinstance(sample, str) else sample.index): (sample if isinstance(sample, str) else sample.code)
        for place, sample in enumerate(samples)
    }
    engine = engine_name()
    target, inputs = choose_inputs(list(codes.values()), prompt, list(calls), function)
    name = target.name if target else None
    own = Sandbox(workers) if workers else None
    halt = halt or Halt()
    try:
        box = own or shared_sandbox()
        trials = _run(box, codes, name, inputs, progress, "run", halt)
        counted = in_contract(inputs, trials)
        groups = group_trials(trials, counted, codes)
        shrunk = _shrink(box, codes, inputs, counted, trials, groups, halt)
        if shrunk:
            more = _run(box, codes, name, shrunk, progress, "explain", halt)
            trials, inputs, counted = _joined(trials, more), (*inputs, *shrunk), (*counted, *[False] * len(shrunk))
    finally:
        if own:
            own.close()
    largest = groups[0] if groups and len(groups[0].members) > 1 else None
    return Behaviour(
        engine=engine,
        target=name,
        inputs=inputs,
        in_verdict=counted,
        trials=trials,
        groups=groups,
        metrics=measure_groups(groups, len(codes)),
        consensus=largest.typical if largest else None,
        correctness=check_expectations(inputs, trials),
        notes=tuple(_notes(inputs, counted, trials)),
    )


def _run(
    box: Sandbox,
    codes: dict[int, str],
    name: str | None,
    inputs: Sequence[Input],
    progress: Progress | None,
    stage: str,
    halt: Halt,
) -> tuple[Trial, ...]:
    trials, jobs = {}, []
    for index, code in codes.items():
        if not code.strip():
            trials[index] = Trial(index, Status.NO_CODE, "holds no code")
        elif name is not None and is_empty(code, name):
            trials[index] = Trial(index, Status.EMPTY, "has no body")
        else:
            jobs.append(Job(index, code))
    if inputs:
        told = (lambda done, total: progress(stage, done, total)) if progress else None
        trials |= {trial.index: trial for trial in box.run(jobs, inputs, told, halt)}
    return tuple(trials[index] for index in sorted(trials))


def _shrink(
    box: Sandbox,
    codes: dict[int, str],
    inputs: Sequence[Input],
    counted: Sequence[bool],
    trials: Sequence[Trial],
    groups: Sequence[Group],
    halt: Halt,
) -> tuple[Input, ...]:
    """Smaller inputs on which the typical answers of the largest groups still differ."""
    heads = [group.typical for group in groups[:SHRINK_GROUPS]]
    if len(heads) < 2:
        return ()
    few = tuple(trial for trial in trials if trial.index in heads)
    draft = Behaviour(
        "", None, tuple(inputs), tuple(counted), few, tuple(groups), BehaviourMetrics(None, None, None, None), None, None
    )
    known = {item.text for item in inputs}
    for _ in range(SHRINK_ROUNDS):
        starts = _witness_inputs(draft, heads)
        share = max(2, SHRINK_INPUTS // max(1, len(starts)))
        wanted: dict[str, Input] = {}
        for start in starts:
            for item in smaller_inputs(start, share):
                if item.text not in known and len(wanted) < SHRINK_INPUTS:
                    wanted[item.text] = item
        if not wanted:
            break
        known |= wanted.keys()
        more = box.run([Job(head, codes[head]) for head in heads], tuple(wanted.values()), halt=halt)
        if any(trial.status is not Status.RAN for trial in more):
            break
        draft = replace(
            draft,
            inputs=(*draft.inputs, *wanted.values()),
            in_verdict=(*draft.in_verdict, *[False] * len(wanted)),
            trials=_joined(few if draft.trials is few else draft.trials, more),
        )
    return tuple(item for item in _witness_inputs(draft, heads) if item.source is Source.SHRUNK)


def _witness_inputs(draft: Behaviour, heads: Sequence[int]) -> list[Input]:
    found: dict[str, Input] = {}
    for place, first in enumerate(heads):
        for second in heads[place + 1 :]:
            witness = find_witness(draft, first, second)
            if witness:
                found[witness.input.text] = witness.input
    return list(found.values())


def _joined(trials: Sequence[Trial], more: Sequence[Trial]) -> tuple[Trial, ...]:
    later = {trial.index: trial for trial in more}
    count = max((len(trial.outcomes) for trial in more), default=0)
    joined = []
    for trial in trials:
        added = later.get(trial.index)
        if trial.status is Status.RAN and added is not None and added.status is Status.RAN:
            trial = replace(trial, outcomes=trial.outcomes + added.outcomes)
        elif trial.status is Status.RAN and added is not None:
            # It cannot run on the smaller inputs alone: what it did before stands.
            skipped = (Outcome(Kind.SKIPPED),) * count
            trial = replace(trial, outcomes=trial.outcomes + skipped)
        joined.append(trial)
    return tuple(joined)


def _notes(inputs: Sequence[Input], counted: Sequence[bool], trials: Sequence[Trial]) -> list[str]:
    notes, total = [], len(trials)
    tried = [place for place, item in enumerate(inputs) if item.source is not Source.SHRUNK]
    if not tried:
        return ["No inputs were found: give calls, one a line, such as f([1, 2], 3)."]
    left_out = sum(not counted[place] for place in tried)
    if left_out:
        notes.append(f"{left_out} of {len(tried)} inputs are left out of the verdict: too many answers fail on them.")
    for status, words in STATUSES.items():
        count = sum(trial.status is status for trial in trials)
        if count:
            they = "they agree" if count > 1 else "it agrees"
            notes.append(f"{count} of {total} answers {words[count > 1]}; {they} with none.")
    return notes
