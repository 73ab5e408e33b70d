"""The names of what a code defines, read from its syntax, in every language that has a grammar."""

from __future__ import annotations

from tree_sitter import Node

from evaluator_core.languages import Language
from evaluator_core.syntax import DEFINITION, parse_tree


def defined_names(code: str, language: Language, *, inner: bool = False) -> tuple[str, ...]:
    """The names of the functions, classes and the like that a code defines; with ``inner`` also of those within others."""
    names = []
    waiting = [*reversed(parse_tree(code, language).root_node.named_children)]
    while waiting:
        node = waiting.pop()
        is_definition = DEFINITION.search(node.type)
        if is_definition and (name := _name(node)):
            names.append(name)
        if inner or not is_definition:
            waiting.extend(reversed(node.named_children))
    return tuple(names)


def _name(node: Node) -> str:
    """The name that a definition gives; ``""`` for a function without one."""
    while inner := node.child_by_field_name("declarator"):  # C writes the name within what it declares
        node = inner
    found = node.child_by_field_name("name") or (node if node.type.endswith("identifier") else None)
    if found is None and node.type in ("arrow_function", "function_expression") and node.parent is not None:
        found = node.parent.child_by_field_name("name")
    elif found is None:
        found = next((child for child in node.named_children if "identifier" in child.type or "reference" in child.type), None)
    return (found.text or b"").decode("utf-8", "replace") if found is not None else ""
