"""Compare: two to six stored runs side by side, and the answers of two of them against each other."""

from __future__ import annotations

import streamlit as st

from dashboard.charts import PALETTE, heatmap
from dashboard.compare_charts import (
    DRAWN,
    LETTERS,
    Chosen,
    behaviour_html,
    cross_heatmap,
    difference_table,
    distributions,
    metric_bars,
    settings_html,
    settings_table,
)
from dashboard.diff import diff_html
from dashboard.navigation import go_to
from dashboard.runs import load_run, summary_frame
from dashboard.words import answer_name, notice, one_line, swatches, visible
from evaluator_core.comparison import compare_runs
from evaluator_core.cross import common_language, cross_mean, cross_similarity, within_mean
from evaluator_core.errors import EvaluatorError
from evaluator_core.insights import typical_answer
from evaluator_core.metrics import LABELS
from evaluator_core.statistics import EXPLANATION

MOST = len(LETTERS)
DIFFERENCE = (
    "The whiskers of the bars are 95 % intervals. A run is called more consistent only when the interval of the difference of "
    "the confidences leaves 0 out; the p-value says how often chance alone, dealing the samples to both runs anew, gives as much."
)
LISTED = 1000
ALIKE_WITHIN = 0.02  # means closer than this are called equally alike: a handful of answers cannot tell them apart


def offer_runs() -> dict[str, str]:
    """The label of every run that can be chosen, by the name of its file; newest first."""
    frame = summary_frame().drop_duplicates("name")
    times = frame["time"].dt.strftime("%Y-%m-%d %H:%M:%S").fillna("no time")
    parts = zip(frame["name"], times, frame["model"], frame["question"], strict=True)
    return {name: f"{time} · {one_line(model, 60)} · {one_line(prompt, 60)}" for name, time, model, prompt in parts}


def adopt_address(known: dict[str, str]) -> None:
    """Choose the runs that the address names, when it is not the address that the choice itself made."""
    address = st.query_params.get("runs", "")
    if "compare-runs" in st.session_state and st.session_state.get("compare-address") == address:
        return
    wanted = list(dict.fromkeys(name.strip() for name in address.split(",") if name.strip()))
    missing = [name for name in wanted if name not in known]
    found = [name for name in wanted if name in known]
    st.session_state["compare-runs"] = found[:MOST]
    st.session_state["compare-address"] = address
    problems = [f"There is no stored run {visible(name, 80)!r}; it was left out." for name in missing[:MOST]]
    if len(found) > MOST:
        problems.append(f"The address names {len(found)} runs; the first {MOST} are shown.")
    st.session_state["compare-problems"] = problems


def keep_address() -> None:
    """Put the choice into the address, so that it can be shared."""
    address = ",".join(st.session_state["compare-runs"])
    st.session_state["compare-address"] = address
    st.session_state["compare-problems"] = []
    if address:
        st.query_params["runs"] = address
    else:
        st.query_params.pop("runs", None)


def load_chosen(names: list[str]) -> list[Chosen]:
    """The runs that can be read, each under a letter; what cannot is said."""
    chosen: list[Chosen] = []
    for name in names:
        try:
            run = load_run(name)
        except EvaluatorError as error:
            notice("warning", f"A run was left out: {error}")
            continue
        chosen.append(Chosen(LETTERS[len(chosen)], name, run))
    return chosen


def show_metrics(runs: list[Chosen]) -> None:
    """The numbers, and how far they are from the first run's."""
    st.subheader("The three numbers")
    shown = ", ".join(run.letter for run in runs)
    st.altair_chart(metric_bars(runs), alt=f"Agreement, confidence and normalized confidence of the runs {shown}")
    columns: dict[str, object] = {"run": "Run", "model": "Model", "time": "Time", "answers": "Answers"}
    for field, label in LABELS.items():
        short = label.split()[0]
        columns[field] = st.column_config.NumberColumn(short, format="%.1f", help=label)
        columns[f"{field}_difference"] = st.column_config.NumberColumn(f"{short} − A", format="%+.1f", help=f"{label} less A's")
    order = ["run", *(column for field in LABELS for column in (field, f"{field}_difference")), "answers", "time", "model"]
    st.dataframe(
        difference_table(runs),
        hide_index=True,
        column_order=order,
        column_config=columns,  # type: ignore[arg-type]
        placeholder="–",
        key="compare-differences",
        alt="The three metrics of each run and their differences to run A",
    )
    show_differences(runs)


def show_differences(runs: list[Chosen]) -> None:
    """In words: which run is more consistent than the first, and which cannot be told from it."""
    st.markdown("**Is the difference real?**", help=f"{DIFFERENCE} {EXPLANATION}")
    first = runs[0]
    for other in runs[1:]:
        found = compare_runs(first.run.score, other.run.score, (f"Run {first.letter}", f"Run {other.letter}"))
        chance = f" p = {found.confidence.p_value:.3f}." if found.confidence and found.confidence.p_value is not None else ""
        by_text = " They were compared by text alone." if found.by_text else ""
        prefix = "" if found.confidence and found.confidence.is_real else f"{first.letter} and {other.letter}: "
        st.markdown(f"- {prefix}{found.sentence}.{chance}{by_text}")


def show_behaviour(runs: list[Chosen]) -> None:
    """What the answers do, where they were run."""
    if not any(chosen.run.behaviour for chosen in runs):
        return
    st.subheader("What the answers do")
    st.html(behaviour_html(runs))
    missing = [chosen.letter for chosen in runs if chosen.run.behaviour is None]
    if missing:
        st.caption(f"The answers of {' and '.join(missing)} were not run: open the run to do so.")


