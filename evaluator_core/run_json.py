"""A run as JSON text, and back. The format is read by other people's scripts: fields are added, never changed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, TypeVar

import numpy as np

from evaluator_core.behaviour.behaviour_json import from_json, to_json
from evaluator_core.errors import ResultDamaged
from evaluator_core.statistics import uncertainty
from evaluator_core.types import Matrix, Metrics, Pair, Reply, Run, RunSettings, Sample, SampleFailure, Score, Version, Weights

SCHEMA_VERSION = 1

T = TypeVar("T")


def format_run(run: Run) -> Iterator[str]:
    """The JSON text in pieces, one line per sample and pair: a run of thousands never stands in memory as text."""
    score = run.score
    yield "{\n"
    for key, value in _head(run).items():
        yield f"{_json(key)}: {_json(value)},\n"
    yield from _list("outputs", (_json(_output(sample)) for sample in score.samples))
    yield ",\n"
    yield from _list("failures", (_json(_failure(failure)) for failure in run.failures))
    yield ",\n"
    yield from _list("pairwise", map(_pair, score.pairs()))
    yield ",\n"
    yield from _list("conversation_history", (_json(conversation(run, sample)) for sample in score.samples))
    yield f',\n"uncertainty": {_json(asdict(uncertainty(score, run.behaviour)))}'
    if run.versions:
        yield f',\n"versions": {_json([_version(version) for version in run.versions])}'
    if run.behaviour is not None:
        yield f',\n"behaviour": {_json(to_json(run.behaviour))}'
    yield f',\n"notes": {_json(list(score.notes))}\n}}\n'


def conversation(run: Run, sample: Sample) -> list[dict[str, str]]:
    """The messages of one sample, as they went to the model and came back."""
    system = [{"role": "system", "content": run.settings.system_prompt}] if run.settings.system_prompt else []
    return [
        *system,
        {"role": "user", "content": run.question},
        {"role": "assistant", "content": sample.reply.text},
    ]


def parse_run(text: str) -> Run:
    """The run that a JSON text holds; ``ResultDamaged`` when it is cut off, edited or something else."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or not isinstance(data.get("schema_version"), int):
            raise ResultDamaged("it has no schema_version: not a file of this program")
        if data["schema_version"] > SCHEMA_VERSION:
            raise ResultDamaged("it was written by a newer version of this program: update to open it")
        return _run(data)
    except RecursionError as error:
        raise ResultDamaged("it is nested too deeply") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise ResultDamaged(f"it cannot be read as a run ({type(error).__name__}: {error})") from error


def parse_part(text: str, key: str) -> Any:
    """One part of a text of ``format_run``, read without the rest; ``None`` when it has none, or is written otherwise."""
    mark = f"\n{_json(key)}: "  # a line begins so nowhere else: within a JSON string a line end is an escape
    place = text.find(mark)
    if place < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, place + len(mark))[0]
    except (ValueError, RecursionError):
        return None


def _head(run: Run) -> dict[str, Any]:
    score, settings = run.score, run.settings
    return {
        "schema_version": SCHEMA_VERSION,
        "timestamp": run.timestamp,
        "created_at": run.created_at.isoformat(),
        "model": run.model,
        "endpoint": run.endpoint,
        "question": run.question,
        "language": score.language,
        "settings": {
            "n_requested": settings.n_requested,
            "threshold": score.threshold,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "system_prompt": settings.system_prompt,
            "seed": settings.seed,
            "weights": {"structure": score.weights.structure, "text": score.weights.text},
        },
        "agreement_percent": score.agreement_percent,
        "confidence_percent": score.confidence_percent,
        "normalized_confidence_percent": score.normalized_confidence_percent,
        "n_samples": len(score.samples),
    }


def _version(version: Version) -> dict[str, Any]:
    return {"n_samples": version.n_samples, **asdict(version.metrics), "until": version.until.isoformat()}


def _output(sample: Sample) -> dict[str, Any]:
    reply = sample.reply
    return {
        "index": reply.index,
        "text": reply.text,
        "code": sample.code,
        "parses": sample.parses,
        "finish_reason": reply.finish_reason,
        "latency_seconds": reply.latency_seconds,
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "reported_model": reply.reported_model,
        "system_fingerprint": reply.system_fingerprint,
    }


def _failure(failure: SampleFailure) -> dict[str, Any]:
    return {"index": failure.index, "kind": failure.kind, "message": failure.message}


def _pair(pair: Pair) -> str:
    i, j, structure, text, hybrid = pair
    written = "null" if structure is None else repr(structure)
    return f'{{"i": {i}, "j": {j}, "ast_similarity": {written}, "text_similarity": {text!r}, "hybrid_similarity": {hybrid!r}}}'


