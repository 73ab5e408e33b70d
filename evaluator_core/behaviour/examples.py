"""Calls with literal arguments: those that a user writes, and those that stand in a prompt with what they give."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from evaluator_core.behaviour.definitions import Definition
from evaluator_core.behaviour.records import Input, Source, Step
from evaluator_core.errors import InvalidInput

MAX_CALL = 5_000
MAX_USER_CALLS = 200

_GIVES = re.compile(
    r"\s*[`'\"]?\s*(?:==|=>|->|→|➞|➜|=|#\s*(?:=>|->|→)?|[,;:]?\s*(?:it\s+)?(?:should|must|will|would|shall)?\s*"
    r"(?:be\s+equal\s+to|equals?|returns?|return|gives?|give|evaluates?\s+to|yields?|outputs?|produces?|is|be)\b:?)\s*[`]?\s*"
)
_DOCTEST = re.compile(r"^\s*>>>\s*$")


def parse_call(text: str, name: str | None = None) -> tuple[Step, ...] | None:
    """The steps of ``f(1)``, ``A(1).m(2)``; ``None`` when it is not that, or its arguments are no literals."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(text.strip(), mode="eval").body
            steps = _steps(node)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return steps if steps and name in (None, steps[0].name) else None


def user_inputs(lines: Sequence[str]) -> tuple[Input, ...]:
    """The user's own calls, each with or without what it should give; every bad line is named at once."""
    found, wrong = [], []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        call, expected = _split_expected(text)
        steps = parse_call(call) if len(text) <= MAX_CALL else None
        if steps is None:
            wrong.append(f"line {number}: {text[:60]!r} is not a call with literal values, such as f([1, 2], 3) or f(3) == 9")
        else:
            found.append(Input(format_steps(steps), Source.USER, steps, expected=expected))
    if len(found) > MAX_USER_CALLS:
        wrong.append(f"{len(found)} calls are more than {MAX_USER_CALLS}")
    if wrong:
        raise InvalidInput("calls: " + "; ".join(wrong))
    return tuple(found)


def called_function(lines: Sequence[str]) -> str | None:
    """The function or class that the first of the user's calls calls; ``None`` when there is no call."""
    for line in lines:
        steps = parse_call(_split_expected(line.strip())[0])
        if steps:
            return steps[0].name
    return None


def user_calls(inputs: Sequence[Input]) -> tuple[str, ...]:
    """The lines of ``user_inputs`` or ``user_programs`` that these inputs were made of, as far as the user gave them."""
    lines = []
    for item in inputs:
        if item.source is not Source.USER:
            continue
        if item.stdin is not None:
            lines.append(repr(item.stdin.removesuffix("\n").split("\n")))
        else:
            lines.append(item.text if item.expected is None else f"{item.text} == {item.expected}")
    return tuple(lines)


def user_programs(lines: Sequence[str]) -> tuple[Input, ...]:
    """What whole programs shall read: a list of lines such as ``["2", "1 2"]`` on each line, or plain text."""
    found = []
    for line in lines:
        if not line.strip():
            continue
        value = literal(line)
        parts = [str(part) for part in value] if isinstance(value, list) else [line]
        text = "\n".join(parts) + "\n"
        found.append(Input(text, Source.USER, stdin=text))
    return tuple(found)


