"""Reply → the code in it.

A reply is prose with code inside, or code with prose around it. The fenced blocks are looked at first; where none of
them is a definition that parses, the text is searched for bare code. What a reply thought aloud is left out.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evaluator_core.bare_code import find_bare_code
from evaluator_core.defined_names import defined_names
from evaluator_core.languages import WITHOUT_GRAMMAR, Language, find_language
from evaluator_core.syntax import Syntax, read_syntax

_THOUGHTS = "think|thinking|thought|reasoning|reflection|scratchpad"
_THOUGHT_PARTS = re.compile(rf"\A(?:\s*<({_THOUGHTS})>.*?(?:</\1>|\Z))+", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"^[ \t]*</({_THOUGHTS})>", re.MULTILINE | re.IGNORECASE)
# Marks of a chat template that a server failed to take out: the turn ends there.
_TURN_CHANGE = re.compile(r"\s<step> (Source|Destination):")
_END_MARK = re.compile(r"(</s>|<\|[\w ]{1,30}\|>|<step>)\s*\Z")
_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)
# A fence behind a line's text, as models write that forget the line end before it.
_LATE_FENCE = re.compile(r"^([^\n`]*[^\n`\s])[ \t]*(`{3,})[ \t]*$", re.MULTILINE)

_NO_PROGRAM = frozenset(
    "bash sh shell zsh console terminal powershell cmd bat output text txt plain plaintext json yaml yml toml xml html css csv"
    " ini diff markdown md mermaid dockerfile makefile http log".split()
)
_SIBLINGS = ({"javascript", "typescript"}, {"c", "cpp"})
# What only tries the answer out: tests, a main program, a demonstration.
_TRIAL = re.compile(
    r"(main|Main|Program|demo|usage|tests?|run_tests?|example(_usage)?)|(test_|[Tt]est(?=[A-Z0-9])).*|.*(_tests?|Tests?|Spec)"
)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The code found in one reply."""

    code: str
    """The code with ``\\n`` line ends and no blank lines around it; ``""`` when the reply holds none."""
    syntax: Syntax | None
    """What the grammar sees in it; ``None`` when there is no code, no grammar, or too much to parse."""


@dataclass(frozen=True, slots=True)
class _Block:
    """One fenced block of a reply."""

    tag: str
    code: str


def extract_code(reply: str, language: str, *, prompt: str = "") -> Extraction:
    """The code of a reply, chosen in the same way each time; never raises, whatever the text.

    ``prompt`` is what was asked, where it is known: blocks that the reply only repeats from it are passed over.
    """
    text = _without_thoughts(_plain(reply))
    if "```" in text:
        text = _LATE_FENCE.sub(r"\1\n\2", text)
    grammar = find_language(language)
    echoed = {block.code for block in _blocks(_plain(prompt))}
    blocks = [block for block in _blocks(text) if block.code not in echoed]
    if grammar is None:
        return _extract_by_shape(text, blocks, language)

    candidates = [(block, read_syntax(block.code, grammar)) for block in blocks]
    candidates = [(block, syntax) for block, syntax in candidates if syntax is None or not syntax.is_empty]
    asked_for = set(re.findall(r"\w+", prompt)) if len(candidates) > 1 else set()
    best = max(candidates, key=lambda candidate: _rank(candidate[0], candidate[1], grammar, asked_for), default=None)
    if best is not None and (best[1] is None or (best[1].defines and best[1].parses)):
        return Extraction(best[0].code, best[1])
    parts = (_without_turn_end(part) for part in _parts(text))
    bare = find_bare_code((part for part in parts if not echoed or _tidy(part) not in echoed), grammar)
    if bare is not None and (best is None or (bare[1] is not None and bare[1].parses and bare[1].defines)):
        return Extraction(*bare)
    return Extraction(best[0].code, best[1]) if best is not None else Extraction("", None)


