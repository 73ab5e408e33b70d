"""What repeated runs show: drift of one prompt and model over time, and two models over the same prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import pandas as pd
import streamlit as st

from dashboard.words import escape, visible
from evaluator_core.comparison import compare_over_prompts
from evaluator_core.drift import Drift, describe_drift, find_drift
from evaluator_core.statistics import EXPLANATION
from evaluator_core.store import StoredFacts

_NEWEST = 100
"""Runs of one prompt and model that are looked at: what changed longer ago is no news, and the page stays quick."""
_DRIFT = (
    "The newest six to a hundred runs of one prompt and model: is the last one different from those before it, and is there a "
    "point from which on they differ? Of steady histories, at most one in twenty is called drifting by mistake, at each look: "
    "who looks after every run meets a false alarm now and then."
)


def with_intervals(runs: pd.DataFrame, facts: Mapping[str, StoredFacts], metric: str) -> pd.DataFrame:
    """The runs with the ends of a metric's interval as ``low`` and ``high``; empty where their file was not read or has none."""
    ends = {name: fact.intervals[metric] for name, fact in facts.items() if metric in fact.intervals}
    low = runs["name"].map({name: interval.low for name, interval in ends.items()})
    high = runs["name"].map({name: interval.high for name, interval in ends.items()})
    return runs.assign(low=low.astype(float), high=high.astype(float))


@dataclass(frozen=True, slots=True)
class SeriesDrift:
    """The drift of one prompt and model."""

    series: str
    """What its line is called."""
    drift: Drift
    """What was found."""
    sentence: str
    """It in words."""
    changed_at: pd.Timestamp | None
    """The time of the first run after the change point, if there is one."""
    odd_run: str | None
    """The file of the newest run, if it differs from those before it."""


def find_drifts(runs: pd.DataFrame) -> list[SeriesDrift]:
    """The drift of each prompt and model in a table of runs; those that drift first. Columns as in ``summary_frame``."""
    found = []
    for _, group in runs.dropna(subset=["time"]).groupby(["model", "question"], sort=False):
        ordered = group.sort_values(["time", "name"], kind="stable").tail(_NEWEST)
        drift = _drift(tuple(ordered["confidence_percent"]), tuple(ordered["n_samples"]))
        labels = [f"{time:%Y-%m-%d %H:%M}" for time in ordered["time"]]
        found.append(
            SeriesDrift(
                series=str(ordered["series"].iloc[0]),
                drift=drift,
                sentence=describe_drift(drift, labels),
                changed_at=ordered["time"].iloc[drift.change.index] if drift.change else None,
                odd_run=str(ordered["name"].iloc[-1]) if drift.newest and drift.newest.differs else None,
            )
        )
    return sorted(found, key=lambda one: (not one.drift.found, one.drift.newest is None))


@lru_cache(maxsize=64)
def _drift(values: tuple[float, ...], counts: tuple[int, ...]) -> Drift:
    return find_drift(values, counts)


def show_drifts(drifts: list[SeriesDrift]) -> None:
    """A sentence for each prompt and model that was measured often enough, those that drift first."""
    st.markdown("**Has it changed?**", help=_DRIFT)
    told = [one for one in drifts if one.drift.newest is not None]
    for one in told:
        mark = "⚠ " if one.drift.found else ""
        sentence = one.sentence[0].upper() + one.sentence[1:]
        st.html(f'<div class="drift"><span class="soft">{escape(one.series)}</span><br>{mark}{escape(sentence)}.</div>')
    silent = len(drifts) - len(told)
    if silent == len(drifts):
        st.markdown("No prompt has been put to one model often enough to tell drift from noise: six runs are needed.")
    elif silent:
        st.caption(f"{silent} more have fewer than six runs, too few to tell drift from noise.")


def show_same_prompts(runs: pd.DataFrame, facts: Mapping[str, StoredFacts]) -> None:
    """Two models, or one model at two temperatures, over the prompts that both were asked."""
    sides = _sides(runs, facts)
    asked = sides.groupby("side")["question"].nunique()
    if len(asked) < 2:
        return
    st.subheader("Two models over the same prompts", help=f"The newest run of each prompt counts. {EXPLANATION}")
    names = list(asked.sort_values(ascending=False, kind="stable").index)
    left, right = st.columns(2)
    one = left.selectbox("First", names, key="prompts-first", format_func=lambda name: visible(name, 80))
    others = [name for name in names if name != one]
    if st.session_state.get("prompts-second") not in others:
        st.session_state["prompts-second"] = others[0]
    two = right.selectbox("Second", others, key="prompts-second", format_func=lambda name: visible(name, 80))
    newest = sides.sort_values("time", kind="stable").drop_duplicates(["side", "question"], keep="last")
    table = newest.pivot(index="question", columns="side", values="confidence_percent")[[one, two]].dropna()
    found = compare_over_prompts(table[one].tolist(), table[two].tolist(), (visible(str(one), 60), visible(str(two), 60)))
    is_real = found.confidence is not None and found.confidence.is_real  # then it begins with a model's name
    sentence = found.sentence if is_real else found.sentence[0].upper() + found.sentence[1:]
    st.html(f'<p class="over-prompts">{escape(sentence)}.</p>')
    if not table.empty:
        with st.expander(f"The {len(table)} prompts that both were asked"):
            shown = table.assign(Difference=(table[one] - table[two]).round(1)).reset_index()
            shown["question"] = [visible(text, 200) for text in shown["question"]]
            st.dataframe(
                shown.rename(columns={"question": "Prompt"}), hide_index=True, alt="Confidence of both, prompt by prompt"
            )


def _sides(runs: pd.DataFrame, facts: Mapping[str, StoredFacts]) -> pd.DataFrame:
    """The runs with what they are a run of: the model, and its temperature where one model was asked at several."""
    warmth = runs["name"].map({name: fact.temperature for name, fact in facts.items()})
    several = warmth.groupby(runs["model"]).transform("nunique") > 1
    written = [
        f"{model}, temperature {value:g}" if both and pd.notna(value) else str(model)
        for model, value, both in zip(runs["model"], warmth, several, strict=True)
    ]
    return runs.assign(side=written)
