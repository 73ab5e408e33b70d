"""A call with literal arguments, as a person writes it and as steps."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluator_core.behaviour.records import Step

_BAD = (SyntaxError, ValueError, TypeError, RecursionError, MemoryError)


def parse_call(text: str, name: str | None = None) -> tuple[Step, ...] | None:
    """The steps of ``f(1)``, ``A(1).m(2)`` or ``a = A(1); a.m(2); a.n()``.

    ``None`` when it is not that, its arguments are no literals, or it does not begin with ``name``.
    """
    try:
        *before, last = _statements(text)
        if not isinstance(last, ast.Expr):
            return None
        steps = _row(before, last) if before else _steps(last.value)
    except _BAD:
        return None
    return steps if steps and name in (None, steps[0].name) else None


def split_expected(text: str) -> tuple[str, str | None]:
    """A call and what it should give, from ``f(3) == 9``; the text itself and ``None`` when nothing is said of that."""
    try:
        *before, last = _statements(text)
    except _BAD:
        return text, None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Compare) and isinstance(last.value.ops[0], ast.Eq):
        expected = ast.unparse(last.value.comparators[0])
        if len(last.value.ops) == 1 and is_literal(expected):
            return "; ".join(map(ast.unparse, [*before, last.value.left])), expected
    return text, None


def format_steps(steps: Sequence[Step]) -> str:
    """The steps as a person writes them, and ``parse_call`` reads them."""
    written = []
    for step in steps:
        values, named = ast.literal_eval(step.arguments), ast.literal_eval(step.named)
        parts = [*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())]
        written.append(f"{step.name}({', '.join(parts)})")
    if not any(step.apart for step in steps):
        return ".".join(written)
    name = steps[0].name[:1].lower()
    return "; ".join([f"{name} = {written[0]}", *(f"{name}.{call}" for call in written[1:])])


def literal(text: str) -> Any:
    """The value of a literal; ``None`` also for what is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def is_literal(text: str) -> bool:
    """Whether a text is a literal."""
    return text.strip() == "None" or literal(text) is not None


def _statements(text: str) -> list[ast.stmt]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip()).body


def _row(before: Sequence[ast.stmt], last: ast.Expr) -> tuple[Step, ...]:
    """The steps of an object that is made and named, and of calls of its methods, one after the other."""
    match before[0]:
        case ast.Assign(targets=[ast.Name(id=name)], value=made):
            steps = _steps(made)
        case _:
            raise ValueError("not an object with a name")
    for statement in (*before[1:], last):
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=subject), attr=method)) as call) if subject == name:
                named = ast.Call(ast.Name(method), call.args, call.keywords)
                steps = (*steps, replace(_steps(named)[0], apart=statement is not last))
            case _:
                raise ValueError("not a method of that object")
    return steps


def _steps(node: ast.expr) -> tuple[Step, ...]:
    if not isinstance(node, ast.Call):
        raise ValueError("not a call")
    before: tuple[Step, ...] = ()
    if isinstance(node.func, ast.Attribute):
        before, name = _steps(node.func.value), node.func.attr
    elif isinstance(node.func, ast.Name):
        name = node.func.id
    else:
        raise ValueError("not a name")
    if any(keyword.arg is None for keyword in node.keywords) or name.startswith("_"):
        raise ValueError("not plain")
    values = tuple(ast.literal_eval(argument) for argument in node.args)
    named = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}
    return (*before, Step(name, repr(values), repr(named)))