def _list(name: str, items: Iterator[str]) -> Iterator[str]:
    yield f'"{name}": ['
    separator = "\n"
    for item in items:
        yield separator
        yield item
        separator = ",\n"
    yield "]" if separator == "\n" else "\n]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _run(data: Mapping[str, Any]) -> Run:
    settings = data["settings"]
    return Run(
        created_at=_moment(data["created_at"]),
        model=_text(data["model"]),
        endpoint=_text(data["endpoint"]),
        question=_text(data["question"]),
        settings=RunSettings(
            n_requested=_count(settings["n_requested"]),
            temperature=_optional(_amount, settings["temperature"]),
            max_tokens=_optional(_count, settings["max_tokens"]),
            system_prompt=_optional(_text, settings["system_prompt"]),
            seed=_optional(_whole, settings["seed"]),
        ),
        score=_score(data, settings),
        failures=tuple(
            SampleFailure(_count(item["index"]), _text(item["kind"]), _text(item["message"])) for item in data["failures"]
        ),
        behaviour=from_json(data["behaviour"]) if data.get("behaviour") is not None else None,
        versions=tuple(
            Version(_count(item["n_samples"]), _metrics(item), _moment(item["until"])) for item in data.get("versions", [])
        ),
    )


def _score(data: Mapping[str, Any], settings: Mapping[str, Any]) -> Score:
    samples = tuple(_sample(output) for output in data["outputs"])
    weights = Weights(_share(settings["weights"]["structure"]), _share(settings["weights"]["text"]))
    has_structure = weights.structure > 0
    row_of = {sample.index: row for row, sample in enumerate(samples)}
    size = len(samples)
    if len(row_of) != size or len(data["pairwise"]) != size * (size - 1) // 2:
        raise ValueError("its pairs do not belong to its samples")
    ast, text, hybrid = _unfilled(size), _unfilled(size), _unfilled(size)
    for pair in data["pairwise"]:
        i, j = row_of[pair["i"]], row_of[pair["j"]]
        text[i, j] = text[j, i] = pair["text_similarity"]
        hybrid[i, j] = hybrid[j, i] = pair["hybrid_similarity"]
        if has_structure:
            ast[i, j] = ast[j, i] = pair["ast_similarity"]
    # What no pair has filled is still NaN, and NaN is not within any bounds.
    for matrix in (ast, text, hybrid) if has_structure else (text, hybrid):
        if not np.all((matrix >= 0) & (matrix <= 1)):
            raise ValueError("a similarity is not within 0 and 1")
    return Score(
        samples=samples,
        language=_text(data["language"]),
        threshold=_share(settings["threshold"]),
        weights=weights,
        ast=ast if has_structure else None,
        text=text,
        hybrid=hybrid,
        metrics=_metrics(data),
        notes=_texts(data.get("notes", [])),
    )


def _metrics(data: Mapping[str, Any]) -> Metrics:
    return Metrics(*(_percent(data[field.name]) for field in fields(Metrics)))


def _sample(output: Mapping[str, Any]) -> Sample:
    reply = Reply(
        index=_count(output["index"]),
        text=_text(output["text"]),
        finish_reason=_optional(_text, output["finish_reason"]),
        latency_seconds=_optional(_amount, output["latency_seconds"]),
        prompt_tokens=_optional(_count, output["prompt_tokens"]),
        completion_tokens=_optional(_count, output["completion_tokens"]),
        reported_model=_optional(_text, output.get("reported_model")),
        system_fingerprint=_optional(_text, output.get("system_fingerprint")),
    )
    return Sample(reply, _text(output["code"]), _optional(_truth, output["parses"]))


def _unfilled(size: int) -> Matrix:
    matrix = np.full((size, size), np.nan)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("created_at has no time zone")
    return moment


def _share(value: Any) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"{value!r:.60} is not within 0 and 1")
    return float(value)


def _percent(value: Any) -> float | None:
    if value is None:
        return None
    if not 0 <= value <= 100:
        raise ValueError(f"{value!r:.60} is not a percentage")
    return float(value)


def _optional(check: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else check(value)


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):  # to Python, true is the number 1
        raise TypeError(f"{value!r:.60} is not a whole number")
    return value


def _count(value: Any) -> int:
    if _whole(value) < 0:
        raise ValueError(f"{value!r:.60} is less than nothing")
    return int(value)


def _amount(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is not a number")
    if not 0 <= value < math.inf:
        raise ValueError(f"{value!r:.60} is not an amount")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r:.60} is neither true nor false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is not a text")
    return value


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)
