# ruff: noqa: E501
"""What the words of a prompt say about the values that a parameter takes, where there is neither annotation nor example."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from evaluator_core.behaviour.generate import Shape, letters, sentence

_INT: Shape = ("int", ())
_STR: Shape = ("str", ())
_SHAPES: tuple[tuple[str, Shape], ...] = (
    (r"(?:list|array)s? of (?:\w+ )?(?:lists|arrays)|matrix|(?:2d|two[- ]dimensional|nested) (?:list|array)|\bgrid\b", ("list", (("list", (_INT,)),))),
    (r"(?:list|array|sequence|vector)s? of (?:\w+ ){0,2}(?:strings|words|names)", ("list", (_STR,))),
    (r"(?:list|array|sequence)s? of (?:\w+ ){0,2}(?:floats|decimals)", ("list", (("float", ()),))),
    (r"\b(?:list|array|arr|lst|nums|numbers|sequence|vector)\b", ("list", (_INT,))),
    (r"\bdict(?:ionary)?\b", ("dict", (_STR, _STR))),
    (r"\b(?:string|text|sentence|word|str|message|substring|paragraph|password|date)\b", _STR),
    (r"\b(?:float|decimal|real number)\b", ("float", ())),
    (r"\b(?:integers?|int|number|digits?|whole|natural|year|count|length|index)\b", _INT),
    (r"\b(?:bool|boolean|flag)\b", ("bool", ())),
)  # fmt: skip
_BY_NAME: tuple[tuple[str, Shape], ...] = (
    (r"^(?:strings|words|names|lines)$", ("list", (_STR,))),
    (r"^(?:grid|matrix|mat)$", ("list", (("list", (_INT,)),))),
    (r"^(?:l|lst\d*|arr|array|a?list\w*|nums|numbers|xs|ints|items|values|seq|\w+_list)$", ("list", (_INT,))),
    (r"^(?:dict|d|mapping)$", ("dict", (_STR, _STR))),
    (r"^(?:s|s\d|text|string\w*|str\d?|word|txt|sentence|message|name|file_name|date|key|phrase)$", _STR),
    (r"^(?:n|m|k|x|y|z|i|a|b|c|num\w*|number|size|count|step|base|year|limit|shift)$", _INT),
)  # fmt: skip


def shape_from_words(name: str, prompt: str, alone: bool) -> Shape | None:
    """The shape of a parameter by the words around its name, by its name, or by the whole prompt when it is the only one."""
    near = " ".join(
        prompt[max(0, match.start() - 45) : match.end() + 25].split("\n\n")[-1]
        for match in re.finditer(rf"(?<![\w(]){re.escape(name)}(?![\w(])", prompt.split('"""', 1)[-1].split("'''", 1)[-1])
        if len(name) > 1 or prompt[match.end() : match.end() + 1] != "'"
    ).lower()
    by_name = _first(_BY_NAME, name.lower())
    if alone:
        # The first thing that is named after "given" or "takes" is what comes in.
        given = re.search(r"(?:given|takes?|accepts?|receives?|passed|for|of|whether|if)\b(.{0,70})", prompt.lower(), re.DOTALL)
        found = _first(_SHAPES, given.group(1)) if given else None
        if by_name and found and by_name[0] == found[0]:
            return found
        return by_name or found or _first(_SHAPES, prompt.lower())
    if by_name and by_name[0] == "list":
        refined = _first(_SHAPES[:3], near)
        return refined or by_name
    return by_name or _first(_SHAPES, near)


_QUOTED = re.compile(r"""(?<![\w'"`])(['"`])((?:(?!\1)[^\n]){1,12})\1(?!\w)""")
_TEXTS: tuple[tuple[str, Shape], ...] = (
    (r"\b[01]'?s and [01]'?s|\bbinary\b|\bzeroe?s and ones", letters("01")),
    (r"<.{0,12}>|angle bracket", letters("<>")),
    (r"bracket|parenthes", letters("()")),
    (r"\bdigits?\b|\bnumeric|\bnumbers?\b|\bintegers?\b", letters("0123456789")),
    (r"\bsentence|\bwords?\b|\bspaces?\b", sentence(("I", "the", "quick", "Hello", "world.", "a"))),
)


_ONLY = re.compile(
    r"""\b(?:string|text)s?\b[^.\n]{0,40}?\b(?:of|containing|contains)\b(?: only)? (?:['"`][^\w\s]['"`]|[01]'?s\b)""",
    re.IGNORECASE,
)


def says_which_texts(prompt: str) -> bool:
    """Whether a prompt says of which characters a text is made: ``a string of "(" and ")"``. Any other is then not asked for."""
    return bool(_ONLY.search(prompt))


def other_texts(prompt: str) -> tuple[Shape, ...]:
    """Texts that a prompt speaks of, where any text would be refused: of characters or words that it quotes, of digits …"""
    quoted = list(dict.fromkeys(match.group(2) for match in _QUOTED.finditer(prompt)))
    alphabet = "".join(text for text in quoted if len(text) == 1)
    words = [text for text in quoted if len(text) > 1 and text.isalnum()]
    found = [letters(alphabet)] if len(alphabet) > 1 else []
    found += [sentence(words[:12])] if len(words) > 1 else []
    found += [shape for pattern, shape in _TEXTS if re.search(pattern, prompt.lower())]
    return tuple(dict.fromkeys(found))[:3]


def allowed(values: Sequence[Any], prompt: str) -> bool:
    """Whether arguments keep to what the prompt rules out in words: negative numbers, zero, emptiness."""
    words = prompt.lower()
    if re.search(r"non-?\s?empty|not be empty", words) and any(value in ("", [], {}, ()) for value in values):
        return False
    if re.search(r"\bpositive\b|\bnatural number", words) and not re.search(r"\bnegative\b", words):
        return all(number > 0 for number in _numbers(values))
    if re.search(r"non-?\s?negative|no negative", words):
        return all(number >= 0 for number in _numbers(values))
    return True


def _numbers(values: Any) -> list[float]:
    found: list[float] = []
    for value in values:
        if isinstance(value, int | float) and not isinstance(value, bool):
            found.append(value)
        elif isinstance(value, list | tuple | set):
            found += _numbers(value)
    return found


def _first(rules: Sequence[tuple[str, Shape]], text: str) -> Shape | None:
    places = [(match.start(), rank, shape) for rank, (pattern, shape) in enumerate(rules) if (match := re.search(pattern, text))]
    return min(places)[2] if places else None
