"""History: all finished runs, their trends, and a way back into each."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import PALETTE, trend
from dashboard.history_views import find_drifts, show_drifts, show_same_prompts, with_intervals
from dashboard.navigation import go_to
from dashboard.runs import read_summary, stored_facts, summary_frame
from dashboard.words import notice, swatches
from evaluator_core.behaviour.showing import LABELS as BEHAVIOUR_LABELS
from evaluator_core.metrics import LABELS
from evaluator_core.summary import COLUMNS

SERIES_SHOWN = len(PALETTE)
MOST_COMPARED = 6
POINTS_DRAWN = 800  # in each of three charts: with several thousand, a browser takes longer for them than for all else
FACTS_READ = 300
BEHAVIOUR = "behaviour_agreement_percent"


st.title("History")
summary = read_summary()
if summary.damaged:
    count = len(summary.damaged)
    are = "line of summary.csv is damaged and was" if count == 1 else "lines of summary.csv are damaged and were"
    notice("warning", f"{count:,} {are} passed over; every other run is here. The first: {summary.damaged[0][:120]}")
if not summary.rows:
    st.markdown("There is no finished run yet. The first one takes a minute, and needs no key.")
    if st.button("Go to Evaluate", type="primary", key="first-run"):
        go_to("evaluate")
    st.stop()

frame = summary_frame()
with st.container(border=True, key="panel-filters"):
    one, two, three, four = st.columns([3, 4, 2, 2])
    models = one.multiselect("Model", sorted(frame["model"].unique()), placeholder="all", key="history-models")
    words = two.text_input("Prompt contains", key="history-words", placeholder="any text")
    first_day = three.date_input("From", value=None, key="history-from", help="Only runs from this day on.")
    last_day = four.date_input("To", value=None, key="history-to", help="Only runs up to the end of this day.")
    five, six = st.columns([3, 8])
    number = five.selectbox("Number", list(LABELS), index=1, format_func=LABELS.__getitem__, key="history-number")
    low, high = six.slider(f"{LABELS[number]} between, %", 0, 100, (0, 100), key="history-range")
keep = frame[number].between(low, high)
if models:
    keep &= frame["model"].isin(models)
if words:
    keep &= frame["question"].str.contains(words, case=False, regex=False)
if first_day:
    keep &= frame["time"] >= pd.Timestamp(first_day)
if last_day:
    keep &= frame["time"] < pd.Timestamp(last_day) + pd.Timedelta(days=1)
shown = frame[keep].reset_index(drop=True)
st.caption(f"{len(shown):,} of {len(frame):,} runs")
if shown.empty:
    st.markdown("No run fits these filters: widen the range, or empty a field.")
    st.stop()

# The summary has eight columns and no more: what answers do stands in each run's own file, and a few hundred are quickly read.
facts = stored_facts(shown["name"][:FACTS_READ])
behaviour = {name: fact.behaviour.behaviour_agreement_percent for name, fact in facts.items() if fact.behaviour}
columns = ["time", "model", "question", *LABELS, *([BEHAVIOUR] if behaviour else []), "n_samples"]
shown[BEHAVIOUR] = shown["name"].map(behaviour).astype(float)
state = st.dataframe(
    # Names and prompts come again and again: as categories each is sent once, not with every row.
    shown[columns].assign(
        model=shown["model"].astype("category"), question=shown["question"].str.slice(0, 300).astype("category")
    ),
    hide_index=True,
    height=min(360, 40 + 35 * len(shown)),
    key="history-table",
    on_select="rerun",
    selection_mode="multi-row",
    column_config={
        "time": st.column_config.DatetimeColumn("Time", format="YYYY-MM-DD HH:mm:ss", width=170),
        "model": st.column_config.TextColumn("Model"),
        "question": st.column_config.TextColumn("Prompt", width=210 if behaviour else 300),
        **{
            name: st.column_config.NumberColumn(label.split()[0], format="%.1f", width=100, help=f"{label}, in percent")
            for name, label in LABELS.items()
        },
        BEHAVIOUR: st.column_config.NumberColumn(
            "Behaviour",
            format="%.1f",
            width=100,
            help=f"{BEHAVIOUR_LABELS[BEHAVIOUR]}, in percent, where the answers were run; the newest {FACTS_READ} are read.",
        ),
        "n_samples": st.column_config.NumberColumn("Answers", width=80),
    },
    alt="Table of all runs that fit the filters; choose one to open it, or several to compare",
)
chosen = state["selection"]["rows"]
if not chosen:
    st.caption("Tick a row to open its run, or two to six rows to compare them.")
with st.container(horizontal=True):
    if st.button("Open the chosen run", type="primary", disabled=len(chosen) != 1, key="open-run", help="Choose one row."):
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
        icon=":material/download:",
    )

st.subheader("Trends")
series = shown["series"]
common = series.value_counts().index[:SERIES_SHOWN]
drawn = shown[series.isin(common)]
lines = drawn.head(POINTS_DRAWN)[["time", "series", "name", "n_samples", *LABELS]]
hint = (
    "The thin bars are 95 % intervals, a dashed line is a change. Hover for the numbers, click a point to open its run; drag to "
    "move, hold Shift and scroll to zoom, double-click to reset."
)
if len(common) < series.nunique():
    hint += f" The {SERIES_SHOWN} most frequent of {series.nunique():,} combinations of model and prompt are drawn."
if len(lines) < len(drawn):
    hint += f" Of their {len(drawn):,} runs the newest {POINTS_DRAWN} are drawn: filter by model, prompt or day to see others."
st.caption(hint)
colours = dict(zip(common, PALETTE, strict=False))
st.html(swatches(colours))
drifts = find_drifts(drawn)
changes = {one.series: one.changed_at for one in drifts if one.changed_at is not None}
show_drifts(drifts)
for metric, label in LABELS.items():
    st.markdown(f"**{label}**, %")
    chart = trend(with_intervals(lines, facts, metric), metric, label, colours, changes)
    picked = st.altair_chart(
        chart, theme=None, key=f"trend-{metric}", on_select="rerun", selection_mode="run", alt=f"{label} over time"
    )
    point = picked["selection"].get("run") or []
    if point:
        go_to("evaluate", result=str(point[0]["name"]))

show_same_prompts(shown, facts)
