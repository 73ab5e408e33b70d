"""A run as one HTML page that opens anywhere, offline: no script, no link, nothing fetched.

Every text from outside passes through ``_text``. People count from 1: sample 0 is "Answer 1".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

import numpy as np

from evaluator_core.insights import Extreme, identical_groups, odd_one_out, typical_answer
from evaluator_core.languages import find_language
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, read
from evaluator_core.types import Matrix, Run, Sample, SampleFailure, Score

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

# Controls, marks that turn the direction of text, and lone surrogates: what a reader would not see, or a file not hold.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

# Cividis: perceptually uniform, and the same to people who do not tell red from green.
_STOPS = tuple(
    (int(stop[:2], 16), int(stop[2:4], 16), int(stop[4:], 16))
    for stop in "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838".split()
)
_LIGHT_FROM = 0.465  # from here on black is easier to read on the colour than white
_MOST_LABELS, _MOST_TOOLTIPS, _MOST_CELLS = 15, 60, 200

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #565656; --paper: #fff; --panel: #f4f4f4; --line: #c4c4c4 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --soft: #b4b4b4; --paper: #161616; --panel: #232323; --line: #4a4a4a }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.6rem; line-height: 1.2 } h2 { font-size: 1.25rem; margin: 2rem 0 .5rem } h3 { font-size: 1rem; margin: 0 }
pre { margin: .5rem 0; padding: .75rem; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  font: .85rem/1.45 ui-monospace, monospace; white-space: pre-wrap; tab-size: 4 }
pre code { font: inherit }
dl { margin: 0 } dd { margin: 0 }
.facts > div { display: grid; grid-template-columns: minmax(7rem, 11rem) 1fr; gap: .75rem; padding: .2rem 0 }
dt, .soft, figcaption { color: var(--soft) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: .75rem }
.cards > div, article { border: 1px solid var(--line); border-radius: 6px; padding: .75rem }
.cards .number { font-size: 2rem; font-weight: 600; line-height: 1.2 }
article { margin: .75rem 0 } article p { margin: .25rem 0 } summary { cursor: pointer }
figure { margin: 0; overflow-x: auto } svg { display: block; max-width: 100%; height: auto; fill: currentColor }
svg text { font: 13px system-ui, sans-serif } svg.wide { min-width: 34rem }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --paper: #fff; --panel: #fff; --line: #999 }
  main { max-width: none; padding: 0 } .cards > div, figure { break-inside: avoid } h2, h3 { break-after: avoid }
  figure { overflow: visible } svg.wide { min-width: 0 }
  details::details-content { content-visibility: visible; block-size: auto }
}
"""


