"""Code that stands in a reply without a fence: where it begins among the prose, and where it ends."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from evaluator_core.languages import Language
from evaluator_core.syntax import MAX_CODE, Syntax, error_share, parses, read_syntax

# A line that prose hardly ever has; whether it really is code is for the grammar to say.
_CODE_LINE = re.compile(
    r"""^[ \t]*(
      (async\s+)?def\s+\w | class\s+\w+\s*([:({<]|$|extends|implements) | @\w+ | import\s+[\w.{*"'(] | from\s+\S+\s+import\s
    | (export\s+|default\s+|async\s+)*function\s*\*?\s*\w*\s*\( | (export\s+)?(const|let|var|val)\s+[\w{\[,\s]+.*=
    | (public|private|protected|internal|static|final|abstract|export|open|override|pub)\s+\w
    | (func|fn|fun|sub|impl|struct|enum|trait|interface|namespace|package|module|object|protocol|template|typedef)\b\s*[\w<(]
    | use\s+[\w:\\]+.*; | using\s+[\w.\s=]+; | require\s*[('"] | \#\s*(include|define)\b | \#! | <\?php
    | (unsigned\s+|const\s+)?(int|void|char|float|double|bool|long|size_t|auto|string|std::\w+)\b[\w\s*&<>:,]*\(
    | (if|while|for|switch|foreach|elif|unless|until)\b.*([:{]|then|do)\s*$ | (try|else|do|begin)\s*[:{]\s*$
    | return\b[^.]*;?$ | print(f|ln)?\s*\( | echo\s | [\w.\[\]'"$*]+\s*([-+*/%|&^]|:|\?\?)?=\s*\S | \$\w
    | [\w.:$>-]+\(.*\)\s*;?\s*$ | .*[{};]\s*$
    | (?i:select\b|insert\s+into|create\s+(or\s+replace\s+)?(table|view|function|procedure|index|trigger)|update\s+\w+\s+set
      |delete\s+from|with\s+\w+\s+as\s*\()
    )""",
    re.VERBOSE,
)
# A sentence: a capital, some words, a full stop, and nothing that only code has. Some grammars take even that for code.
_SENTENCE = re.compile(r"^[A-Z][\w'’,-]*( [\w'’,()/-]+){2,}[.:!?]+$")
_BLOCK_END = re.compile(r"\s+\S|[)\]}]|(end|done|fi|esac)\b")
_FIRST_NUMBER = re.compile(r"^[ \t]*1[.:)|](?:[ \t]|$)", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*(\d{1,4})[.:)|](?:[ \t]|$)(.*)$")
_MAX_FAILURES = 15
_MAX_PARSED = 150_000
_MOST_ERRORS = 0.25

Bare = tuple[str, Syntax | None]
"""A code and what the grammar sees in it."""


def find_bare_code(parts: Iterable[str], language: Language | None) -> Bare | None:
    """The best piece of code in these parts of a reply; ``None`` when there is only prose."""
    found = [bare for part in parts for bare in _candidates(_without_indent(part), language)]
    return max(found, key=_rank, default=None)


def _without_indent(part: str) -> str:
    """The text without the indent that all its lines share. One blank before the first word is a tokeniser's, and no indent."""
    text = part.lstrip("\n")
    return (textwrap.dedent(text) if text.startswith(("  ", "\t")) else text).strip()


def _rank(bare: Bare) -> tuple[int, ...]:
    code, syntax = bare
    return (0, 0, len(code)) if syntax is None else (syntax.parses and syntax.defines, syntax.parses, len(syntax.kinds))


def _candidates(text: str, language: Language | None) -> Iterator[Bare]:
    numbered = _without_line_numbers(text.split("\n")) if _FIRST_NUMBER.search(text) else ""
    found = list(_runs_of_code(numbered, language)) if numbered else []
    yield from found or _runs_of_code(text, language)


def _runs_of_code(text: str, language: Language | None) -> Iterator[Bare]:
    lines = text.split("\n")
    if not any(_looks_like_code(line) for line in lines):
        return
    if language is None or len(text) > MAX_CODE:
        yield _without_prose_around(lines), None
        return
    whole = read_syntax(text, language)
    if whole is not None and whole.parses and not _SENTENCE.match(lines[0]) and not _SENTENCE.match(lines[-1]):
        if not whole.is_empty:
            yield text, whole
        return
    yield from _pieces(lines, language)


def _pieces(lines: list[str], language: Language) -> Iterator[Bare]:
    """From each line that looks like code, the longest run of lines that parses; else the first run, broken as it is."""
    starts = [
        number
        for number, line in enumerate(lines)
        if _looks_like_code(line) and (not line[0].isspace() or number == 0 or not lines[number - 1].strip())
    ]
    ends = [number for number, line in enumerate(lines) if _may_be_prose(line)] + [len(lines)]
    effort = _Effort(_MAX_PARSED)
    covered = 0
    for start in starts:
        if start < covered or effort.is_spent:
            continue
        end = _last_clean_end(lines, start, ends[bisect_right(ends, start) :], language, effort)
        if end is not None:
            code = textwrap.dedent("\n".join(lines[start:end]).rstrip())
            syntax = read_syntax(code, language)
            if syntax is not None and not syntax.is_empty:
                yield code, syntax
                covered = end
    if starts and not covered:
        code = "\n".join(lines[starts[0] :])
        syntax = read_syntax(code, language)
        if syntax is not None and syntax.defines and (_is_all_code(code) or error_share(code, language) < _MOST_ERRORS):
            yield code, syntax


def _last_clean_end(lines: list[str], start: int, ends: list[int], language: Language, effort: _Effort) -> int | None:
    """The last of these line numbers up to which the code from ``start`` parses; it can only end where prose may begin."""
    last, failures = None, 0
    for end in ends:
        code = "\n".join(lines[start:end])
        if failures > _MAX_FAILURES or not effort.allows(len(code)):
            break
        if parses(code, language):
            last, failures = end, 0
            if end < len(lines) and _SENTENCE.match(lines[end]):
                break
        else:
            failures += 1
    return last


def _without_prose_around(lines: list[str]) -> str:
    """The text from the first line that looks like code to the last one that does, or that can end a block."""
    first = next(number for number, line in enumerate(lines) if _looks_like_code(line))
    last = max(number for number, line in enumerate(lines) if _looks_like_code(line) or _BLOCK_END.match(line))
    return "\n".join(lines[first : last + 1]).rstrip()


def _is_all_code(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return all(_looks_like_code(line) or _BLOCK_END.match(line) for line in lines)


def _looks_like_code(line: str) -> bool:
    # A line without end is told by both its ends: on all of it, the pattern would try too many ways to match.
    return bool(_CODE_LINE.match(line if len(line) <= 200 else f"{line[:150].rstrip()} {line[-40:].lstrip()}"))


def _may_be_prose(line: str) -> bool:
    return bool(line) and not line[0].isspace() and not _looks_like_code(line)


class _Effort:
    """How many characters may still be parsed: a long text with many beginnings must not take for ever."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def allows(self, characters: int) -> bool:
        self._left -= characters
        return not self.is_spent


def _without_line_numbers(lines: list[str]) -> str:
    """The text of a listing whose lines are numbered 1, 2, 3 …, without the numbers; ``""`` when they are not."""
    expected, plain = 1, []
    for line in lines:
        match = _NUMBERED.match(line)
        if match and int(match[1]) == expected:
            plain.append(match[2])
            expected += 1
        elif expected > 1 and line.strip():
            break
    return textwrap.dedent("\n".join(plain)).strip() if expected > 3 else ""
