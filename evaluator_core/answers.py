"""A file of answers that one already has → the texts of the answers."""

from __future__ import annotations

import json
from typing import Any

from evaluator_core.errors import InvalidInput

_FORM = "each answer is a JSON string, or an object with a text: one a line, or all in one JSON list"
_SHOWN = 10


def parse_answers(content: str) -> list[str]:
    """The answers in a file's content; every entry that is not an answer is named in one error."""
    content = content.removeprefix("\ufeff")
    if content.lstrip().startswith("["):
        try:
            entries = json.loads(content)
        except (ValueError, RecursionError):
            pass  # no whole list: lines, then, of which each says for itself what is wrong with it
        else:
            return _answers([(f"entry {number}", entry) for number, entry in enumerate(entries, start=1)])
    lines = [(f"line {number}", line) for number, line in enumerate(content.split("\n"), start=1) if line.strip()]
    return _answers([(place, _parse_line(line)) for place, line in lines])


class _NotJson:
    """What stands for a line that cannot be parsed."""


def _parse_line(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return _NotJson()


def _answers(entries: list[tuple[str, Any]]) -> list[str]:
    answers, problems = [], []
    for place, entry in entries:
        text = entry.get("text") if isinstance(entry, dict) else entry
        if isinstance(text, str):
            answers.append(text)
        elif isinstance(entry, _NotJson):
            problems.append(f"{place} is not JSON")
        elif isinstance(entry, dict):
            problems.append(f'{place} has no "text" that is a string')
        else:
            problems.append(f"{place} is {type(entry).__name__}, not a string")
    if problems:
        more = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise InvalidInput(f"{'; '.join(problems[:_SHOWN])}{more}: {_FORM}")
    if not answers:
        raise InvalidInput(f"the file holds no answer: {_FORM}")
    return answers
