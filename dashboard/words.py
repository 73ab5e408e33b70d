"""Texts from outside on a page: prompts, names and errors may hold anything, and are shown as they are, never as markup."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Literal

import streamlit as st

from evaluator_core.errors import EvaluatorError

Tone = Literal["error", "warning", "info"]

_COLOURS: dict[Tone, str] = {"error": "217, 45, 32", "warning": "190, 120, 0", "info": "11, 92, 173"}
_STYLE = (
    "border-left: 4px solid rgb({0}); background: rgba({0}, 0.10); border-radius: 6px; padding: 0.7rem 0.9rem; "
    "overflow-wrap: anywhere"
)


def visible(text: str, limit: int | None = None) -> str:
    """The text with what cannot be shown, or would turn the line around, made visible; cut when it is longer than ``limit``."""
    cut = text if limit is None or len(text) <= limit else text[: limit - 1] + "…"
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in cut)


def one_line(text: str, limit: int) -> str:
    """The beginning of a text, its line breaks and runs of blanks made single blanks."""
    return visible(" ".join(text[: 4 * limit].split()), limit)


def escape(text: str) -> str:
    """The text for HTML."""
    return html.escape(visible(text), quote=True)


def notice(tone: Tone, text: str) -> None:
    """A message in a box."""
    role = "alert" if tone == "error" else "status"
    st.html(f'<div role="{role}" style="{_STYLE.format(_COLOURS[tone])}">{escape(text)}</div>')


def say_error(error: Exception) -> bool:
    """What a page shows of an error that nothing else caught, in a fragment too: words, never a traceback. True: it was shown."""
    if isinstance(error, EvaluatorError):
        notice("error", str(error))
    else:
        kind = type(error).__name__
        notice(
            "error",
            f"This part of the page could not be shown: an error in the program ({kind}). Nothing that is stored was lost. "
            "Load the page again; if that does not help, the server's log has the details.",
        )
    return True


def quote(text: str, *, lines: int = 4) -> None:
    """A prompt, shown as it was written; a long one scrolls."""
    style = (
        f"white-space: pre-wrap; overflow-wrap: anywhere; max-height: {lines * 1.6 + 1:.1f}em; overflow-y: auto; "
        "border-left: 3px solid rgba(128, 140, 155, 0.6); padding: 0.2rem 0.9rem; line-height: 1.6"
    )
    st.html(f'<div style="{style}" tabindex="0" role="region" aria-label="Prompt">{escape(text)}</div>')


def swatches(colours: Mapping[str, str]) -> str:
    """A key to the colours of a chart, as HTML: names of any number and length, which a chart's own legend has no room for."""
    items = (
        f'<div role="listitem"><i style="background: {colour}"></i><span>{escape(name)}</span></div>'
        for name, colour in colours.items()
    )
    return f'<div class="swatches" role="list">{"".join(items)}</div>'


def answer_name(index: int) -> str:
    """What people call a sample: counted from 1."""
    return f"Answer {index + 1}"
