"""Smaller forms of an input: fewer elements, shorter texts, numbers nearer to zero."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evaluator_core.behaviour.calls import format_steps
from evaluator_core.behaviour.records import Input, Source


def smaller_inputs(item: Input, most: int) -> list[Input]:
    """Up to ``most`` inputs that are one step smaller, the smallest first."""
    if item.stdin is not None:
        lines = item.stdin.splitlines(keepends=True)
        texts = ["".join(lines[:place] + lines[place + 1 :]) for place in range(len(lines))]
        return [Input(text, Source.SHRUNK, stdin=text) for text in texts[:most]]
    last = item.steps[-1]
    arguments = ast.literal_eval(last.arguments)
    changed = [
        (*item.steps[:-1], replace(last, arguments=repr((*arguments[:place], form, *arguments[place + 1 :]))))
        for place, value in enumerate(arguments)
        for form in _smaller(value)
    ]
    changed += [_without(item.steps, place) for place, step in enumerate(item.steps) if step.apart]
    found = {steps: Input(format_steps(steps), Source.SHRUNK, steps) for steps in changed}
    return sorted(found.values(), key=lambda entry: (len(entry.text), entry.text))[:most]


def _without(sequence: Any, place: int) -> Any:
    return sequence[:place] + sequence[place + 1 :]


def _smaller(value: Any) -> Iterator[Any]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield from dict.fromkeys(
            form for form in (0, 1, abs(value), value // 2, value - 1 if value > 0 else value + 1) if form != value
        )
    elif isinstance(value, float):
        yield from dict.fromkeys(form for form in (0.0, 1.0, float(int(value))) if form != value)
    elif isinstance(value, str | bytes | list | tuple):
        half = len(value) // 2
        if half:
            yield value[:half]
            yield value[half:]
        if not isinstance(value, tuple):
            for place in range(len(value)):
                yield _without(value, place)
        if isinstance(value, list | tuple):
            for place, part in enumerate(value):
                for form in list(_smaller(part))[:2]:
                    changed = [*value[:place], form, *value[place + 1 :]]
                    yield changed if isinstance(value, list) else tuple(changed)
    elif isinstance(value, dict):
        for key in value:
            yield {other: item for other, item in value.items() if other != key}
    elif isinstance(value, set):
        for part in sorted(value, key=repr):
            yield value - {part}
