"""Calls with literal arguments: those that a user writes, and those that stand in a prompt with what they give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evaluator_core.behaviour.calls import format_steps, is_literal, literal, parse_call, split_expected
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
_ASSIGNED = re.compile(r">>>\s*(\w+)\s*=\s*$")
_QUOTES = re.compile("\"\"\"|'''")
_LONGEST_ROW = 12


def user_inputs(lines: Sequence[str]) -> tuple[Input, ...]:
    """The user's own calls, each with or without what it should give; every bad line is named at once."""
    found, wrong = [], []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        call, expected = split_expected(text)
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
        steps = parse_call(split_expected(line.strip())[0])
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
    for place, call, steps in _method_calls(prompt, target) if target.is_class else _function_calls(prompt, target):
        if not _fits(steps, target):
            continue
        known = found.get(steps)
        if known is None or known.expected is None:
            expected = _expected(prompt, place, place + len(call))
            found[steps] = Input(format_steps(steps), Source.EXAMPLE, steps, expected=expected)
    return tuple(found.values())


def _function_calls(prompt: str, target: Definition) -> Iterator[tuple[int, str, tuple[Step, ...]]]:
    """Where the function is called, the call, and its steps."""
    for place, call in _calls_of([re.escape(target.name)], prompt):
        steps = parse_call(call, target.name)
        if steps:
            yield place, call, steps


def _method_calls(prompt: str, target: Definition) -> Iterator[tuple[int, str, tuple[Step, ...]]]:
    """Where a method is called, the call, and its steps: in a doctest, on what the calls before it have made of the object."""
    made, rows = _first_makers(prompt, target), dict[str, tuple[Step, ...]]()
    heads = [re.escape(target.name), *(rf"\w+\.{re.escape(method.name)}" for method in target.methods)]
    docstring = 0
    for place, call in _calls_of(heads, prompt):
        line = prompt[prompt.rfind("\n", 0, place) + 1 : place]
        in_doctest = line.lstrip().startswith(">>>")
        if len(_QUOTES.findall(prompt, 0, place)) != docstring:  # each docstring begins anew
            docstring, rows = len(_QUOTES.findall(prompt, 0, place)), {}
        subject, dot, method = call.partition(".")
        if not (dot and subject.isidentifier()):
            steps, name = parse_call(call, target.name), _ASSIGNED.search(line)
            if steps and name:
                made[name[1]] = steps[0]
                rows[name[1]] = steps[:1]
            elif steps:
                yield place, call, steps
            continue
        maker = made.get(subject)
        if maker is None:
            continue
        row = rows.get(subject, (maker,)) if in_doctest else (maker,)
        last = parse_call(method)
        if row and last:
            yield place, call, (*row, *last)
        if in_doctest:
            # After arguments that are no literals, or too many calls, nobody knows here what the object holds.
            is_known = row and last and len(last) == 1 and len(row) < _LONGEST_ROW
            rows[subject] = (*row, replace(last[0], apart=True)) if is_known and last else ()


def _first_makers(prompt: str, target: Definition) -> dict[str, Step]:
    """How each name that stands for an object of the class is made for the first time."""
    made: dict[str, Step] = {}
    for place, call in _calls_of([re.escape(target.name)], prompt):
        name, steps = _ASSIGNED.search(prompt[prompt.rfind("\n", 0, place) + 1 : place]), parse_call(call, target.name)
        if name and steps:
            made.setdefault(name[1], steps[0])
    return made


def _calls_of(heads: Sequence[str], prompt: str) -> Iterator[tuple[int, str]]:
    """Where one of these is called, and the call up to the bracket that closes it."""
    for match in re.finditer(rf"(?<![\w.])(?:{'|'.join(heads)})\s*\(", prompt):
        if not re.search(r"\b(def|class)\s+$", prompt[max(0, match.start() - 12) : match.start()]):
            call = _balanced(prompt, match.start())
            if call:
                yield match.start(), call


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
