"""Where the inputs come from: the user, the examples in the prompt, then types; each remembers its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evaluator_core.behaviour.calls import format_steps
from evaluator_core.behaviour.definitions import Definition, Parameter, describe, find_target, reads_input
from evaluator_core.behaviour.examples import called_function, prompt_inputs, user_inputs, user_programs
from evaluator_core.behaviour.generate import Shape, edges, generate, shape_of_annotation, shape_of_values, usual
from evaluator_core.behaviour.records import Input, Source, Step
from evaluator_core.behaviour.words import allowed, other_texts, says_which_texts, shape_from_words

MAX_EDGES, MAX_GENERATED = 10, 12
MAX_ROWS = 20
_INT: Shape = ("int", ())
_STR: Shape = ("str", ())
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
    function = function or called_function(calls)
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


def check_calls(codes: Sequence[str], calls: Sequence[str], function: str | None = None) -> None:
    """``InvalidInput`` when the user's calls cannot be used on these answers; every bad line is named."""
    if function or called_function(calls) or not _are_programs(codes):
        user_inputs(calls)


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
    """Each method on a new object, then after others: what those do to the object shows in the last."""
    makers = [item.steps[0] for item in known]
    if not makers:
        makers = [Step(target.name, repr(values)) for values in _tuples(target.parameters, [], 2, 1, prompt)]
    if not makers:
        return []
    maker, found, typical = makers[0], [], []
    for method in target.methods:
        seen = [
            ast.literal_eval(item.steps[-1].arguments)
            for item in known
            if item.steps[-1].name == method.name and item.steps[-1].named == "{}"
        ]
        made = _tuples(method.parameters, seen, 4, 3, prompt)
        found += [_input((maker, Step(method.name, repr(values)))) for values in made]
        typical.append(Step(method.name, repr((seen or made[-1:])[0])))
    rows = [item.steps for item in known if len(item.steps) > 2]
    longest = max(rows, key=len, default=())
    in_a_row = [(*longest, last) for last in typical] if longest else []
    # Each method as often as the others, and after each other one before after itself.
    count = len(typical)
    for away in (*range(1, count), 0):
        in_a_row += [(maker, typical[place], typical[(place + away) % count]) for place in range(count)]
    return found + [_input(_on_one_object(steps)) for steps in in_a_row[:MAX_ROWS]]


def _on_one_object(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    return (steps[0], *(replace(step, apart=True) for step in steps[1:-1]), steps[-1])


def _input(steps: tuple[Step, ...]) -> Input:
    return Input(format_steps(steps), Source.GENERATED, steps)


def _tuples(
    parameters: Sequence[Parameter], seen: Sequence[tuple[Any, ...]], few: int, many: int, prompt: str
) -> list[tuple[Any, ...]]:
    """Arguments for these parameters: the forgotten values first, then others; what the types may be besides comes last."""
    choices = _choices(parameters, seen, prompt)
    if not choices:
        return [()]
    found: dict[str, tuple[Any, ...]] = {}
    for turn in range(max(map(len, choices))):
        shapes = [choice[min(turn, len(choice) - 1)] for choice in choices]
        share = 1 if turn == 0 else 2
        base = seen[0] if turn == 0 and seen and len(seen[0]) == len(shapes) else tuple(map(usual, shapes))
        found |= {repr(values): values for values in _some(shapes, base, -(-few // share), -(-many // share), prompt)}
    return list(found.values())


def _some(shapes: Sequence[Shape], base: tuple[Any, ...], few: int, many: int, prompt: str) -> list[tuple[Any, ...]]:
    forgotten = [edges(shape) for shape in shapes]
    found: list[tuple[Any, ...]] = []
    for rank in range(6):
        if len(shapes) > 1 and all(rank < len(values) for values in forgotten):
            found.append(tuple(values[rank] for values in forgotten))
        found += [
            (*base[:place], values[rank], *base[place + 1 :]) for place, values in enumerate(forgotten) if rank < len(values)
        ]
    # What the prompt rules out in words would split answers that are right.
    unique = {repr(values): values for values in found if allowed(values, prompt)}
    drawn = [values for values in generate(shapes, 3 * many) if allowed(values, prompt)]
    step = max(1, len(drawn) // max(1, many))
    return [*list(unique.values())[:few], *drawn[::step][:many]]


def _choices(parameters: Sequence[Parameter], seen: Sequence[tuple[Any, ...]], prompt: str) -> list[tuple[Shape, ...]]:
    """For each argument the shapes that it may have, the likeliest first.

    Where the type is only guessed, others are tried as well: inputs that the answers refuse do not count in the end.
    """
    length = max((len(values) for values in seen), default=0)
    # Examples tell more than annotations: a list of what, a number or a text.
    from_examples = [shape_of_values([values[place] for values in seen if place < len(values)]) for place in range(length)]
    needed = max(length, sum(parameter.required for parameter in parameters))
    choices = []
    for place in range(needed):
        known = shape_of_annotation(parameters[place].annotation) if place < len(parameters) else None
        known = known or (from_examples[place] if place < length else None)
        guessed = None
        if known is None and place < len(parameters):
            guessed = shape_from_words(parameters[place].name, prompt, len(parameters) == 1)
        choices.append(_with_others(known, guessed, prompt, bool(seen)))
    return choices


def _with_others(known: Shape | None, guessed: Shape | None, prompt: str, has_examples: bool) -> tuple[Shape, ...]:
    shape = known or guessed
    if shape is None:
        return _INT, ("list", (_INT,)), _STR
    texts = other_texts(prompt) if not has_examples else ()  # examples say which texts are meant
    if shape == _STR:
        return texts[:1] if texts and says_which_texts(prompt) else (shape, *texts)
    if shape == ("list", (_STR,)):
        return shape, *(("list", (text,)) for text in texts)
    if known is None and shape == ("list", (_INT,)):
        return shape, ("list", (_STR,)), *(("list", (text,)) for text in texts[:1])
    return (shape,)
