"""The ``behaviour`` part of a stored run: a record as plain JSON values, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from evaluator_core.behaviour.records import (
    Behaviour,
    BehaviourMetrics,
    Correctness,
    Group,
    Input,
    Kind,
    Outcome,
    Source,
    Status,
    Step,
    Trial,
)
from evaluator_core.errors import ResultDamaged

VERSION = 1


def to_json(behaviour: Behaviour) -> dict[str, Any]:
    """The record as values that JSON takes; ``from_json`` gives an equal record."""
    return {
        "version": VERSION,
        "engine": behaviour.engine,
        "target": behaviour.target,
        "inputs": [
            asdict(item) | {"source": item.source.value, "in_verdict": counted}
            for item, counted in zip(behaviour.inputs, behaviour.in_verdict, strict=True)
        ],
        "samples": [
            {
                "index": trial.index,
                "status": trial.status.value,
                "detail": trial.detail,
                "outcomes": [{"kind": outcome.kind.value, "value": outcome.text} for outcome in trial.outcomes],
            }
            for trial in behaviour.trials
        ],
        "groups": [asdict(group) for group in behaviour.groups],
        "metrics": asdict(behaviour.metrics),
        "consensus": behaviour.consensus,
        "correctness": asdict(behaviour.correctness) if behaviour.correctness else None,
        "notes": list(behaviour.notes),
    }


def from_json(data: Mapping[str, Any]) -> Behaviour:
    """The record that ``to_json`` made; ``ResultDamaged`` for anything else."""
    try:
        if data["version"] > VERSION:
            raise ResultDamaged("its behaviour was written by a newer version of this program: update to open it")
        return _behaviour(data)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ResultDamaged(f"its behaviour cannot be read ({type(error).__name__}: {error})") from error


def read_metrics(data: Any) -> BehaviourMetrics | None:
    """The numbers alone; ``None`` when there is nothing to read."""
    try:
        return _metrics(data["metrics"])
    except (KeyError, TypeError, ValueError):
        return None


def _behaviour(data: Mapping[str, Any]) -> Behaviour:
    inputs = tuple(_input(item) for item in data["inputs"])
    trials = tuple(_trial(item, len(inputs)) for item in data["samples"])
    correctness = data["correctness"]
    return Behaviour(
        engine=_text(data["engine"]),
        target=data["target"],
        inputs=inputs,
        in_verdict=tuple(bool(item["in_verdict"]) for item in data["inputs"]),
        trials=trials,
        groups=tuple(Group(tuple(group["members"]), group["typical"]) for group in data["groups"]),
        metrics=_metrics(data["metrics"]),
        consensus=data["consensus"],
        correctness=correctness
        and Correctness(
            correctness["expectations"],
            tuple((index, met) for index, met in correctness["met"]),
            correctness["pass_percent"],
            tuple((k, share) for k, share in correctness["pass_at"]),
        ),
        notes=tuple(map(_text, data["notes"])),
    )


def _metrics(data: Mapping[str, Any]) -> BehaviourMetrics:
    for name, value in data.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise TypeError(f"{name} is {value!r:.60}, which is no number")
    return BehaviourMetrics(**data)


def _input(item: Mapping[str, Any]) -> Input:
    steps = tuple(
        Step(_text(step["name"]), _text(step["arguments"]), _text(step["named"]), step.get("apart") is True)
        for step in item["steps"]
    )
    return Input(_text(item["text"]), Source(item["source"]), steps, item["stdin"], item["expected"])


def _trial(item: Mapping[str, Any], count: int) -> Trial:
    outcomes = tuple(Outcome(Kind(outcome["kind"]), _canonical(outcome["value"])) for outcome in item["outcomes"])
    status = Status(item["status"])
    if len(outcomes) != (count if status is Status.RAN else 0):
        raise ValueError("its outcomes do not belong to its inputs")
    return Trial(item["index"], status, _text(item["detail"]), outcomes)


def _canonical(text: Any) -> str:
    json.loads(_text(text))
    return str(text)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a text")
    return value
