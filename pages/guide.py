"""Guide: what is measured and how, and how to read it."""

from __future__ import annotations

from urllib.parse import urlsplit

import streamlit as st

from dashboard.navigation import go_to
from dashboard.runs import load_run, newest_rows
from dashboard.words import answer_name, notice
from evaluator_core.behaviour.showing import LABELS as BEHAVIOUR_LABELS
from evaluator_core.behaviour.showing import LIMITS, explain_behaviour
from evaluator_core.errors import EvaluatorError
from evaluator_core.languages import LANGUAGES
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, pair_values
from evaluator_core.statistics import AIM_POINTS, EXPLANATION
from evaluator_core.types import DEFAULT_THRESHOLD, STRUCTURE_WEIGHT, TEXT_WEIGHT, Reading, Run

FORMULAS = {
    "agreement_percent": "pairs with hybrid ≥ threshold / all pairs",
    "confidence_percent": "mean hybrid",
    "normalized_confidence_percent": "(mean hybrid − 0.5) / 0.5, held within 0 and 100",
}
WHEN = {
    Reading.STRONG: "agreement of 80 or more, and confidence over 85",
    Reading.MODERATE: "everything between",
    Reading.LOW: "confidence under 50, whatever the agreement",
}
READINGS = "\n".join(
    f"| {reading.value.capitalize()} | {when} | {READING_WORDS[reading].partition(': ')[2]} |" for reading, when in WHEN.items()
)
NUMBERS = "\n".join(f"| {label} | {explain(field, DEFAULT_THRESHOLD)} | {FORMULAS[field]} |" for field, label in LABELS.items())

BEHAVIOUR = "\n".join(f"| {label} | {explain_behaviour(field)} |" for field, label in BEHAVIOUR_LABELS.items())


def address() -> str:
    """Where the visitor's browser found this server."""
    found = urlsplit(st.context.url or "")
    return f"{found.scheme}://{found.netloc}" if found.netloc else "http://localhost:8000"


st.title("Guide")
st.markdown(
    f"""
The question: *if I put this prompt to this coding model again, do I get the same program?*

### What is measured
The same prompt is sent to a model N times. Each reply is reduced to its code: prose, reasoning and examples of use are left out.
Then every pair of codes is compared in two ways:

- **structure**: the syntax trees, blind to names, literal values, comments and layout;
- **text**: the characters of the code, as they stand.

Each is 1 − d / (length of one + length of the other), where d is the least number of insertions and deletions that turn one
into the other.
A pair's **hybrid** similarity is {STRUCTURE_WEIGHT:g} × structure + {TEXT_WEIGHT:g} × text.
All three run from 0, nothing in common, to 1, the same.

### The three numbers
| Number | What it says | Formula, in percent |
|---|---|---|
{NUMBERS}

The threshold is {DEFAULT_THRESHOLD:g} unless you change it. On a result, moving it shows whether a conclusion hangs on it.

### What the answers do
Answers in Python can also be run: switch on *Run the answers, too* before a run, or press *Run the answers* on a stored one. All
are put to the same inputs (your own calls, the prompt's examples, values made from types), in a sandbox that has no files,
network, environment or clock. Answers that gave the same on every input that counts make a group.

| number | what it says |
|---|---|
{BEHAVIOUR}

Two answers that differ are shown with the smallest input found on which they part. *Similar code, different behaviour* is the
kind that a look at the code does not show. {LIMITS}
Expected results, where you or the prompt give some, are counted apart: being right is another matter than being consistent.

### How to read them
| Reading | When | Meaning |
|---|---|---|
{READINGS}

### How sure they are
{EXPLANATION}
Each number has such an interval, worked out from the answers, not from their pairs, which share answers and are far from
independent. Two or three answers have none.

- A result says how many answers would bring a number to ± {AIM_POINTS:g} points (projected), and asks for them at a click.
- *Compare* calls a run more consistent only when the interval of the difference leaves 0 out.
- *History* says whether the newest run of a prompt and model differs from those before it, and where they changed.

### The limits
- **{CAUTION}**
- Programs that look different can do the same, and programs that look alike can differ where it matters.
- With few answers, one odd answer moves the numbers a lot: of 5 answers, it is part of 4 of the 10 pairs.
- A reply without code counts as unlike every other. A failed request is never scored.
- Structure is read in {", ".join(language.label for language in LANGUAGES)}. Any other language is compared by its text alone,
  and the result says so.
"""
)


def show_example(run: Run) -> None:
    """The formulas with the numbers of a run in them."""
    score, numbers = run.score, run.score.metrics
    pair = next(iter(score.pairs()))
    values = pair_values(score.hybrid)
    mean, reached = values.mean(), round(len(values) * (numbers.agreement_percent or 0) / 100)
    st.markdown(
        f"""
It had **{len(score.samples)} answers**, so {len(score.samples)} × {len(score.samples) - 1} / 2 = **{len(values)}
{"pair" if len(values) == 1 else "pairs"}**.
"""
    )
    if pair.ast_similarity is not None:
        st.markdown(
            f"- {answer_name(pair.i)} and {answer_name(pair.j).lower()}: structure {pair.ast_similarity:.3f}, text "
            f"{pair.text_similarity:.3f}, so hybrid {score.weights.structure:g} × {pair.ast_similarity:.3f} + "
            f"{score.weights.text:g} × {pair.text_similarity:.3f} = **{pair.hybrid_similarity:.3f}**"
        )
    stretched = f"({mean:.4f} − 0.5) / 0.5 = {(mean - 0.5) / 0.5:.4f}"
    st.markdown(
        f"""
- Agreement: {reached} of {len(values)} reach the threshold of {score.threshold:g}: **{numbers.agreement_percent:.1f} %**
- Confidence: the mean over all pairs is {mean:.4f}: **{numbers.confidence_percent:.1f} %**
- Normalized confidence: {stretched}{", which is held at 0" if mean < 0.5 else ""}:
  **{numbers.normalized_confidence_percent:.1f} %**
"""
    )


latest = newest_rows(1)
st.subheader("Your latest run as an example")
if latest:
    try:
        show_example(load_run(latest[0].file_name))
    except EvaluatorError as error:
        notice("warning", f"The example cannot be shown: {error}")
else:
    st.markdown("There is no run yet. Once there is one, its numbers are worked through here.")
    if st.button("Go to Evaluate", type="primary", key="guide-evaluate"):
        go_to("evaluate")

st.subheader("From a terminal or a script")
st.markdown("In a terminal, with the program's virtual environment active; `--help` lists every flag:")
st.code(
    'python -m evaluator_core payload.json\npython -m evaluator_core --prompt "Write fizzbuzz in Go." --language go -n 10\n'
    "python -m evaluator_core --outputs answers.jsonl   # answers that you have; no model is asked",
    language="bash",
)
st.markdown("Over HTTP, on the port of these pages, while they are up; `/openapi.json` describes every route:")
st.code(
    f"curl -X POST {address()}/evaluate \\\n  -H 'Content-Type: application/json' \\\n"
    '  -d \'{"prompt": "Write fizzbuzz in Go.", "language": "go", "n_samples": 5}\'',
    language="bash",
)
st.markdown("From Python:")
st.code(
    "from evaluator_core import evaluate, score\n\nscore(answers).confidence_percent       # answers that you have\n"
    'evaluate("Write is_palindrome(text).")   # answers of the built-in model',
    language="python",
)
