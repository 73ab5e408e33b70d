"""Two codes side by side, as an HTML table for ``st.html``: text → lines → rows → cells.

The codes come from a model, so nothing in them is trusted: every text is escaped, and what could steer or hide text is
shown as a mark. Signs say what colours say: − removed, + added, ~ changed.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rapidfuzz.distance import Indel

SAME = "The two codes are the same, character by character."
MAX_LINES = 3_000
"""Lines of each code that are compared and shown."""
CONTEXT = 3
"""Equal lines that stay beside a difference; a run of equal lines is folded when it hides more than that."""
MARKED_LINE = 500
"""Characters below which the differences within a changed line are marked."""

_REMOVED, _ADDED, _CHANGED = "−", "+", "~"
_KINDS = {_REMOVED: "removed", _ADDED: "added", _CHANGED: "changed", "": "equal"}
_STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, bidi and zero-width marks, lone surrogates, line separators

# Half-transparent colours over whatever page is below, light or dark; the text keeps the page's own colour.
_STYLE = """<style>
.code-diff { overflow-x: auto; font-size: 0.85rem; }
.code-diff table { width: 100%; min-width: 30rem; table-layout: fixed; border-collapse: collapse; color: inherit; }
.code-diff caption { caption-side: top; text-align: start; padding: 0.25rem 0; color: inherit; }
.code-diff th, .code-diff td { border: 0; padding: 0 0.4em; vertical-align: top; line-height: 1.5; color: inherit; }
.code-diff th { text-align: start; overflow-wrap: anywhere; border-bottom: 1px solid rgba(128, 128, 128, 0.6); }
.code-diff td { font-family: ui-monospace, "Source Code Pro", Menlo, Consolas, monospace; direction: ltr; text-align: left; }
.code-diff col.line { width: 4.6em; }
.code-diff td.line { text-align: right; white-space: pre; user-select: none; }
.code-diff td.code { white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
.code-diff td.note { text-align: center; background: rgba(128, 128, 128, 0.15); }
.code-diff td.absent { background: rgba(128, 128, 128, 0.08); }
.code-diff td.removed { background: rgba(229, 72, 77, 0.16); }
.code-diff td.added { background: rgba(48, 164, 108, 0.16); }
.code-diff td.changed { background: rgba(226, 163, 54, 0.16); }
.code-diff del { text-decoration: underline; background: rgba(229, 72, 77, 0.3); color: inherit; }
.code-diff ins { text-decoration: underline; background: rgba(48, 164, 108, 0.3); color: inherit; }
@media (max-width: 640px) { .code-diff { font-size: 0.72rem; } }
</style>"""


class _Block(NamedTuple):
    """Lines ``left[i1:i2]`` beside lines ``right[j1:j2]``: all equal, or all different."""

    equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


def diff_html(left: str, right: str, *, left_title: str, right_title: str) -> str:
    """The two codes side by side as an HTML fragment, equal stretches folded; one sentence when they are the same."""
    if left == right:
        return f'<p class="code-diff-same">{SAME}</p>'
    titles = _escaped(left_title), _escaped(right_title)
    rows = "\n".join(_rows(_lines(left), _lines(right)))
    heads = "".join(f'<th scope="col">Line</th><th scope="col">{title}</th>' for title in titles)
    return f"""<div class="code-diff" role="region" tabindex="0" aria-label="Differences between the two codes">
{_STYLE}
<table>
<caption>{_REMOVED} only on the left, {_ADDED} only on the right, {_CHANGED} changed</caption>
<colgroup><col class="line"><col><col class="line"><col></colgroup>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>"""


def _lines(code: str) -> list[str]:
    """The lines of a code. One that ends with a newline ends with an empty line, so that different codes have different lines."""
    return code.split("\n") if code else []


def _rows(left: list[str], right: list[str]) -> Iterator[str]:
    """The rows of the table's body."""
    if max(len(left), len(right)) > MAX_LINES:
        yield _note(
            f"Only the first {MAX_LINES:,} lines of each code are compared: the left one has {len(left):,}, "
            f"the right one {len(right):,}."
        )
        left, right = left[:MAX_LINES], right[:MAX_LINES]
    for block in _blocks(left, right):
        if block.equal:
            yield from _equal_rows(left, block, at_end=block.i2 == len(left) and block.j2 == len(right))
        else:
            yield from _different_rows(left, right, block)


def _blocks(left: Sequence[str], right: Sequence[str]) -> Iterator[_Block]:
    """Equal and different stretches in turn, by the longest common subsequence of lines."""
    # difflib took five minutes for 3,000 lines of which half are empty; this takes milliseconds, whatever the lines.
    numbers: dict[str, int] = {}
    first, second = ([numbers.setdefault(line, len(numbers)) for line in lines] for lines in (left, right))
    i = j = 0
    for code in Indel.opcodes(first, second):
        if code.tag != "equal":
            continue
        if (i, j) != (code.src_start, code.dest_start):
            yield _Block(False, i, code.src_start, j, code.dest_start)
        i, j = code.src_end, code.dest_end
        yield _Block(True, code.src_start, i, code.dest_start, j)
    if (i, j) != (len(left), len(right)):
        yield _Block(False, i, len(left), j, len(right))


def _equal_rows(lines: Sequence[str], block: _Block, *, at_end: bool) -> Iterator[str]:
    """Equal lines, with only those beside a difference left when there are many."""
    size = block.i2 - block.i1
    before = 0 if block.i1 == block.j1 == 0 else CONTEXT
    after = 0 if at_end else CONTEXT
    hidden = size - before - after
    for offset in range(size):
        if hidden > CONTEXT and before <= offset < size - after:
            if offset == before:
                yield _note(f"… {hidden:,} equal lines …")
            continue
        text = _escaped(lines[block.i1 + offset])
        yield f"<tr>{_cells(block.i1 + offset, text, '')}{_cells(block.j1 + offset, text, '')}</tr>"


def _different_rows(left: Sequence[str], right: Sequence[str], block: _Block) -> Iterator[str]:
    """Lines that differ: paired in order as changed ones, and what is left over as removed or added."""
    for i, j in zip_longest(range(block.i1, block.i2), range(block.j1, block.j2)):
        if j is None:
            yield f"<tr>{_cells(i, _escaped(left[i]), _REMOVED)}{_ABSENT}</tr>"
        elif i is None:
            yield f"<tr>{_ABSENT}{_cells(j, _escaped(right[j]), _ADDED)}</tr>"
        else:
            old, new = _marked(left[i], right[j])
            yield f"<tr>{_cells(i, old, _CHANGED)}{_cells(j, new, _CHANGED)}</tr>"


_ABSENT = '<td class="line absent"></td><td class="code absent"></td>'


def _cells(place: int, markup: str, sign: str) -> str:
    """A line's number with its sign, and the line, which is markup by now."""
    kind = _KINDS[sign]
    return f'<td class="line {kind}">{place + 1} {sign or " "}</td><td class="code {kind}">{markup}</td>'


def _note(text: str) -> str:
    return f'<tr><td class="note" colspan="4">{text}</td></tr>'


def _marked(old: str, new: str) -> tuple[str, str]:
    """Both lines as markup, with ``<del>`` and ``<ins>`` around the characters in which they differ."""
    if max(len(old), len(new)) >= MARKED_LINE:
        return _escaped(old), _escaped(new)
    sides: tuple[list[str], list[str]] = ([], [])
    for code in Indel.opcodes(old, new):
        kept = code.tag == "equal"
        for side, tag, part in (
            (sides[0], "del", old[code.src_start : code.src_end]),
            (sides[1], "ins", new[code.dest_start : code.dest_end]),
        ):
            if part:
                side.append(_escaped(part) if kept else f"<{tag}>{_escaped(part)}</{tag}>")
    return "".join(sides[0]), "".join(sides[1])


def _escaped(text: str) -> str:
    """The text as HTML that holds no tag, and no character that steers or hides others."""
    shown = text.replace("\t", "    ")
    if not shown.isascii() or not shown.isprintable():
        shown = "".join(map(_visible, shown))
    return html.escape(shown, quote=True)


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _STEERING:
        return character
    number = ord(character)
    if number < 0x20:
        return chr(0x2400 + number)
    return "␡" if number == 0x7F else "\N{REPLACEMENT CHARACTER}"
