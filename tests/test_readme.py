"""The README is kept true: what the code knows, it says."""

from __future__ import annotations

import re
from pathlib import Path

from evaluator_core.__main__ import Exit
from evaluator_core.endpoints import endpoints
from evaluator_core.languages import LANGUAGES
from evaluator_core.plan import FIELDS
from evaluator_core.summary import COLUMNS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDERS = ("evaluator_core", "dashboard", "pages")
SOURCES = [path.read_text(encoding="utf-8") for folder in FOLDERS for path in ROOT.glob(f"{folder}/*.py")]


def test_every_variable_of_the_environment_is_documented() -> None:
    read = {name for source in SOURCES for name in re.findall(r"\b(?:EVALUATOR|OPENAI|OPENROUTER|ANTHROPIC)_[A-Z_]+\b", source)}
    assert read
    assert {name for name in read if f"`{name}`" not in README} == set()


def test_every_field_of_a_request_is_documented() -> None:
    assert [field for field in FIELDS if f"| `{field}` |" not in README] == []


def test_every_language_endpoint_and_column_is_named() -> None:
    assert [language.label for language in LANGUAGES if language.label not in README] == []
    assert [name for name in endpoints() if f"`{name}`" not in README] == []
    assert ",".join(COLUMNS) in README


def test_every_exit_code_is_documented() -> None:
    assert [code for code in Exit if f"{code.value} " not in README.partition("Exit codes:")[2][:200]] == []


def test_every_make_target_that_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test"} <= named <= targets
