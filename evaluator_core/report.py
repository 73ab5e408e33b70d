"""A run as one HTML page that opens anywhere, offline: no script, no link, nothing fetched.

Every text from outside passes through ``_text``. People count from 1: sample 0 is "Answer 1".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from evaluator_core.behaviour import Behaviour
from evaluator_core.behaviour.showing import LIMITS, show_correctness, show_numbers, show_outcome
from evaluator_core.capabilities import profile
from evaluator_core.insights import Extreme, identical_groups, odd_one_out, typical_answer
from evaluator_core.languages import find_language
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, read
from evaluator_core.report_heatmap import draw_heatmap
from evaluator_core.statistics import EXPLANATION, uncertainty
from evaluator_core.types import Run, Sample, SampleFailure, Score

_MOST_GROUPS = 12
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

# Controls, marks that turn the direction of text, and lone surrogates: what a reader would not see, or a file not hold.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

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
table { border-collapse: collapse; font-size: .85rem }
td, th { border: 1px solid var(--line); padding: .2rem .5rem; text-align: left }
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
        *_numbers(run),
        *_asked(run),
        *_missing(run.failures),
        *draw_heatmap(score),
        *_likeness(score),
        *_behaviour(run.behaviour),
        *_reach(score),
        "<h2>Answers</h2>",
        *(_answer(sample) for sample in score.samples),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _text(value: object) -> str:
    """A text from outside, safe in elements and attributes; what cannot be seen is shown as its number: ``[U+202E]``."""
    return escape(_UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", str(value)), quote=True)


def _numbers(run: Run) -> Iterator[str]:
    score, metrics = run.score, run.score.metrics
    found = uncertainty(score, run.behaviour)
    yield '<dl class="cards">'
    for field, name in LABELS.items():
        value, words = getattr(metrics, field), explain(field, score.threshold)
        number = "–" if value is None else f"{value:.1f} %"
        interval = found.intervals.get(field)
        ends = f"95 % interval {interval.low:.1f} to {interval.high:.1f}" if interval else found.reason or ""
        yield f'<div><dt>{name}</dt><dd class="number">{number}</dd><dd>{ends}</dd><dd class="soft">{words}</dd></div>'
    yield "</dl>"
    if found.reason is None:
        yield f'<p class="soft">{EXPLANATION} Method: {found.method}.</p>'
    if run.versions:
        yield "<h2>Before more answers were asked for</h2>\n<ul>"
        for version in run.versions:
            numbers = " / ".join(f"{getattr(version.metrics, field):.1f}" for field in LABELS)
            yield f"<li>{version.n_samples} answers: {numbers}, until {version.until:%Y-%m-%d %H:%M:%S}</li>"
        yield "</ul>"
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


def _behaviour(behaviour: Behaviour | None) -> Iterator[str]:
    """What the answers do, where they were run: the numbers, the groups, and what each group gave on every input."""
    if behaviour is None:
        return
    yield '<h2>What the answers do</h2>\n<dl class="cards">'
    for number in show_numbers(behaviour):
        words = f'<dd class="soft">{number.explanation}</dd>'
        yield f'<div><dt>{number.label}</dt><dd class="number">{number.text}</dd>{words}</div>'
    yield "</dl>"
    right = show_correctness(behaviour)
    lines = [LIMITS, *([f"Expected results: {right}"] if right else []), *behaviour.notes]
    for place, group in enumerate(behaviour.groups, start=1):
        lines.append(f"Group {place}: answers {', '.join(str(member + 1) for member in group.members)}")
    yield "<ul>" + "".join(f"<li>{_text(line)}</li>" for line in lines) + "</ul>"
    if not behaviour.groups:
        return
    shown = behaviour.groups[:_MOST_GROUPS]
    trials = {trial.index: trial for trial in behaviour.trials}
    heads = "".join(f'<th scope="col">Group {place}</th>' for place in range(1, len(shown) + 1))
    yield f'<figure tabindex="0"><table><thead><tr><th scope="col">Input</th>{heads}</tr></thead>\n<tbody>'
    for place, item in enumerate(behaviour.inputs):
        given = (show_outcome(trials[group.typical].outcomes[place]) for group in shown)
        cells = "".join(f"<td><code>{_text(text)}</code></td>" for text in given)
        yield f'<tr><th scope="row"><code>{_text(item.text)}</code></th>{cells}</tr>'
    left = len(behaviour.groups) - len(shown)
    more = f" {left} more groups are in the JSON file." if left else ""
    words = f"What the typical answer of each group gave.{more} Run by {_text(behaviour.engine)}."
    yield f"</tbody></table><figcaption>{words}</figcaption></figure>"


def _reach(score: Score) -> Iterator[str]:
    """What answers reach for, by their syntax."""
    found = profile([sample.code for sample in score.samples], score.language)
    sentences = found.sentences() if found else ()
    if sentences:
        yield "<h2>What the answers reach for</h2>\n<ul>" + "".join(f"<li>{_text(line)}</li>" for line in sentences) + "</ul>"


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
