"""Where the inputs come from: the user, the examples in the prompt, then types; each remembers its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from evaluator_core.behaviour.definitions import Definition, Parameter, describe, find_target, reads_input
from evaluator_core.behaviour.examples import format_steps, parse_call, prompt_inputs, user_inputs, user_programs
from evaluator_core.behaviour.generate import Shape, edges, generate, shape_of_annotation, shape_of_values
from evaluator_core.behaviour.records import Input, Source, Step
from evaluator_core.behaviour.words import allowed, shape_from_words

MAX_EDGES, MAX_GENERATED = 10, 12
_PROGRAM_LINES = ("", "0\n", "1\n", "5\n", "-3\n", "hello\n", "1 2 3\n", "3\n1 2 3\n", "2\n4 4\n", "10\n20\n")
_SAMPLE_INPUT = re.compile(
    r"(?:^|\n)[ \t*#]*(?:sample |example )?input[ \t*:\d]*\n?(?:```\w*\n)?(.+?)\n?(?:```\s*)?"
    r"\n[ \t*#]*(?:sample |example )?output[ \t*:\d]*\n?(?:```\w*\n)?(.+?)(?=\n\s*\n|```|\Z)",
    re.IGNORECASE | re.DOTALL,
)


def choose_inputs(
    codes: Sequence[str], prompt: str, calls: Sequence[str] = (), function: str | None = None
) -> tuple[Definition | None, tuple[Input, ...]]:
    """What to call, and with what; ``None`` and no inputs when nothing can be found, ``None`` with inputs for programs."""
    if function is None and calls:
        first = next((parse_call(line.split("==")[0]) for line in calls if line.strip()), None)
        function = first[0].name if first else None
    if function is None and _are_programs(codes):
        return None, _program_inputs(prompt, calls)
    target = describe(function, [prompt, *codes]) or Definition(function) if function else find_target(codes, prompt)
    if target is None:
        return None, ()
    given, examples = user_inputs(calls), prompt_inputs(prompt, target)
    made = _generated(target, [*given, *examples], prompt)
    unique: dict[tuple[Step, ...], Input] = {}
    for item in (*given, *examples, *made):
        known = unique.get(item.steps)
        if known is None:
            unique[item.steps] = item
    return target, tuple(unique.values())


def _are_programs(codes: Sequence[str]) -> bool:
    given = [code for code in codes if code.strip()]
    return bool(given) and sum(map(reads_input, given)) * 2 > len(given)


def _program_inputs(prompt: str, calls: Sequence[str]) -> tuple[Input, ...]:
    found = list(user_programs(calls))
    for match in _SAMPLE_INPUT.finditer(prompt):
        text = match.group(1).strip("\n") + "\n"
        found.append(Input(text, Source.EXAMPLE, stdin=text, expected=match.group(2).strip()))
    found += [Input(text, Source.GENERATED, stdin=text) for text in _PROGRAM_LINES]
    unique: dict[str | None, Input] = {}
    for item in found:
        unique.setdefault(item.stdin, item)
    return tuple(unique.values())


def _generated(target: Definition, known: Sequence[Input], prompt: str) -> list[Input]:
    if target.is_class:
        return _generated_methods(target, known, prompt)
    seen = [ast.literal_eval(item.steps[0].arguments) for item in known if item.steps[0].named == "{}"]
    made = _tuples(target.parameters, seen, MAX_EDGES, MAX_GENERATED, prompt)
    return [_input((Step(target.name, repr(values)),)) for values in made]


def _generated_methods(target: Definition, known: Sequence[Input], prompt: str) -> list[Input]:
    makers = [item.steps[0] for item in known]
    if not makers:
        makers = [Step(target.name, repr(values)) for values in _tuples(target.parameters, [], 2, 1, prompt)][:2]
    found = []
    for method in target.methods:
        seen = [
            ast.literal_eval(item.steps[-1].arguments)
            for item in known
            if item.steps[-1].name == method.name and item.steps[-1].named == "{}"
        ]
        for values in _tuples(method.parameters, seen, 4, 3, prompt):
            found += [_input((maker, Step(method.name, repr(values)))) for maker in makers[:1]]
    return found


def _input(steps: tuple[Step, ...]) -> Input:
    return Input(format_steps(steps), Source.GENERATED, steps)


def _tuples(
    parameters: Sequence[Parameter], seen: Sequence[tuple[Any, ...]], few: int, many: int, prompt: str
) -> list[tuple[Any, ...]]:
    """Arguments for these parameters: the forgotten values first, then others; none when the types are unknown."""
    shapes = _shapes(parameters, seen, prompt)
    if shapes is None:
        return []
    if not shapes:
        return [()]
    base = seen[0] if seen and len(seen[0]) == len(shapes) else tuple((edges(shape) or (0,))[-1] for shape in shapes)
    found: list[tuple[Any, ...]] = []
    for rank in range(6):
        for place, shape in enumerate(shapes):
            values = edges(shape)
            if rank < len(values):
                found.append((*base[:place], values[rank], *base[place + 1 :]))
    # What the prompt rules out in words would split answers that are right.
    unique = {repr(values): values for values in found if allowed(values, prompt)}
    drawn = [values for values in generate(shapes, 3 * many) if allowed(values, prompt)]
    step = max(1, len(drawn) // max(1, many))
    return [*list(unique.values())[:few], *drawn[::step][:many]]


def _shapes(parameters: Sequence[Parameter], seen: Sequence[tuple[Any, ...]], prompt: str) -> list[Shape] | None:
    length = max((len(values) for values in seen), default=0)
    # Examples tell more than annotations: a list of what, a number or a text.
    from_examples = [shape_of_values([values[place] for values in seen if place < len(values)]) for place in range(length)]
    needed = max(length, sum(parameter.required for parameter in parameters))
    shapes = []
    for place in range(needed):
        annotated = shape_of_annotation(parameters[place].annotation) if place < len(parameters) else None
        shape = annotated or (from_examples[place] if place < length else None)
        if shape is None and place < len(parameters):
            shape = shape_from_words(parameters[place].name, prompt, len(parameters) == 1)
        if shape is None:
            return None
        shapes.append(shape)
    return shapes
