"""History: all finished runs, their trends, and a way back into each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import trend
from dashboard.navigation import go_to
from dashboard.runs import read_summary, summary_frame
from dashboard.words import notice
from evaluator_core.metrics import LABELS
from evaluator_core.summary import COLUMNS

SERIES_SHOWN = 8
MOST_COMPARED = 6


st.title("History")
summary = read_summary()
if summary.damaged:
    notice(
        "warning",
        f"{len(summary.damaged)} lines of summary.csv are damaged and were passed over. The first: {summary.damaged[0][:120]}",
    )
if not summary.rows:
    st.markdown("There is no finished run yet. The first one takes a minute, and needs no key.")
    if st.button("Go to Evaluate", type="primary", key="first-run"):
        go_to("evaluate")
    st.stop()

frame = summary_frame()
one, two, three = st.columns([2, 3, 2])
models = one.multiselect("Model", sorted(frame["model"].unique()), placeholder="all", key="history-models")
words = two.text_input("Prompt contains", key="history-words", placeholder="any text")
days = three.date_input("From", value=None, key="history-from", help="Only runs from this day on.")
four, five = st.columns([2, 5])
number = four.selectbox("Number", list(LABELS), index=1, format_func=LABELS.__getitem__, key="history-number")
low, high = five.slider("Its range, %", 0, 100, (0, 100), key="history-range")
keep = frame[number].between(low, high)
if models:
    keep &= frame["model"].isin(models)
if words:
    keep &= frame["question"].str.contains(words, case=False, regex=False)
if days:
    keep &= frame["time"] >= pd.Timestamp(days)
shown = frame[keep].reset_index(drop=True)
st.caption(f"{len(shown):,} of {len(frame):,} runs")
if shown.empty:
    st.markdown("No run fits these filters.")
    st.stop()

state = st.dataframe(
    # Names and prompts come again and again: as categories each is sent once, not with every row.
    shown[["time", "model", "question", *LABELS, "n_samples"]].assign(
        model=shown["model"].astype("category"), question=shown["question"].str.slice(0, 300).astype("category")
    ),
    hide_index=True,
    height=min(360, 40 + 35 * len(shown)),
    key="history-table",
    on_select="rerun",
    selection_mode="multi-row",
    column_config={
        "time": st.column_config.DatetimeColumn("Time", format="YYYY-MM-DD HH:mm:ss"),
        "model": st.column_config.TextColumn("Model"),
        "question": st.column_config.TextColumn("Prompt", width="medium"),
        **{name: st.column_config.NumberColumn(label, format="%.1f") for name, label in LABELS.items()},
        "n_samples": "Answers",
    },
    alt="Table of all runs that fit the filters; choose one to open it, or several to compare",
)
chosen = state["selection"]["rows"]
with st.container(horizontal=True):
    if st.button("Open the chosen run", type="primary", disabled=len(chosen) != 1, key="open-run"):
        go_to("evaluate", result=str(shown["name"][chosen[0]]))
    if st.button(
        "Compare the chosen runs",
        disabled=not 2 <= len(chosen) <= MOST_COMPARED,
        key="compare-runs",
        help="Choose two to six rows.",
    ):
        go_to("compare", runs=",".join(str(shown["name"][row]) for row in chosen))
    st.download_button(
        "Download what is shown (CSV)",
        lambda: shown[list(COLUMNS)].to_csv(index=False),
        "summary.csv",
        "text/csv",
        key="history-csv",
        on_click="ignore",
    )

st.subheader("Trends")
series = shown["series"]
common = series.value_counts().index[:SERIES_SHOWN]
lines = shown[series.isin(common)][["time", "series", "name", "n_samples", *LABELS]]
if len(common) < series.nunique():
    st.caption(f"The {SERIES_SHOWN} most frequent of {series.nunique()} combinations of model and prompt; filter to see others.")
for position, (metric, label) in enumerate(LABELS.items()):
    chart = trend(lines, metric, label, legend=position == len(LABELS) - 1)
    picked = st.altair_chart(chart, key=f"trend-{metric}", on_select="rerun", selection_mode="run", alt=f"{label} over time")
    point = picked["selection"].get("run") or []
    if point:
        go_to("evaluate", result=str(point[0]["name"]))
