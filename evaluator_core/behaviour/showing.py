"""Behaviour in words: its numbers with their names, and outcomes as Python writes them."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from evaluator_core.behaviour.records import Behaviour, Kind, Outcome, Source, Status

LABELS = {
    "behaviour_agreement_percent": "Behaviour agreement",
    "largest_group": "Largest group",
    "groups": "Groups",
    "semantic_entropy": "Semantic entropy",
}
"""The numbers of behaviour by field, as people call them."""
_EXPLANATIONS = {
    "behaviour_agreement_percent": "share of pairs that gave the same on every input; one that did not run agrees with none",
    "largest_group": "answers that do the same as each other",
    "groups": "different behaviours among the answers that ran",
    "semantic_entropy": "how spread the answers are over behaviours: 0 when all do the same, 1 when no two do",
}
LIMITS = "Inputs tried are not all inputs: answers of one group may still differ on another one."
SOURCES = {
    Source.USER: "you",
    Source.EXAMPLE: "the prompt",
    Source.GENERATED: "made from types",
    Source.SHRUNK: "made smaller",
}
"""Where an input comes from, in a word or two."""
STATUSES = {
    Status.NO_CODE: ("holds no code", "hold no code"),
    Status.EMPTY: ("has no body", "have no body"),
    Status.NOT_LOADING: ("does not load", "do not load"),
    Status.UNSUPPORTED: ("needs a module that the sandbox does not have", "need a module that the sandbox does not have"),
    Status.CRASHED: ("crashes before any call", "crash before any call"),
}
"""What became of an answer that did not run, as the end of a sentence about one, and about several."""

_WORDS = {
    Kind.TIMEOUT: "takes too long",
    Kind.MEMORY: "needs too much memory",
    Kind.CRASHED: "crashes",
    Kind.EXITED: "exits",
    Kind.TOO_LARGE: "gives too much",
    Kind.SKIPPED: "was not tried",
}
_BRACKETS = {"list": ("[", "]"), "tuple": ("(", ")"), "set": ("{", "}"), "iterator": ("iter([", "])")}


def explain_behaviour(field: str) -> str:
    """What a number of ``LABELS`` says, in a few words that begin small and end without a full stop."""
    return _EXPLANATIONS[field]


class Number(NamedTuple):
    """One number of behaviour, for a person."""

    label: str
    """What it is called."""
    text: str
    """Its value."""
    explanation: str
    """What it says; it begins small and ends without a full stop."""


def show_numbers(behaviour: Behaviour) -> tuple[Number, ...]:
    """The numbers of behaviour in the order of ``LABELS``; a dash where there is none."""
    metrics = behaviour.metrics
    texts = {
        "behaviour_agreement_percent": None
        if metrics.behaviour_agreement_percent is None
        else f"{metrics.behaviour_agreement_percent:.1f} %",
        "largest_group": None if metrics.largest_group is None else f"{metrics.largest_group} of {len(behaviour.trials)}",
        "groups": None if metrics.groups is None else str(metrics.groups),
        "semantic_entropy": None if metrics.semantic_entropy is None else f"{metrics.semantic_entropy:.2f}",
    }
    return tuple(Number(label, texts[field] or "–", _EXPLANATIONS[field]) for field, label in LABELS.items())


def show_correctness(behaviour: Behaviour) -> str | None:
    """How many answers meet the expected results, in a sentence; ``None`` when nobody said what to expect."""
    right = behaviour.correctness
    if right is None:
        return None
    results = "the expected result" if right.expectations == 1 else f"all {right.expectations} expected results"
    at = ", ".join(f"pass@{k} {share:.2f}" for k, share in right.pass_at if k > 1)
    return f"{right.pass_percent:.1f} % of the answers meet {results}" + (f" ({at})." if at else ".")


def show_outcome(outcome: Outcome, limit: int = 300) -> str:
    """What an answer did, for a person, on one line of at most ``limit`` characters."""
    if outcome.kind in _WORDS:
        text = _WORDS[outcome.kind]
    else:
        try:
            found = json.loads(outcome.text)
            text = f"raises {found}" if outcome.kind is Kind.RAISED else _value(found)
        except (LookupError, TypeError, ValueError, RecursionError):
            text = outcome.text  # an answer can forge its own result, and a file can be edited
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _value(value: Any) -> str:
    """A canonical value as Python writes it; its own types come as a list that begins with their mark."""
    if not isinstance(value, list):
        return repr(value)
    mark, *rest = value
    if mark in _BRACKETS:
        opening, closing = _BRACKETS[mark]
        inside = ", ".join(map(_value, rest[0])) + ("," if mark == "tuple" and len(rest[0]) == 1 else "")
        return f"{opening}{inside}{closing}" if rest[0] or mark != "set" else "set()"
    if mark == "dict":
        return "{" + ", ".join(f"{_value(key)}: {_value(item)}" for key, item in rest[0]) + "}"
    if mark == "object":
        return f"{rest[0]}({', '.join(f'{key}={_value(item)}' for key, item in rest[1])})"
    if mark in ("float", "value"):
        return str(rest[-1])
    if mark == "derived":
        return _value(rest[1])
    if mark == "bytes":
        return repr(bytes.fromhex(rest[0]))
    return f"{mark}({', '.join(map(_value, rest))})"
