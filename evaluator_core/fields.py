"""The fields of requests: each checks a value, and describes itself to who writes requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evaluator_core.languages import AUTO, LANGUAGES

_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9+#. -]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request."""

    check: Callable[[Any], str | None]
    """What is wrong with a value, as the end of a sentence; ``None`` when nothing is."""
    schema: dict[str, Any]
    """The same in the words of JSON Schema, for who writes requests."""
    about: str
    """What it is for."""


def text_field(about: str, longest: int, *, blank: bool = True) -> Field:
    """A text of at most so many characters."""

    def check(value: Any) -> str | None:
        if not isinstance(value, str):
            return "is not a text"
        if not blank and not value.strip():
            return "is empty"
        if not _is_whole(value):
            return "holds half of a character (a lone surrogate), which no file and no request can carry"
        return f"is longer than {longest:,} characters" if len(value) > longest else None

    filled = {} if blank else {"minLength": 1, "pattern": r"\S"}
    return Field(check, {"type": "string", "maxLength": longest} | filled, about)


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def whole_field(about: str, low: int, high: int) -> Field:
    """A whole number within bounds."""

    def check(value: Any) -> str | None:
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        return None if good else f"is not a whole number from {low} to {high}"

    return Field(check, {"type": "integer", "minimum": low, "maximum": high}, about)


def number_field(about: str, low: float, high: float) -> Field:
    """A finite number within bounds."""

    def check(value: Any) -> str | None:
        # Neither NaN nor infinity lies between two numbers; a whole number may be too large to be made a float of.
        good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        return None if good else f"is not a number from {low:g} to {high:g}"

    return Field(check, {"type": "number", "minimum": low, "maximum": high}, about)


def flag_field(about: str) -> Field:
    """True or false."""

    def check(value: Any) -> str | None:
        return None if isinstance(value, bool) else "is neither true nor false"

    return Field(check, {"type": "boolean"}, about)


def language_field(about: str) -> Field:
    """The name of a programming language, or ``auto``."""

    def check(value: Any) -> str | None:
        if isinstance(value, str) and _LANGUAGE.fullmatch(value):
            return None
        names = ", ".join([AUTO, *(language.name for language in LANGUAGES)])
        return f"is not a language name; give one of {names}, or another name to compare by text alone"

    return Field(check, {"type": "string", "pattern": f"^{_LANGUAGE.pattern}$", "examples": ["python", AUTO]}, about)
