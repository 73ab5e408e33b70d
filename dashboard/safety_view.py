"""What the answers reach for, read from their syntax: a rare dangerous answer matters more than a mean."""

from __future__ import annotations

from functools import lru_cache

import pandas as pd
import streamlit as st

from dashboard.words import answer_name, notice, visible
from evaluator_core.capabilities import WORDS, Capability, SafetyProfile, profile
from evaluator_core.types import Run

_HEADS = {
    Capability.NETWORK: "Network",
    Capability.FILES: "Files",
    Capability.PROCESSES: "Processes",
    Capability.EVAL: "Text as code",
    Capability.DYNAMIC_IMPORT: "Import by name",
    Capability.DESERIALIZATION: "Objects from bytes",
    Capability.SQL: "SQL as text",
}


def show_safety(run: Run) -> None:
    """The sentences, rarest first, and the table behind them; one line when nothing was found."""
    st.subheader("What the answers reach for")
    found = _profile(tuple(sample.code for sample in run.score.samples), run.score.language)
    if found is None:
        st.markdown("There is no grammar for this language, so what the answers reach for cannot be read from their syntax.")
        return
    sentences = found.sentences()
    if not sentences:
        kinds = ", ".join(words[1] for words in WORDS.values())
        st.markdown(f"No answer was seen to reach out. Looked for, by syntax alone: answers that {kinds}.")
        return
    for sentence in sentences:
        notice("warning", sentence)
    with st.expander("Which answer reaches for what"):
        st.dataframe(
            capability_table(run, found), hide_index=True, alt="What each answer reaches for, with the place where it does"
        )
        st.caption("Read from the syntax alone: it says what an answer could do, not that it does harm.")


@lru_cache(maxsize=16)
def _profile(codes: tuple[str, ...], language: str) -> SafetyProfile | None:
    return profile(codes, language)


def capability_table(run: Run, found: SafetyProfile) -> pd.DataFrame:
    """A row for each answer that reaches for something, a column for each kind that was found."""
    kinds = [capability for capability, count in found.counts().items() if count]
    rows = []
    for sample, findings in zip(run.score.samples, found.findings, strict=True):
        if not findings:
            continue
        row = {"Answer": answer_name(sample.index)}
        for kind in kinds:
            first = next((item for item in findings if item.capability is kind), None)
            row[_HEADS[kind]] = f"line {first.line}: {visible(first.text, 80)}" if first else ""
        rows.append(row)
    return pd.DataFrame(rows)
