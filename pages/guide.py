"""Guide: what is measured and how, and how to read it."""

from __future__ import annotations

import streamlit as st

from dashboard.runs import read_summary
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain
from evaluator_core.types import DEFAULT_THRESHOLD, STRUCTURE_WEIGHT, TEXT_WEIGHT

FORMULAS = {
    "agreement_percent": "pairs with hybrid ≥ threshold / all pairs",
    "confidence_percent": "mean hybrid",
    "normalized_confidence_percent": "(mean hybrid − 0.5) / 0.5, held within 0 and 100",
}
NUMBERS = "\n".join(f"| {label} | {explain(field, DEFAULT_THRESHOLD)} | {FORMULAS[field]} |" for field, label in LABELS.items())

st.title("Guide")
st.markdown(
    f"""
### What is measured
The same prompt is sent to a model N times. Each reply is reduced to its code. Every pair of codes is compared in two ways:

- **structure**: the syntax trees, blind to names, literal values, comments and layout;
- **text**: the characters of the code, as they stand.

A pair's *hybrid* similarity is {STRUCTURE_WEIGHT:g} × structure + {TEXT_WEIGHT:g} × text, from 0 (nothing in common)
to 1 (the same).

### The three numbers
| number | what it says | formula, in percent |
|---|---|---|
{NUMBERS}

The threshold is {DEFAULT_THRESHOLD:g} unless you change it.

### How to read them
| reading | when |
|---|---|
| Strong | agreement of 80 or more, and confidence over 85 |
| Moderate | everything between |
| Low | confidence under 50, whatever the agreement |

{" ".join(READING_WORDS.values())}

### The limits
**{CAUTION}** Programs that look different can do the same, and programs that look alike can differ where it matters.
With few answers, one odd answer moves the numbers a lot.
A reply without code counts as unlike every other; a failed request is never scored.
"""
)
rows = read_summary().rows
if rows:
    row = max(rows, key=lambda item: item.timestamp)
    pairs = row.n_samples * (row.n_samples - 1) // 2
    st.markdown(
        f"""
### Your latest run as an example
It had **{row.n_samples} answers**, so **{pairs} pairs**. Their mean similarity was {row.confidence_percent / 100:.3f}: confidence
**{row.confidence_percent:.1f} %**. Stretched: ({row.confidence_percent / 100:.3f} − 0.5) / 0.5 gives a normalized confidence of
**{row.normalized_confidence_percent:.1f} %**. {round(row.agreement_percent * pairs / 100)} of the {pairs} pairs reached
the threshold: agreement **{row.agreement_percent:.1f} %**.
"""
    )
st.markdown(
    """
### From a terminal or a script
"""
)
st.code(
    'python -m evaluator_core payload.json\npython -m evaluator_core --prompt "Write fizzbuzz in Go." --language go -n 10',
    language="bash",
)
st.code(
    "from evaluator_core import evaluate, score\n\nscore(answers).confidence_percent       # answers that you have\n"
    'evaluate("Write is_palindrome(text).")   # answers of the built-in model',
    language="python",
)
