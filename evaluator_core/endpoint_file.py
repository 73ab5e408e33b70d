"""The user's own endpoints, from the TOML file that ``EVALUATOR_ENDPOINTS`` names."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from evaluator_core.address import form_problem
from evaluator_core.endpoint import BUILTIN, Endpoint
from evaluator_core.errors import InvalidInput

_FIELDS = ("name", "base_url", "api_key_env", "models", "concurrency")


def read_endpoints(file: Path) -> list[Endpoint]:
    """The ``[[endpoint]]`` tables of a TOML file; every mistake in it is named in one error."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8")).get("endpoint", [])
    except OSError as error:
        raise InvalidInput(f"EVALUATOR_ENDPOINTS: {file} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"EVALUATOR_ENDPOINTS: {file} is not TOML: {error}") from error
    if not isinstance(tables, list) or not tables:
        raise InvalidInput(f"EVALUATOR_ENDPOINTS: {file} has no [[endpoint]] table")
    problems = [f"endpoint {place}: {text}" for place, table in enumerate(tables, 1) for text in _table_problems(table)]
    if problems:
        raise InvalidInput(f"EVALUATOR_ENDPOINTS: {file}: " + "; ".join(problems))
    return [
        Endpoint(
            name=table["name"],
            base_url=table["base_url"].rstrip("/"),
            api_key_env=table.get("api_key_env"),
            models=tuple(table.get("models", ())),
            concurrency=table.get("concurrency", 8),
            about=table["base_url"],
        )
        for table in tables
    ]


def _table_problems(table: Any) -> list[str]:
    if not isinstance(table, dict):
        return ["it is not a table"]
    problems = [f"unknown field {name!r}" for name in table if name not in _FIELDS]
    name, base_url, models = table.get("name"), table.get("base_url"), table.get("models", [])
    if not isinstance(name, str) or not name or "/" in name or name == BUILTIN:
        problems.append(f"name must be a text without '/', and not {BUILTIN!r}")
    if not isinstance(base_url, str):
        problems.append("base_url is missing")
    elif problem := form_problem(base_url):
        problems.append(f"base_url: {problem}")
    if not isinstance(table.get("api_key_env", ""), str):
        problems.append("api_key_env must be the name of an environment variable")
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        problems.append("models must be a list of names")
    concurrency = table.get("concurrency", 8)
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        problems.append("concurrency must be a whole number from 1 on")
    return problems