def show_heatmaps(runs: list[Chosen]) -> None:
    """Every run's own pairs, on one scale."""
    st.subheader("Pairs within each run")
    if any(len(chosen.run.score.samples) > DRAWN for chosen in runs):
        st.caption(f"The first {DRAWN} answers of each run are drawn; all of them count in the numbers.")
    for start in range(0, len(runs), 2):
        for column, chosen in zip(st.columns(2, gap="large"), runs[start : start + 2], strict=False):
            score = chosen.run.score
            names = [sample.index for sample in score.samples]
            with column:
                st.markdown(f"**Run {chosen.letter}**")
                st.altair_chart(
                    heatmap(score.hybrid, names, range(min(len(names), DRAWN)), title="Hybrid similarity", selectable=False),
                    theme=None,
                    key=f"compare-heatmap-{chosen.letter}",
                    alt=f"Heatmap of the hybrid similarity of every pair of answers of run {chosen.letter}",
                )


def show_settings(runs: list[Chosen]) -> None:
    """What was asked and how."""
    st.subheader("Settings")
    st.html(settings_html(settings_table(runs)))


@st.fragment
def show_two(runs: list[Chosen]) -> None:
    """Two of the runs against each other: another choice draws only this part anew."""
    st.subheader("Two runs against each other")
    letters = [chosen.letter for chosen in runs]
    if st.session_state.get("compare-first") not in letters:
        st.session_state["compare-first"] = letters[0]
    left, right = st.columns(2)
    one = left.selectbox("First run", letters, key="compare-first")
    others = [letter for letter in letters if letter != one]
    if st.session_state.get("compare-second") not in others:
        st.session_state["compare-second"] = others[0]
    two = right.selectbox("Second run", others, key="compare-second")
    first, second = runs[letters.index(one)], runs[letters.index(two)]
    show_typical(first, second)
    show_cross(first, second)


def show_typical(first: Chosen, second: Chosen) -> None:
    """The answer of each run that is most like its others, line by line."""
    st.markdown("**Their typical answers**")
    codes, titles = [], []
    for chosen in (first, second):
        found = typical_answer(chosen.run.score)
        if found is None:
            st.markdown(f"Run {chosen.letter} has fewer than two answers: none is typical.")
            return
        sample = chosen.run.score.samples[found.row]
        codes.append(sample.code)
        titles.append(f"Run {chosen.letter} · {answer_name(sample.index)}")
    st.html(diff_html(codes[0], codes[1], left_title=titles[0], right_title=titles[1]))


def show_cross(first: Chosen, second: Chosen) -> None:
    """Every answer of one run with every answer of the other."""
    a, b = first.run.score, second.run.score
    st.markdown(f"**Every answer of {first.letter} with every answer of {second.letter}**")
    block = cross_similarity(a, b)
    mean, within_a, within_b = cross_mean(block), within_mean(a, b), within_mean(b, a)
    by_text = common_language(a, b) is None
    if by_text:
        st.caption("The runs share no language with a grammar: all three means are of the text alone.")
    if mean is None or within_a is None or within_b is None:
        st.markdown("There are too few answers to compare.")
        return
    if abs(mean - within_a) <= ALIKE_WITHIN:
        words = "as alike to {b}'s as to each other"
    else:
        words = f"{'more' if mean > within_a else 'less'} alike to {{b}}'s than to each other"
    st.markdown(
        f"Answers of {first.letter} are {words.format(b=second.letter)}: cross mean **{mean:.3f}**, "
        f"within {first.letter} **{within_a:.3f}**, within {second.letter} **{within_b:.3f}**."
    )
    left, _ = st.columns([5, 3])
    left.altair_chart(
        cross_heatmap(block, first, second, title="Text similarity" if by_text else "Hybrid similarity"),
        theme=None,
        key="compare-cross",
        alt=f"Heatmap of the similarity of every answer of run {first.letter} to every answer of run {second.letter}",
    )


st.title("Compare")
labels = offer_runs()
if len(labels) < 2:
    have = "one finished run so far. Make another one" if labels else "no finished run yet. Make two"
    st.markdown(f"Comparing takes two runs, and there is {have}, then choose both here.")
    if st.button("Go to Evaluate", type="primary", key="compare-evaluate"):
        go_to("evaluate")
    st.stop()

adopt_address(labels)
listed = dict.fromkeys([*list(labels)[:LISTED], *st.session_state["compare-runs"]])
names = st.multiselect(
    "Runs",
    list(listed),
    format_func=lambda name: labels.get(name, name),
    key="compare-runs",
    on_change=keep_address,
    max_selections=MOST,
    select_all=False,
    placeholder="choose two to six runs",
    help="All differences are against the first. The address of this page holds the choice: copy it to share it.",
)
if len(listed) < len(labels):
    st.caption(f"The newest {LISTED:,} of {len(labels):,} runs are listed.")
for problem in st.session_state["compare-problems"]:
    notice("warning", problem)
chosen_runs = load_chosen(names)
st.html(
    swatches(
        {f"{run.letter} · {labels.get(run.name, run.name)}": colour for run, colour in zip(chosen_runs, PALETTE, strict=False)}
    )
)
if len(chosen_runs) < 2:
    st.markdown(f"Choose at least two runs above, up to {MOST}: their numbers, answers and settings are then shown side by side.")
    if not names and st.button("Take the two latest runs", key="compare-latest"):
        go_to("compare", runs=",".join(list(labels)[:2]))
    st.stop()

show_metrics(chosen_runs)
show_behaviour(chosen_runs)
show_heatmaps(chosen_runs)
st.subheader("How alike the pairs are")
st.altair_chart(distributions(chosen_runs), alt="Share of pairs over their similarity, a line for each run")
show_settings(chosen_runs)
show_two(chosen_runs)
