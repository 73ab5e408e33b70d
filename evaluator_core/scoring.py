"""The pure half of the flow: replies → codes → matrices → metrics. Nothing here asks a model or touches a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluator_core.errors import InvalidInput
from evaluator_core.extract import Extraction, extract_code, fenced_language
from evaluator_core.languages import AUTO, canonical_name, find_language
from evaluator_core.metrics import measure
from evaluator_core.similarity import LONG, compare
from evaluator_core.syntax import MAX_CODE, guess_language
from evaluator_core.types import DEFAULT_THRESHOLD, Reply, Sample, Score, Weights

_UNKNOWN = "unknown"


def score(outputs: Iterable[str], *, language: str = "python", threshold: float = DEFAULT_THRESHOLD, prompt: str = "") -> Score:
    """Score replies that one already has: whole replies with prose and fences, or bare code.

    ``prompt``, where it is known, helps to tell the answer from what a reply merely repeats.
    """
    if isinstance(outputs, str | bytes) or not isinstance(outputs, Iterable):
        raise InvalidInput(f"outputs: give a list of replies, not {type(outputs).__name__}")
    outputs = list(outputs)
    wrong = {place: type(text).__name__ for place, text in enumerate(outputs) if not isinstance(text, str)}
    if wrong:
        raise InvalidInput("; ".join(f"outputs[{place}] is {name}, not a text" for place, name in wrong.items()))
    return score_replies([Reply(index, text) for index, text in enumerate(outputs)], language, threshold, prompt)


def score_replies(replies: Sequence[Reply], language: str, threshold: float, prompt: str = "") -> Score:
    """Extract the code of each reply, compare every pair, and measure."""
    check_threshold(threshold)
    name = resolve_language([reply.text for reply in replies], language)
    extractions = [extract_code(reply.text, name, prompt=prompt) for reply in replies]
    samples = tuple(
        Sample(reply, found.code, found.syntax.parses if found.syntax else None)
        for reply, found in zip(replies, extractions, strict=True)
    )
    has_grammar = find_language(name) is not None
    weights = Weights() if has_grammar else Weights(structure=0.0, text=1.0)
    kinds = [found.syntax.kinds if found.syntax else "" for found in extractions] if has_grammar else None
    similar = compare([sample.code for sample in samples], kinds, weights)
    return Score(
        samples=samples,
        language=name,
        threshold=threshold,
        weights=weights,
        ast=similar.structure,
        text=similar.text,
        hybrid=similar.hybrid,
        metrics=measure(similar.hybrid, threshold),
        notes=tuple(_notes(name, replies, extractions, has_grammar)),
    )


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that no similarity can be held against."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise InvalidInput(f"threshold: {threshold!r} is not a number from 0 to 1")


def resolve_language(replies: Sequence[str], requested: str) -> str:
    """The name of the language to read the replies as; ``"auto"`` tells by their fences, then by the grammars."""
    name = canonical_name(requested)
    if name != AUTO:
        return name
    if named := fenced_language(replies):
        return named
    guessed = guess_language([extract_code(reply, _UNKNOWN).code for reply in replies])
    return guessed.name if guessed else _UNKNOWN


def _notes(language: str, replies: Sequence[Reply], extractions: Sequence[Extraction], has_grammar: bool) -> list[str]:
    total = len(extractions)
    codes = [found.code for found in extractions if found.code]
    broken = sum(1 for found in extractions if found.syntax and not found.syntax.parses)
    unread = sum(1 for code in codes if len(code) > MAX_CODE)
    truncated = sum(1 for reply in replies if reply.finish_reason == "length")
    long = sum(1 for code in codes if len(code) > LONG)
    notes = []
    if total < 2:
        notes.append("Fewer than two answers: there is nothing to compare, so there are no numbers.")
    if not has_grammar:
        notes.append(f"There is no grammar for {language!r}: the answers were compared by text alone.")
    if len(codes) < total:
        empty = total - len(codes)
        words = "holds no code; it counts" if empty == 1 else "hold no code; each counts"
        notes.append(f"{empty} of {total} answers {words} as unlike every other.")
    if truncated:
        notes.append(f"{truncated} of {total} answers were cut off by the token limit; a higher max_tokens lets them end.")
    if broken:
        words = "does" if broken == 1 else "do"
        notes.append(f"{broken} of {total} answers {words} not parse as {language}; what does parse was compared.")
    if has_grammar and unread:
        notes.append(f"{unread} of {total} answers are over {MAX_CODE:,} characters; their structure was not read.")
    if long:
        notes.append(f"{long} of {total} answers are over {LONG:,} characters; they were compared by runs of eight characters.")
    return notes