def prompt_inputs(prompt: str, target: Definition) -> tuple[Input, ...]:
    """The calls of the target that stand in the prompt, with what they give where that is said."""
    found: dict[tuple[Step, ...], Input] = {}
    made: dict[str, Step] = {}
    heads = [target.name, *(rf"\w+\.{re.escape(method.name)}" for method in target.methods)]
    if target.is_class:
        for match in re.finditer(rf">>>\s*(\w+)\s*=\s*({re.escape(target.name)}\()", prompt):
            call = _balanced(prompt, match.start(2))
            steps = parse_call(call) if call else None
            if steps:
                made[match.group(1)] = steps[0]
    pattern = re.compile(
        rf"(?<![\w.])(?:{'|'.join(heads)})\s*\(" if target.is_class else rf"(?<![\w.]){re.escape(target.name)}\s*\("
    )
    for match in pattern.finditer(prompt):
        if re.search(r"\b(def|class)\s+$", prompt[max(0, match.start() - 12) : match.start()]):
            continue
        call = _balanced(prompt, match.start())
        steps = _with_subject(call, made, target) if call else None
        if not call or not steps or not _fits(steps, target):
            continue
        expected = _expected(prompt, match.start(), match.start() + len(call))
        known = found.get(steps)
        if known is None or known.expected is None:
            found[steps] = Input(format_steps(steps), Source.EXAMPLE, steps, expected=expected)
    return tuple(found.values())


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


def format_steps(steps: Sequence[Step]) -> str:
    """The steps as a person writes them."""
    written = []
    for step in steps:
        values, named = ast.literal_eval(step.arguments), ast.literal_eval(step.named)
        parts = [*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())]
        written.append(f"{step.name}({', '.join(parts)})")
    return ".".join(written)


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


def _split_expected(text: str) -> tuple[str, str | None]:
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text, None
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
        expected = ast.unparse(node.comparators[0])
        return (ast.unparse(node.left), expected) if is_literal(expected) else (text, None)
    return text, None


def _with_subject(call: str, made: dict[str, Step], target: Definition) -> tuple[Step, ...] | None:
    name, dot, rest = call.partition(".")
    if target.is_class and dot and name.isidentifier():
        method = parse_call(rest)
        return (made[name], *method) if method and name in made else None
    return parse_call(call, target.name)


def _fits(steps: tuple[Step, ...], target: Definition) -> bool:
    if target.is_class:
        return len(steps) > 1
    given = len(ast.literal_eval(steps[0].arguments)) + len(ast.literal_eval(steps[0].named))
    required = sum(parameter.required for parameter in target.parameters)
    return given >= required and (given <= len(target.parameters) or not target.parameters)


def _balanced(text: str, start: int) -> str | None:
    """The call that begins at ``start``, up to the bracket that closes it."""
    depth, quote, place = 0, "", start
    while place < min(len(text), start + MAX_CALL):
        character = text[place]
        if quote:
            if character == "\\":
                place += 1
            elif character == quote:
                quote = ""
        elif character in "'\"" and depth:
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0:
                return text[start : place + 1]
        place += 1
    return None


def _expected(prompt: str, start: int, end: int) -> str | None:
    line_start = prompt.rfind("\n", 0, start) + 1
    line_end = prompt.find("\n", end)
    rest_of_line = prompt[end : line_end if line_end >= 0 else len(prompt)]
    if _DOCTEST.match(prompt[line_start:start]) and not rest_of_line.strip():
        for candidate in _following(prompt[line_end + 1 :] if line_end >= 0 else ""):
            if is_literal(candidate):
                return candidate.strip()
        return None
    gives = _GIVES.match(prompt, end)
    return _leading_literal(prompt[gives.end() : gives.end() + 400]) if gives else None


def _following(text: str) -> Iterator[str]:
    """What a doctest shows: the lines after it, as many as make a literal."""
    lines: list[str] = []
    for line in text.split("\n")[:12]:
        if not line.strip() or line.lstrip().startswith((">>>", '"""', "'''")):
            return
        lines.append(line.strip())
        yield "\n".join(lines)


def _leading_literal(text: str) -> str | None:
    line = text.split("\n", 1)[0]
    for cut in sorted({match.end() for match in re.finditer(r"[\])}'\"]|[\w.]+(?=[^\w.]|$)", line)}, reverse=True):
        candidate = line[:cut].rstrip(".,;")
        if is_literal(candidate):
            return candidate.strip()
    whole = _balanced(text, 0) if text[:1] in "([{" and text else None
    return whole if whole and is_literal(whole) else None
