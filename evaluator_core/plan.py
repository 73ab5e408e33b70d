"""What is to be asked, checked: from plain values, or from the JSON body of ``POST /evaluate``."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator_core.endpoint import Endpoint, custom_endpoint
from evaluator_core.endpoints import endpoints, resolve_model
from evaluator_core.errors import InvalidInput
from evaluator_core.languages import canonical_name
from evaluator_core.types import DEFAULT_THRESHOLD

DEFAULT_SYSTEM_PROMPT = (
    "You write programs. Reply with one complete program in a single Markdown code block, and with nothing before or after it."
)
MAX_SAMPLES = 2000
MAX_PROMPT = 1_000_000


@dataclass(frozen=True, slots=True)
class Plan:
    """One evaluation to be made. Every value is good: ``make_plan`` has checked it."""

    prompt: str
    """What to ask."""
    endpoint: Endpoint
    """Whom to ask."""
    model: str
    """The model's name at that endpoint."""
    n_samples: int = 5
    """How many answers to ask for."""
    threshold: float = DEFAULT_THRESHOLD
    """From which hybrid similarity on a pair agrees."""
    temperature: float | None = 0.7
    """Sampling temperature; ``None`` leaves it to the endpoint."""
    max_tokens: int | None = None
    """Longest answer; ``None`` leaves it to the endpoint."""
    language: str = "python"
    """The language to read the answers as; ``auto`` to tell from the answers."""
    system_prompt: str = DEFAULT_SYSTEM_PROMPT
    """What the model is told before the prompt; ``""`` for nothing."""
    seed: int | None = None
    """Answer k is asked for with seed + k."""
    concurrency: int = 8
    """Requests under way at the same time."""


Check = Callable[[Any], str | None]
"""What is wrong with a value, as the end of a sentence; ``None`` when nothing is."""


def _text(longest: int, *, blank: bool = True) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return "is not a text"
        if not blank and not value.strip():
            return "is empty"
        return f"is longer than {longest:,} characters" if len(value) > longest else None

    return check


def _whole(low: int, high: int) -> Check:
    def check(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return None if good else f"is not a whole number from {low} to {high}"

    return check


def _number(low: float, high: float) -> Check:
    def check(value: Any) -> str | None:
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and low <= value <= high
        return None if good else f"is not a number from {low:g} to {high:g}"

    return check


def _language(value: Any) -> str | None:
    try:
        canonical_name(value if isinstance(value, str) else "")
    except InvalidInput as error:
        return f"is not a language name{str(error).partition('is not a language name')[2]}"
    return None


_CHECKS: dict[str, Check] = {
    "prompt": _text(MAX_PROMPT, blank=False),
    "model": _text(200),
    "endpoint": _text(2000),
    "n_samples": _whole(2, MAX_SAMPLES),
    "threshold": _number(0, 1),
    "temperature": _number(0, 2),
    "max_tokens": _whole(1, 1_000_000),
    "language": _language,
    "system_prompt": _text(MAX_PROMPT),
    "seed": _whole(0, 2**31 - 1 - MAX_SAMPLES),
    "concurrency": _whole(1, 256),
}
FIELDS = tuple(_CHECKS)
"""The fields of a request, in the order of the documentation."""
_MAY_BE_NONE = frozenset({"model", "endpoint", "temperature", "max_tokens", "system_prompt", "seed", "concurrency"})
_OLD_FIELDS = frozenset({"target_url", "request_schema", "response_schema"})
_OLD_REQUEST_FIELDS = frozenset({"type", "model", "api_key", "temperature"})


def make_plan(values: Mapping[str, Any], *, endpoint: Endpoint | None = None) -> Plan:
    """A plan from named values; whatever is left out has its default. Every bad value is named in one error.

    ``endpoint`` stands for an endpoint that has no name, such as an address with a key for one use.
    """
    problems = [_unknown(name, FIELDS) for name in values if name not in _CHECKS]
    given = {name: value for name, value in values.items() if name in _CHECKS}
    if "prompt" not in given:
        problems.append("prompt: is missing")
    for name, value in given.items():
        if value is None and name in _MAY_BE_NONE:
            continue
        if problem := _CHECKS[name](value):
            problems.append(f"{name}: {_shown(value)} {problem}")
    model = given.get("model")
    if endpoint is not None and (not isinstance(model, str) or not model):
        problems.append(f"model: name the model to ask at {endpoint.name}")
    if problems:
        raise InvalidInput("; ".join(problems))

    if endpoint is None:
        endpoint, model = _resolve(model, given.get("endpoint"))
    plain = {name: given[name] for name in ("n_samples", "threshold", "temperature", "max_tokens", "seed") if name in given}
    return Plan(
        prompt=given["prompt"],
        endpoint=endpoint,
        model=str(model),
        language=canonical_name(given.get("language", "python")),
        system_prompt=DEFAULT_SYSTEM_PROMPT if given.get("system_prompt") is None else given["system_prompt"],
        concurrency=given.get("concurrency") or endpoint.concurrency,
        **plain,
    )


def plan_from_payload(body: Any) -> Plan:
    """A plan from the body of ``POST /evaluate``, in its present or its older form."""
    if not isinstance(body, dict):
        raise InvalidInput(f"the body is {type(body).__name__}, not a JSON object")
    if not _OLD_FIELDS & body.keys():
        return make_plan(body)
    request = body.get("request_schema", {})
    problems = []
    if not isinstance(body.get("target_url"), str):
        problems.append("target_url: is missing, or not a text")
    if not isinstance(request, dict):
        raise InvalidInput("; ".join([*problems, "request_schema: is not an object"]))
    problems += [f"request_schema.{_unknown(name, _OLD_REQUEST_FIELDS)}" for name in request if name not in _OLD_REQUEST_FIELDS]
    if request.get("type", "openai") != "openai":
        problems.append(f"request_schema.type: {_shown(request['type'])} is not known; only 'openai' is")
    key = request.get("api_key")
    if key is not None and not isinstance(key, str):
        problems.append("request_schema.api_key: is not a text")
    values = {name: value for name, value in body.items() if name not in _OLD_FIELDS}
    values |= {name: request[name] for name in ("model", "temperature") if name in request}
    endpoint = None
    if not problems:
        try:
            endpoint = _endpoint_at(body["target_url"], key)
        except InvalidInput as error:
            problems.append(f"target_url: {error}")
    try:
        # With a stand-in, the other fields are checked too, so that one answer names everything that is wrong.
        plan = make_plan(values, endpoint=endpoint or Endpoint("the address"))
    except InvalidInput as error:
        problems.append(str(error))
    if problems:
        raise InvalidInput("; ".join(problems))
    return plan


def _resolve(model: str | None, endpoint: str | None) -> tuple[Endpoint, str]:
    if endpoint and endpoint.lower().startswith(("http://", "https://")):
        if not model:
            raise InvalidInput("model: name the model to ask at that address")
        return _endpoint_at(endpoint, None), model
    return resolve_model(model, endpoint)


def _endpoint_at(address: str, key: str | None) -> Endpoint:
    """The endpoint at an address; a configured one brings its own key, which no other address ever gets."""
    custom = custom_endpoint(address, key=key)
    if custom.given_key is None:
        for known in endpoints().values():
            if known.base_url == custom.base_url:
                return known
    return custom


def _unknown(name: object, known: tuple[str, ...] | frozenset[str]) -> str:
    close = difflib.get_close_matches(str(name), sorted(known), n=1)
    return f"{str(name)[:60]}: is not a field" + (f"; did you mean {close[0]}?" if close else "")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
