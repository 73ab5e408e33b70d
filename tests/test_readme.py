"""The README is kept true: what the code knows, it says."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from evaluator_core.__main__ import Exit
from evaluator_core.behaviour.in_run import add_behaviour
from evaluator_core.endpoints import endpoints
from evaluator_core.languages import LANGUAGES
from evaluator_core.metrics import LABELS
from evaluator_core.openapi import description
from evaluator_core.plan import FIELDS
from evaluator_core.run_json import format_run
from evaluator_core.settings import NUMBERS, VARIABLES, ServerSettings
from evaluator_core.summary import COLUMNS
from evaluator_core.types import Version
from tests.runs import CREATED_AT, make_run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = ("evaluator_core", "dashboard", "pages")
SOURCES = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in ROOT.glob(f"{folder}/**/*.py")]


def test_every_variable_that_the_code_reads_is_in_the_one_list_and_in_the_table() -> None:
    read = {name for source in SOURCES for name in re.findall(r"\b(?:EVALUATOR|OPENAI|OPENROUTER|ANTHROPIC)_[A-Z_]+\b", source)}
    assert read == set(VARIABLES)
    table = README.partition("## Settings")[2].partition("\n## ")[0]
    assert {name for name in VARIABLES if f"`{name}`" not in table} == set()


def test_the_table_of_settings_has_the_defaults() -> None:
    defaults = ServerSettings()
    for variable, (field, _) in NUMBERS.items():
        assert f"| `{variable}` | {getattr(defaults, field)} |" in README


def test_every_route_is_documented() -> None:
    described = {
        f"{method.upper()} {path}" for path, methods in description(ServerSettings())["paths"].items() for method in methods
    }
    assert {route for route in described if f"| `{route}` |" not in README} == set()


def test_every_field_of_a_request_is_documented() -> None:
    assert [field for field in FIELDS if f"| `{field}` |" not in README] == []


def test_every_language_endpoint_and_column_is_named() -> None:
    assert [language.label for language in LANGUAGES if language.label not in README] == []
    assert [name for name in endpoints() if f"`{name}`" not in README] == []
    assert ",".join(COLUMNS) in README


def test_every_key_of_a_result_file_is_named() -> None:
    run = add_behaviour(make_run(), calls=["add([1, 2])"])
    run = replace(run, versions=(Version(2, run.score.metrics, CREATED_AT),))
    section = README.partition("## What is in `results/`")[2].partition("\n## ")[0]
    data = json.loads("".join(format_run(run)))
    named = {*LABELS, "schema_version"}  # the metrics are "the three metrics"
    assert {key for key in data if f"`{key}`" not in section and key not in named} == set()
    parts = {key for key in data["behaviour"] if key not in ("version", "notes")}
    assert {key for key in parts if f"`{key}`" not in section} == set()


def test_every_exit_code_is_documented() -> None:
    assert [code for code in Exit if f"{code.value} " not in README.partition("Exit codes:")[2][:200]] == []


def test_every_make_target_that_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test"} <= named <= targets