def fenced_language(replies: Iterable[str]) -> str | None:
    """The name of the language that most replies have at their fences, with a grammar or without; ``None`` for none."""
    votes = Counter[str]()
    for reply in replies:
        tagged = Counter[str]()
        for block in _blocks(_without_thoughts(_plain(reply))):
            language = find_language(block.tag)
            if language or block.tag in WITHOUT_GRAMMAR:
                tagged[language.name if language else block.tag] += len(block.code)
        programs = {name: size for name, size in tagged.items() if name not in _NO_PROGRAM} or tagged
        if programs:
            votes[max(programs, key=lambda name: (programs[name], name))] += 1
    return max(votes, key=lambda name: (votes[name], name)) if votes else None


def _rank(block: _Block, syntax: Syntax | None, wanted: Language, asked_for: set[str]) -> tuple[int, ...]:
    """Higher is likelier to be the answer: in the language asked for, a definition, whole, and then the largest."""
    fit = _fit(block.tag, wanted.name)
    if syntax is None:
        return (fit > 1, 1, 1, fit, 0, len(block.code))
    purpose = _purpose(block.code, wanted, asked_for) if syntax.defines else 0
    return (fit > 1, syntax.defines, purpose, fit, syntax.parses, len(syntax.kinds))


def _purpose(code: str, language: Language, asked_for: set[str]) -> int:
    """What a block is for: 2 when it defines a name that the prompt has, 0 when all that it defines is a trial, else 1."""
    if not asked_for.isdisjoint(defined_names(code, language, inner=True)):
        return 2
    return int(not all(_TRIAL.fullmatch(name) for name in defined_names(code, language)))


def _fit(tag: str, wanted: str) -> int:
    """How well a fence's tag goes with the language asked for, from 0 (no program) to 3 (the very one)."""
    tagged = find_language(tag)
    name = tagged.name if tagged else tag
    if name == wanted:
        return 3
    if not tag or any({name, wanted} <= siblings for siblings in _SIBLINGS):
        return 2
    return 0 if tag in _NO_PROGRAM else 1


def _extract_by_shape(text: str, blocks: list[_Block], language: str) -> Extraction:
    """Without a grammar: the best-tagged, then longest block; else the whole text when a line looks like code."""
    if blocks:
        best = max(blocks, key=lambda block: (_fit(block.tag, language), len(block.code)))
        return Extraction(best.code, None)
    bare = find_bare_code([_without_turn_end(text)], None)
    return Extraction(bare[0], None) if bare else Extraction("", None)


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _tidy(body: str) -> str:
    """The text of a block without the indent that all its lines share, and without blank lines around it."""
    return textwrap.dedent(body.rstrip()).strip("\n")


def _without_thoughts(text: str) -> str:
    """The text after the parts in which the model thinks aloud; a thought that never ends leaves nothing."""
    text = _THOUGHT_PARTS.sub("", text)
    ends = list(_THOUGHT_END.finditer(text))
    return text[ends[-1].end() :] if ends else text


def _without_turn_end(text: str) -> str:
    change = _TURN_CHANGE.search(text)
    text = text[: change.start()].rstrip() if change else text.rstrip()
    end = len(text)
    while mark := _END_MARK.search(text, max(0, end - 40), end):
        end = mark.start()
    return text[:end].rstrip()


def _parts(text: str) -> list[str]:
    """The text cut at every fence line: fences that are opened but not closed, or the other way round, do no harm."""
    parts, start = [], 0
    for match in _FENCE.finditer(text):
        parts.append(text[start : match.start()])
        start = match.end()
    return [*parts, text[start:]]


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks with any text in them; one that is not closed runs to the end."""
    opening: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opening is None:
            opening = match
        elif _closes(match, opening):
            yield from _block(opening, text[opening.end() : match.start()])
            opening = None
    if opening is not None:
        yield from _block(opening, _without_turn_end(text[opening.end() :]))


def _closes(match: re.Match[str], opening: re.Match[str]) -> bool:
    """Whether a fence ends the block of another; one that stands four columns further in is a part of the code."""
    further = len(match["indent"].expandtabs(4)) - len(opening["indent"].expandtabs(4))
    return match["mark"].startswith(opening["mark"]) and not match["info"].strip() and further < 4


def _block(opening: re.Match[str], body: str) -> Iterator[_Block]:
    code = _tidy(body)
    if code:
        words = opening["info"].strip().lower().lstrip("{.").split()
        yield _Block(words[0].strip("{}.,:") if words else "", code)
