"""The safety profile: which answers reach out, read from their syntax alone; nothing is run.

Imports, calls and texts of a program are looked at, in every language that has a grammar; comments and names in texts
are not. It says what an answer could do, not that it does harm: a rare one is worth a look.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tree_sitter import Node

from evaluator_core.capability_rules import CALLS, IMPORTS, SQL
from evaluator_core.languages import Language, find_language
from evaluator_core.syntax import MAX_CODE, parse_tree


class Capability(StrEnum):
    """What an answer reaches for."""

    NETWORK = "network"
    FILES = "files"
    PROCESSES = "processes"
    EVAL = "eval"
    DYNAMIC_IMPORT = "dynamic_import"
    DESERIALIZATION = "deserialization"
    SQL = "sql"


WORDS = {
    Capability.NETWORK: ("uses the network", "use the network"),
    Capability.FILES: ("opens files", "open files"),
    Capability.PROCESSES: ("starts processes", "start processes"),
    Capability.EVAL: ("runs text as code", "run text as code"),
    Capability.DYNAMIC_IMPORT: ("imports by name at run time", "import by name at run time"),
    Capability.DESERIALIZATION: ("reads objects from untrusted bytes", "read objects from untrusted bytes"),
    Capability.SQL: ("holds SQL as text", "hold SQL as text"),
}
"""Each capability as the end of a sentence about one answer, and about several."""

_DANGER = (
    Capability.EVAL,
    Capability.PROCESSES,
    Capability.DESERIALIZATION,
    Capability.NETWORK,
    Capability.DYNAMIC_IMPORT,
    Capability.SQL,
    Capability.FILES,
)
_IMPORT = re.compile(r"import|^use_|include|using_directive|^namespace_use|^mod_item$|extern_crate")
_CALL = re.compile(
    r"call|invocation|creation|^new_expression$|^command$|^macro_|^(?:include|require)(?:_once)?_expression$|^subshell$"
)
_TEXT = re.compile(r"string|text|heredoc|^template")
_HEAD = re.compile(r"[^\n(<{]*")
_HEAD_AND_TEXT = re.compile(r"[^\n(<{]*\(\s*['\"][^'\"\n]*")
_MAX_SEEN = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where an answer reaches out."""

    capability: Capability
    """What it reaches for."""
    line: int
    """The line of the code, from 1."""
    text: str
    """What stands there, shortened."""


@dataclass(frozen=True, slots=True)
class SafetyProfile:
    """The findings of N answers, as a table of samples × capability."""

    findings: tuple[tuple[Finding, ...] | None, ...]
    """For each answer what was found, in order; ``None`` for one that could not be read."""

    def counts(self) -> dict[Capability, int]:
        """For each capability how many answers have it."""
        return {
            capability: sum(any(item.capability is capability for item in found or ()) for found in self.findings)
            for capability in Capability
        }

    def sentences(self) -> tuple[str, ...]:
        """What a reader should know, the rarest first: ``1 of 10 answers runs text as code (eval)``."""
        total = len(self.findings)
        told = []
        for capability, count in sorted(self.counts().items(), key=lambda entry: (entry[1], _DANGER.index(entry[0]))):
            if count:
                examples = [item.text for found in self.findings for item in found or () if item.capability is capability]
                told.append(f"{count} of {total} answers {WORDS[capability][count > 1]}: {examples[0]}")
        return tuple(told)


def profile(codes: Sequence[str], language: str) -> SafetyProfile | None:
    """The safety profile of these codes; ``None`` when the language has no grammar."""
    known = find_language(language)
    return SafetyProfile(tuple(find_capabilities(code, known) for code in codes)) if known else None


def find_capabilities(code: str, language: Language) -> tuple[Finding, ...] | None:
    """What a code reaches for, each kind once a line; ``None`` for one longer than ``MAX_CODE``."""
    if len(code) > MAX_CODE:
        return None
    found: dict[tuple[Capability, int], Finding] = {}
    before = 0 if not language.opening or "<?" in code else language.opening.count("\n")
    for kind, node in _nodes(parse_tree(code, language).root_node, language):
        text = (node.text or b"")[:_MAX_SEEN].decode("utf-8", "replace")
        line = node.start_point[0] + 1 - before
        for capability in _capabilities(kind, text, language):
            shown = " ".join(text.split())[:60]
            found.setdefault((capability, line), Finding(capability, line, shown))
    return tuple(sorted(found.values(), key=lambda item: (item.line, item.capability)))


def _nodes(root: Node, language: Language) -> Iterator[tuple[str, Node]]:
    if language.name == "sql":  # a program in SQL is no text in a program
        return
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_named:
            if _IMPORT.search(node.type):
                yield "import", node
            elif _CALL.search(node.type):
                yield "call", node
            elif _TEXT.search(node.type):
                yield "text", node
        waiting.extend(node.children)


def _capabilities(kind: str, text: str, language: Language) -> Iterator[Capability]:
    if kind == "text":
        if SQL.search(text):
            yield Capability.SQL
        return
    texts = [text]
    if kind == "call":  # what is called, and what is called with its first text: require('fs')
        texts = [match.group(0).strip() for head in (_HEAD, _HEAD_AND_TEXT) if (match := head.match(text))]
    for rules in (IMPORTS if kind == "import" else CALLS).get(language.name, {}), CALLS["*"] if kind == "call" else {}:
        for name, pattern in rules.items():
            if any(map(pattern.search, texts)):
                yield Capability(name)