def html_report(run: Run) -> str:
    """The whole page. It can always be written as UTF-8, whatever the model said."""
    score = run.score
    title = f"Consistency of {_text(run.model)}, {run.created_at:%Y-%m-%d %H:%M}"
    parts = [
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
        *_numbers(score),
        *_asked(run),
        *_missing(run.failures),
        *_heatmap(score),
        *_likeness(score),
        "<h2>Answers</h2>",
        *(_answer(sample) for sample in score.samples),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def colour(value: float) -> str:
    """The colour of a similarity in [0, 1], as ``#rrggbb``: dark blue for 0, yellow for 1."""
    place = min(1.0, max(0.0, value)) * (len(_STOPS) - 1)
    below = min(int(place), len(_STOPS) - 2)
    mixed = (round(low + (high - low) * (place - below)) for low, high in zip(_STOPS[below], _STOPS[below + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _text(value: object) -> str:
    """A text from outside, safe in elements and attributes; what cannot be seen is shown as its number: ``[U+202E]``."""
    return escape(_UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(value)), quote=True)


def _numbers(score: Score) -> Iterator[str]:
    metrics = score.metrics
    yield '<dl class="cards">'
    for field, name in LABELS.items():
        value, words = getattr(metrics, field), explain(field, score.threshold)
        number = "–" if value is None else f"{value:.1f} %"
        yield f'<div><dt>{name}</dt><dd class="number">{number}</dd><dd class="soft">{words}</dd></div>'
    yield "</dl>"
    reading = read(metrics)
    if reading is not None:
        yield f"<p><strong>{READING_WORDS[reading]}</strong> {CAUTION}</p>"
    if score.notes:
        yield "<h2>Notes</h2>\n<ul>" + "".join(f"<li>{_text(note)}</li>" for note in score.notes) + "</ul>"


def _asked(run: Run) -> Iterator[str]:
    score, settings = run.score, run.settings
    language = find_language(score.language)
    facts: dict[str, object] = {
        "Model": run.model,
        "Endpoint": run.endpoint,
        "Language": language.label if language else score.language,
        "Time": f"{run.created_at:%Y-%m-%d %H:%M:%S %z}",
        "Answers": f"{len(score.samples)} of {settings.n_requested} asked for",
        "Threshold": score.threshold,
        "Weights": f"structure {score.weights.structure:g}, text {score.weights.text:g}",
        "Temperature": "the endpoint's own" if settings.temperature is None else settings.temperature,
        "Longest answer": "the endpoint's own" if settings.max_tokens is None else f"{settings.max_tokens} tokens",
        "Seed": "none" if settings.seed is None else f"{settings.seed}, one more for each further answer",
    }
    yield f'<h2>Prompt</h2>\n<pre dir="auto">{_text(run.question)}</pre>'
    if settings.system_prompt:
        yield f'<h2>System prompt</h2>\n<pre dir="auto">{_text(settings.system_prompt)}</pre>'
    yield '<h2>Settings</h2>\n<dl class="facts">'
    yield from (f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items())
    yield "</dl>"


def _missing(failures: Sequence[SampleFailure]) -> Iterator[str]:
    if failures:
        yield "<h2>Failures</h2>\n<p>These requests brought no answer. They are not part of the numbers.</p>\n<ul>"
        for failure in failures:
            yield f"<li>Answer {failure.index + 1}: {_text(failure.kind)}: {_text(failure.message)}</li>"
        yield "</ul>"


def _heatmap(score: Score) -> Iterator[str]:
    """The hybrid matrix as a drawing, with its scale; nothing when there is no pair."""
    count = len(score.samples)
    if count < 2:
        return
    numbers = [sample.index + 1 for sample in score.samples]
    block = -(-count // _MOST_CELLS)  # thousands of answers are drawn as means of blocks
    grid = score.hybrid if block == 1 else _block_means(score.hybrid, block)
    size = len(grid)
    side = 40 if size <= _MOST_LABELS else max(3, 600 // size)
    margin = 40
    width, height = max(size * side, 240) + margin + 10, size * side + margin + 60
    wide = ' class="wide"' if size > 9 else ""  # on a telephone it scrolls rather than shrinks
    label = f"Heatmap of the hybrid similarity of {count} answers to each other, from 0, dark blue, to 1, yellow"
    yield '<h2>How alike the answers are</h2>\n<figure tabindex="0">'
    yield f'<svg{wide} width="{width}" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">'
    yield f'<g transform="translate({margin} {margin})">'
    yield from _axes(numbers[::block], side)
    yield from _cells(grid, numbers, side) if size <= _MOST_TOOLTIPS else _plain_cells(grid, side)
    yield from _legend(score.threshold, size * side + 16)
    means = f" Each cell is the mean of up to {block} × {block} pairs." if block > 1 else ""
    yield f"</g>\n</svg>\n<figcaption>Hybrid similarity of each pair of answers.{means}</figcaption>\n</figure>"


def _block_means(matrix: Matrix, block: int) -> Matrix:
    starts = np.arange(0, len(matrix), block)
    sums = np.add.reduceat(np.add.reduceat(matrix, starts, axis=0), starts, axis=1)
    sizes = np.diff(np.append(starts, len(matrix)))
    means: Matrix = sums / np.outer(sizes, sizes)
    return means


def _axes(numbers: Sequence[int], side: int) -> Iterator[str]:
    """The answers' numbers along both edges; only some of them where all would not fit."""
    step = -(-len(numbers) // _MOST_LABELS)
    for place in range(0, len(numbers), step):
        middle = place * side + side / 2
        yield f'<text x="{middle:g}" y="-8" text-anchor="middle">{numbers[place]}</text>'
        yield f'<text x="-6" y="{middle + 4.5:g}" text-anchor="end">{numbers[place]}</text>'


def _cells(grid: Matrix, numbers: Sequence[int], side: int) -> Iterator[str]:
    has_labels = len(numbers) <= _MOST_LABELS
    for row, values in enumerate(grid.tolist()):
        for column, value in enumerate(values):
            x, y = column * side, row * side
            tooltip = f"<title>Answers {numbers[row]} and {numbers[column]}: {value:.3f}</title>"
            yield f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill="{colour(value)}">{tooltip}</rect>'
            if has_labels:
                ink = "#000" if value >= _LIGHT_FROM else "#fff"
                place = f'x="{x + side // 2}" y="{y + side / 2 + 4.5:g}" text-anchor="middle" pointer-events="none"'
                yield f'<text {place} fill="{ink}">{value:.2f}</text>'


def _plain_cells(grid: Matrix, side: int) -> Iterator[str]:
    """One path for each of a hundred colours: a large matrix stays a small file."""
    levels = np.rint(grid * 100).astype(int)
    for level in np.unique(levels).tolist():
        places = np.argwhere(levels == level).tolist()
        path = "".join(f"M{column * side} {row * side}h{side}v{side}h-{side}z" for row, column in places)
        yield f'<path fill="{colour(level / 100)}" shape-rendering="crispEdges" d="{path}"/>'


def _legend(threshold: float, top: int) -> Iterator[str]:
    """The scale from 0 to 1 with a mark at the threshold."""
    yield from (f'<rect x="{2 * k}" y="{top}" width="2.2" height="12" fill="{colour(k / 99)}"/>' for k in range(100))
    yield f'<path d="M{200 * threshold:g} {top - 4}v20" stroke="currentColor" stroke-width="2"/>'
    yield f'<text x="0" y="{top + 28}">0</text><text x="200" y="{top + 28}" text-anchor="end">1</text>'
    yield f'<text x="100" y="{top + 28}" text-anchor="middle">threshold {threshold:g}</text>'


def _likeness(score: Score) -> Iterator[str]:
    """Which answers are the same program, which is the most and which the least like the others."""
    groups = identical_groups(score)
    alike = [group for group in groups if len(group) > 1]
    same = "the same text" if score.ast is None else "the same program, up to names, literals, comments and layout"
    lines = [f"{_answers(score, group)} are {same}." for group in alike]
    if groups and not alike:
        lines = [f"No two answers are {same}."]
    for words, extreme in (("Typical answer", typical_answer(score)), ("Odd one out", odd_one_out(score))):
        if extreme is not None:
            lines.append(f"{words}: {_extreme(score, extreme)}")
    if lines:
        yield "<h2>Which answers are alike</h2>\n<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def _answers(score: Score, rows: Iterable[int]) -> str:
    *most, last = (str(score.samples[row].index + 1) for row in rows)
    return f"Answers {', '.join(most)} and {last}"


def _extreme(score: Score, extreme: Extreme) -> str:
    number = score.samples[extreme.row].index + 1
    return f"Answer {number}, with a mean similarity of {extreme.mean_similarity:.3f} to the others."


def _answer(sample: Sample) -> str:
    reply = sample.reply
    facts = (
        ("finish reason", reply.finish_reason),
        ("tokens read", reply.prompt_tokens),
        ("tokens written", reply.completion_tokens),
        ("latency", None if reply.latency_seconds is None else f"{reply.latency_seconds:.2f} s"),
        ("answered by", reply.reported_model),
        ("parses", None if sample.parses is None else ("yes" if sample.parses else "no")),
    )
    told = " · ".join(f"{name}: {_text(value)}" for name, value in facts if value is not None)
    code = f'<pre dir="ltr"><code>{_text(sample.code)}</code></pre>' if sample.code else "<p>It holds no code.</p>"
    return (
        f'<article>\n<h3>Answer {sample.index + 1}</h3>\n<p class="soft">{told}</p>\n{code}\n'
        f'<details><summary>Whole reply</summary><pre dir="auto">{_text(reply.text)}</pre></details>\n</article>'
    )
