"""The routes described in OpenAPI 3.1, from the same fields that check the requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from evaluator_core.endpoints import endpoints
from evaluator_core.fields import Field, flag_field, language_field, number_field, text_field
from evaluator_core.http_guard import ROUTES
from evaluator_core.plan import FIELDS, MAX_PROMPT, MAY_BE_NONE
from evaluator_core.settings import ServerSettings
from evaluator_core.summary import SummaryRow
from evaluator_core.types import Metrics

PER_PAGE_MAX = 500

_RESULT_NAME = r"^eval_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(-[1-9]\d{0,5})?\.json$"
_PERCENT = {"type": "number", "minimum": 0, "maximum": 100}
_TYPES = {"str": {"type": "string"}, "int": {"type": "integer", "minimum": 2}, "float": _PERCENT}


def _outputs(value: Any) -> str | None:
    if not isinstance(value, list):
        return "is not a list of answers"
    wrong = [str(place) for place, text in enumerate(value) if not isinstance(text, str)]
    return f"the entries {', '.join(wrong[:10])} are not texts" if wrong else None


SCORE_FIELDS: dict[str, Field] = {
    "outputs": Field(_outputs, {"type": "array", "items": {"type": "string"}}, "the answers, whole replies or bare code"),
    "language": language_field("the language to read the answers as, or auto"),
    "threshold": number_field("from which hybrid similarity on a pair agrees", 0, 1),
    "prompt": text_field("what was asked: it helps to tell an answer from what merely repeats the prompt", MAX_PROMPT),
    "pairs": flag_field("whether to list the similarity of every pair as well"),
}
"""The fields of ``POST /score``."""


def description(settings: ServerSettings) -> dict[str, Any]:
    """The whole description, with this server's limits in it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "AI Evaluator Agent",
            "version": "1",
            "description": "If one puts the same prompt to a coding model again, does one get the same program? "
            "Consistency is not correctness: a model can give the same wrong answer every time.",
        },
        "paths": _paths(settings),
        "components": {
            "schemas": {"Error": _ERROR, "Row": _row(), "Numbers": _numbers()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        **({"security": [{"token": []}]} if settings.token else {}),
    }


_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["kind", "message"],
            "properties": {"kind": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def _paths(settings: ServerSettings) -> dict[str, Any]:
    evaluate, score, results, models, openapi = ROUTES
    limits: dict[str, dict[str, Any]] = {
        "n_samples": {"maximum": settings.max_samples},
        "max_tokens": {"maximum": settings.max_tokens},
    }
    known = list(endpoints(exposed=settings.exposed))
    if settings.exposed:
        limits["endpoint"] = {"description": "an endpoint's name", "enum": [*known, "", None]}
    request = _object(FIELDS, ["prompt"], nullable=MAY_BE_NONE, changes=limits)
    outputs = {"outputs": {"maxItems": settings.max_samples}}
    page = {"type": "integer", "minimum": 1, "maximum": 1_000_000, "default": 1}
    per_page = {"type": "integer", "minimum": 1, "maximum": PER_PAGE_MAX, "default": 50}
    name: dict[str, Any] = {"name": "name", "in": "path", "required": True, "schema": {"type": "string", "pattern": _RESULT_NAME}}
    name["example"] = "eval_2025-09-18_11-20-03.json"
    return {
        evaluate: {
            "post": _operation(
                "Ask a model N times, compare the answers, store the run",
                {"$ref": "#/components/schemas/Numbers"},
                body=request if settings.exposed else {"anyOf": [request, _older_form(request)]},
                errors=("400", "408", "413", "415", "502", "503"),
            )
        },
        score: {
            "post": _operation(
                "Score answers that are there already; no model is asked, nothing is stored",
                _score_answer(),
                body=_object(SCORE_FIELDS, ["outputs"], nullable=frozenset(), changes=outputs),
                errors=("400", "408", "413", "415"),
            )
        },
        results: {
            "get": _operation(
                "The rows of the summary, newest first",
                _results_answer(),
                parameters=[
                    {"name": "page", "in": "query", "schema": page},
                    {"name": "per_page", "in": "query", "schema": per_page},
                ],
                errors=("400", "503"),
            )
        },
        f"{results}/{{name}}": {
            "get": _operation(
                "One stored run, as its JSON file stands", {"type": "object"}, parameters=[name], errors=("404", "503")
            )
        },
        models: {
            "get": _operation(
                "The endpoints; with ?endpoint=name, the models that it lists now",
                _models_answer(),
                parameters=[_query("endpoint", {"type": "string", "enum": known})],
                errors=("400", "502", "503"),
            )
        },
        openapi: {"get": _operation("This description", {"type": "object"})},
    }


def _operation(
    summary: str,
    answer: Mapping[str, Any],
    *,
    body: Mapping[str, Any] | None = None,
    parameters: list[dict[str, Any]] | None = None,
    errors: tuple[str, ...] = (),
) -> dict[str, Any]:
    failed = {"description": "What is wrong, and what to do", "content": _content({"$ref": "#/components/schemas/Error"})}
    operation: dict[str, Any] = {
        "summary": summary,
        "responses": {"200": {"description": "Done", "content": _content(answer)}}
        | dict.fromkeys((*errors, "401", "429"), failed),
    }
    if body is not None:
        operation["requestBody"] = {"required": True, "content": _content(body)}
    if parameters:
        operation["parameters"] = parameters
    return operation


def _query(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema}


def _content(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _object(
    of: Mapping[str, Field], required: list[str], *, nullable: frozenset[str], changes: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    properties = {}
    for name, field in of.items():
        schema = field.schema | {"description": field.about} | changes.get(name, {})
        if name in nullable:
            schema["type"] = [schema["type"], "null"]
        properties[name] = schema
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


def _older_form(request: Mapping[str, Any]) -> dict[str, Any]:
    """The older form of a request: the address and the key stand in parts of their own."""
    properties = {
        name: schema for name, schema in request["properties"].items() if name not in ("model", "endpoint", "temperature")
    }
    asked = request["properties"]
    parts = {"type": {"const": "openai"}, "model": {"type": "string", "minLength": 1, "maxLength": 200}}
    parts |= {"api_key": {"type": ["string", "null"]}, "temperature": asked["temperature"]}
    return {
        "type": "object",
        "required": ["target_url", "prompt", "request_schema"],
        "properties": properties
        | {
            "target_url": {"type": "string", "description": "the address of a chat completions endpoint"},
            "request_schema": {"type": "object", "required": ["model"], "properties": parts, "additionalProperties": False},
            "response_schema": {"description": "taken, and not looked at: answers are read as OpenAI words them"},
        },
        "additionalProperties": False,
    }


def _row() -> dict[str, Any]:
    columns = {field.name: _TYPES[str(field.type)] for field in fields(SummaryRow)}
    return {"type": "object", "required": list(columns), "properties": columns, "additionalProperties": False}


def _numbers() -> dict[str, Any]:
    row = _row()
    columns = {name: schema for name, schema in row["properties"].items() if name != "timestamp"}
    return row | {"required": list(columns), "properties": columns}


def _score_answer() -> dict[str, Any]:
    metrics: dict[str, Any] = {
        field.name: {"type": ["number", "null"], "minimum": 0, "maximum": 100} for field in fields(Metrics)
    }
    others = {
        "n_samples": {"type": "integer", "minimum": 0},
        "language": {"type": "string"},
        "reading": {"type": ["string", "null"]},
        "notes": {"type": "array", "items": {"type": "string"}},
    }
    required = [*metrics, *others]
    return {
        "type": "object",
        "required": required,
        "properties": metrics | others | {"pairwise": {"type": "array", "items": {"type": "object"}}},
        "additionalProperties": False,
    }


def _results_answer() -> dict[str, Any]:
    counts = {name: {"type": "integer", "minimum": 0} for name in ("page", "per_page", "total")}
    return {
        "type": "object",
        "required": ["results", *counts],
        "properties": {"results": {"type": "array", "items": {"$ref": "#/components/schemas/Row"}}} | counts,
    }


def _models_answer() -> dict[str, Any]:
    texts = {"name": {"type": "string"}, "about": {"type": "string"}}
    endpoint = texts | {"ready": {"type": "boolean"}, "models": {"type": "array", "items": {"type": "string"}}}
    item = {"type": "object", "required": list(endpoint), "properties": endpoint}
    return {"type": "object", "required": ["endpoints"], "properties": {"endpoints": {"type": "array", "items": item}}}
