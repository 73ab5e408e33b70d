"""What is to be asked, checked: from plain values, or from the JSON body of ``POST /evaluate``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator_core.address import request_problem
from evaluator_core.endpoint import Endpoint, custom_endpoint, plain_address
from evaluator_core.endpoints import endpoints, resolve_model
from evaluator_core.errors import InvalidInput, ModelNotFound
from evaluator_core.fields import Field, flag_field, language_field, number_field, text_field, whole_field
from evaluator_core.languages import canonical_name
from evaluator_core.secret import Secret
from evaluator_core.settings import ServerSettings
from evaluator_core.types import DEFAULT_THRESHOLD, Run

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
    behaviour: bool = False
    """Whether to run the answers in the sandbox, and group them by what they do."""


FIELDS: dict[str, Field] = {
    "prompt": text_field("what to ask", MAX_PROMPT, blank=False),
    "model": text_field("a model's name, or endpoint/model", 200),
    "endpoint": text_field("an endpoint's name, or an address up to /v1", 2000),
    "n_samples": whole_field("how many answers to ask for", 2, MAX_SAMPLES),
    "threshold": number_field("from which hybrid similarity on a pair agrees", 0, 1),
    "temperature": number_field("sampling temperature; null for the endpoint's own", 0, 2),
    "max_tokens": whole_field("longest answer; null for the endpoint's own", 1, 1_000_000),
    "language": language_field("the language to read the answers as, or auto"),
    "system_prompt": text_field("what the model is told before the prompt", MAX_PROMPT),
    "seed": whole_field("answer k is asked for with seed + k", 0, 2**31 - 1 - MAX_SAMPLES),
    "concurrency": whole_field("requests at a time", 1, 256),
    "behaviour": flag_field("whether to run the answers, Python only, in a sandbox, and group them by what they do"),
}
"""The fields of a request, in the order of the documentation. The only list of them."""
MAY_BE_NONE = frozenset({"model", "endpoint", "temperature", "max_tokens", "system_prompt", "seed", "concurrency"})
_OLD_FIELDS = frozenset({"target_url", "request_schema", "response_schema"})
_OLD_REQUEST_FIELDS = frozenset({"type", "model", "api_key", "temperature"})


def make_plan(values: Mapping[str, Any], *, endpoint: Endpoint | None = None, server: ServerSettings | None = None) -> Plan:
    """A plan from named values; whatever is left out has its default. Every bad value is named in one error.

    ``endpoint`` stands for an endpoint that has no name, such as an address with a key for one use. ``server`` sets limits to
    what comes from outside.
    """
    problems = [_unknown(name, FIELDS) for name in values if name not in FIELDS]
    given = {name: value for name, value in values.items() if name in FIELDS}
    if "prompt" not in given:
        problems.append("prompt: is missing")
    bad = set()
    for name, value in given.items():
        if value is None and name in MAY_BE_NONE:
            continue
        if problem := FIELDS[name].check(value) or (_over_limit(name, value, server) if server else None):
            problems.append(f"{name}: {_shown(value)} {problem}")
            bad.add(name)
    model = given.get("model")
    if endpoint is not None:
        if model in (None, ""):
            problems.append(f"model: name the model to ask at {endpoint.name}")
    elif not bad & {"model", "endpoint"}:
        try:
            endpoint, model = _resolve(model, given.get("endpoint"), server)
        except InvalidInput as error:
            problems.append(str(error))
        except ModelNotFound as error:
            if not problems:
                raise
            problems.append(f"model: {error}")
    if problems or endpoint is None:
        raise InvalidInput("; ".join(problems))
    plain_fields = ("n_samples", "threshold", "temperature", "max_tokens", "seed", "behaviour")
    plain = {name: given[name] for name in plain_fields if name in given}
    return Plan(
        prompt=given["prompt"],
        endpoint=endpoint,
        model=str(model),
        language=canonical_name(given.get("language", "python")),
        system_prompt=DEFAULT_SYSTEM_PROMPT if given.get("system_prompt") is None else given["system_prompt"],
        concurrency=given.get("concurrency") or endpoint.concurrency,
        **plain,
    )


def plan_of(run: Run) -> Plan:
    """What was asked in a stored run; an endpoint that is not set up here any more has its name, and no address."""
    return Plan(
        prompt=run.question,
        endpoint=endpoints().get(run.endpoint) or Endpoint(run.endpoint),
        model=run.model,
        n_samples=run.settings.n_requested,
        threshold=run.score.threshold,
        temperature=run.settings.temperature,
        max_tokens=run.settings.max_tokens,
        language=run.score.language,
        system_prompt=run.settings.system_prompt or "",
        seed=run.settings.seed,
        behaviour=run.behaviour is not None,
    )


def _over_limit(name: str, value: int, server: ServerSettings) -> str | None:
    limits = {"n_samples": server.max_samples, "max_tokens": server.max_tokens}
    over = name in limits and value > limits[name]
    return f"is more than the {limits[name]} that this server allows" if over else None


def plan_from_payload(body: Any, server: ServerSettings | None = None) -> Plan:
    """A plan from the body of ``POST /evaluate``, in its present or its older form."""
    if not isinstance(body, dict):
        raise InvalidInput(f"the body is {type(body).__name__}, not a JSON object")
    if not _OLD_FIELDS & body.keys():
        return make_plan(body, server=server)
    request, address = body.get("request_schema", {}), body.get("target_url")
    problems = []
    if not isinstance(address, str):
        problems.append("target_url: is missing, or not a text")
    if not isinstance(request, dict):
        problems.append("request_schema: is not an object")
        request = {}
    problems += [f"request_schema.{_unknown(name, _OLD_REQUEST_FIELDS)}" for name in request if name not in _OLD_REQUEST_FIELDS]
    if request.get("type", "openai") != "openai":
        problems.append(f"request_schema.type: {_shown(request['type'])} is not known; only 'openai' is")
    key = request.get("api_key")
    if key is not None and not (isinstance(key, str) and Secret(key).fits_a_header):
        problems.append("request_schema.api_key: is not a text of ASCII characters without blanks")
        key = None
    values = {name: value for name, value in body.items() if name not in _OLD_FIELDS}
    values |= {name: request[name] for name in ("model", "temperature") if name in request}
    endpoint = None
    if isinstance(address, str):
        try:
            endpoint = _endpoint_at(address, key, server)
        except InvalidInput as error:
            problems.append(f"target_url: {error}")
    try:
        # With a stand-in, the other fields are checked too, so that one answer names everything that is wrong.
        plan = make_plan(values, endpoint=endpoint or Endpoint("the address"), server=server)
    except InvalidInput as error:
        problems.append(str(error))
    if problems:
        raise InvalidInput("; ".join(problems))
    return plan


def _resolve(model: str | None, endpoint: str | None, server: ServerSettings | None) -> tuple[Endpoint, str]:
    if endpoint and "://" in endpoint:
        try:
            found = _endpoint_at(endpoint, None, server)
        except InvalidInput as error:
            raise InvalidInput(f"endpoint: {error}") from error
        if not model:
            raise InvalidInput("model: name the model to ask at that address")
        return found, model
    return resolve_model(model, endpoint, exposed=server is not None and server.exposed)


def _endpoint_at(address: str, key: str | None, server: ServerSettings | None) -> Endpoint:
    """The endpoint at an address; a configured one brings its own key, which no other address ever gets."""
    plain = plain_address(address)
    known = endpoints(exposed=server is not None and server.exposed).values()
    configured = next((one for one in known if one.base_url and one.base_url == plain), None)
    if configured is not None and not key:
        return configured
    if server is not None and (problem := request_problem(plain, exposed=server.exposed)):
        raise InvalidInput(problem)
    return custom_endpoint(address, key=key)


def _unknown(name: object, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name), sorted(known), n=1)
    return f"{str(name)[:60]}: is not a field" + (f"; did you mean {close[0]}?" if close else "")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"
