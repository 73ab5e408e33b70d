"""What Python answers define, read from their syntax alone: functions, classes, methods, empty bodies, programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tree_sitter import Node

from evaluator_core.languages import find_language
from evaluator_core.syntax import MAX_CODE, parse_tree

_PARAMETERS = {"identifier", "typed_parameter", "default_parameter", "typed_default_parameter"}
_READS = re.compile(r"\binput\s*\(|\bsys\s*\.\s*stdin\b|\bopen\s*\(\s*0\s*\)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function."""

    name: str
    """Its name."""
    annotation: str | None
    """The text of its annotation."""
    required: bool
    """Whether a call must give it."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, a class, or a method of a class, at the top of a program."""

    name: str
    """Its name."""
    parameters: tuple[Parameter, ...] = ()
    """Its parameters, without ``self``; for a class those of its constructor."""
    empty: bool = False
    """Whether it has no body but documentation, ``pass``, ``...`` or ``raise NotImplementedError``."""
    is_class: bool = False
    """Whether it is a class."""
    methods: tuple[Definition, ...] = ()
    """Its public methods."""


def definitions(code: str) -> tuple[Definition, ...]:
    """What a code defines at its top, in order; the last one of a name counts."""
    language = find_language("python")
    assert language is not None
    if len(code) > MAX_CODE:
        return ()
    found: dict[str, Definition] = {}
    for node in parse_tree(code, language).root_node.named_children:
        inner = _undecorated(node)
        if inner.type in ("function_definition", "class_definition"):
            definition = _class(inner) if inner.type == "class_definition" else _function(inner)
            found.pop(definition.name, None)
            found[definition.name] = definition
    return tuple(found.values())


def reads_input(code: str) -> bool:
    """Whether a code reads standard input."""
    return bool(_READS.search(code))


def find_target(codes: Sequence[str], prompt: str) -> Definition | None:
    """What to call: something that many answers define, by preference what the prompt calls or names last."""
    counts: Counter[str] = Counter()
    for code in codes:
        counts.update(definition.name for definition in definitions(code) if not definition.name.startswith("__"))
    if not counts:
        return None
    in_prompt = {definition.name: place for place, definition in enumerate(definitions(prompt))}

    def rank(name: str) -> tuple[bool, bool, bool, int, int, int, str]:
        called = bool(re.search(rf"(?<!def )(?<![\w.]){re.escape(name)}\s*\(", re.sub(r"\bdef \w+\(", "", prompt)))
        named = bool(re.search(rf"\b{re.escape(name)}\b", prompt))
        common = counts[name] * 2 >= max(counts.values())
        return common, name in in_prompt, called or named, in_prompt.get(name, -1), called, counts[name], name

    return describe(max(counts, key=rank), [prompt, *codes])


def describe(name: str, codes: Sequence[str]) -> Definition | None:
    """How the first of these codes that defines ``name`` defines it; annotations count more than their absence."""
    found = [item for code in codes for item in definitions(code) if item.name == name]
    annotated = [item for item in found if any(parameter.annotation for parameter in item.parameters)]
    return next(iter(annotated or found), None)


def is_empty(code: str, name: str | None) -> bool:
    """Whether a code defines ``name`` without a body."""
    return any(item.empty for item in definitions(code) if item.name == name)


def _function(node: Node) -> Definition:
    return Definition(_name(node), _parameters(node), _is_empty_body(node))


def _class(node: Node) -> Definition:
    body = node.child_by_field_name("body")
    inner = [_undecorated(child) for child in body.named_children] if body else []
    functions = [_function(child) for child in inner if child.type == "function_definition"]
    constructor = next((function.parameters for function in functions if function.name == "__init__"), ())
    methods = tuple(
        Definition(function.name, function.parameters[1:], function.empty)
        for function in functions
        if not function.name.startswith("_")
    )
    empty = bool(methods) and all(method.empty for method in methods)
    return Definition(_name(node), constructor[1:], empty, True, methods)


def _undecorated(node: Node) -> Node:
    return node.child_by_field_name("definition") or node if node.type == "decorated_definition" else node


def _name(node: Node) -> str:
    return _text(node.child_by_field_name("name"))


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node else ""


def _parameters(node: Node) -> tuple[Parameter, ...]:
    listed = node.child_by_field_name("parameters")
    found = []
    for child in listed.named_children if listed else []:
        if child.type not in _PARAMETERS:
            continue
        name = child.child_by_field_name("name") or (child if child.type == "identifier" else child.named_children[0])
        if name.type != "identifier":  # *args and **kwargs are never needed
            continue
        annotation = child.child_by_field_name("type")
        required = "default" not in child.type
        found.append(Parameter(_text(name), _text(annotation) or None, required))
    return tuple(found)


def _is_empty_body(node: Node) -> bool:
    body = node.child_by_field_name("body")
    if node.has_error:  # what cannot be read is broken, not empty
        return False
    if body is None:
        return True
    for child in body.named_children:
        text = _text(child)
        is_text = child.type == "expression_statement" and all(
            part.type in ("string", "ellipsis") for part in child.named_children
        )
        if not (is_text or child.type in ("pass_statement", "comment") or text.startswith("raise NotImplementedError")):
            return False
    return True
