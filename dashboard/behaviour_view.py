"""What the answers do: run them, and see where the model is of two minds."""

from __future__ import annotations

import streamlit as st

from dashboard.behaviour_charts import (
    COLOURS,
    GROUPS_SHOWN,
    answers_table,
    counted_inputs,
    inputs_table,
    quadrant,
    tried_inputs,
)
from dashboard.diff import diff_html
from dashboard.job_view import follow
from dashboard.runtime import runner
from dashboard.uncertainty_view import interval_html, uncertainty_of
from dashboard.words import answer_name, escape, notice, visible
from evaluator_core.behaviour import Behaviour, find_witness
from evaluator_core.behaviour.pairs import Corner, PairBehaviour, pairs_of
from evaluator_core.behaviour.records import Status
from evaluator_core.behaviour.showing import LABELS, LIMITS, show_correctness, show_numbers, show_outcome
from evaluator_core.errors import EvaluatorError
from evaluator_core.types import Run

_LISTED = 300


def show_behaviour(run: Run, name: str) -> None:
    """The whole section: an offer to run the answers, or what came of it."""
    st.subheader("What the answers do")
    if run.behaviour is None:
        if run.score.language != "python":
            st.markdown("Answers can be run where they are Python; these were compared by their code alone.")
            return
        st.markdown(
            "Two answers can look alike and differ where it matters, or look different and do the same. Run them on the same "
            "inputs, in a sandbox; no model is asked."
        )
        _offer(name, "Run the answers")
        return
    behaviour = run.behaviour
    _numbers(run, behaviour)
    pairs = pairs_of(run.score, behaviour)
    if pairs:
        _pairs(run, pairs, name)
    _consensus(run, behaviour)
    _tables(behaviour)
    with st.expander("Run them again, on inputs of your own"):
        _offer(name, "Run the answers again")


def show_witness(run: Run, i: int, j: int) -> None:
    """On which input two answers part, beside their diff; or that they do the same, or why that is not known."""
    if run.behaviour is None or i == j:
        return
    witness = find_witness(run.behaviour, i, j)
    if witness is not None:
        one, other = (escape(show_outcome(outcome)) for outcome in (witness.first, witness.second))
        text = escape(witness.input.text if witness.input.stdin is None else f"the input {witness.input.stdin!r}")
        st.html(
            f'<div class="witness" style="border-left: 4px solid {COLOURS[Corner.LOOKS_ALIKE]}; padding: 0.3rem 0.8rem; '
            f'overflow-wrap: anywhere"><strong>They part on</strong> <code>{text}</code><br>{escape(answer_name(i))}: '
            f"<code>{one}</code> · {escape(answer_name(j))}: <code>{other}</code></div>"
        )
        return
    ran = {trial.index for trial in run.behaviour.trials if trial.status is Status.RAN}
    silent = [answer_name(index) for index in (i, j) if index not in ran]
    if silent:
        st.markdown(f"{' and '.join(silent)} did not run, so what they do cannot be compared.")
    elif run.behaviour.groups:
        st.markdown("They gave the same on every input that counts.")


def _offer(name: str, label: str) -> None:
    calls = st.text_area(
        "Calls of your own (optional)",
        key=f"calls-{name}",
        height=100,
        placeholder="f([1, 2], 3)\nf([], 0) == 0",
        help="One a line, literals only; with == and the expected result, answers are also checked for being right. For calls "
        "of one object: a = A(5); a.take(2); a.left(). For programs "
        'that read standard input, one list of lines a line: ["2", "1 2"]. Inputs from the prompt and from types are tried, too.',
    )
    function = st.text_input(
        "Function to call (optional)",
        key=f"function-{name}",
        help="It is found from the prompt and from what most answers define; name it here when that goes wrong.",
    )
    if not st.button(label, key=f"behaviour-{name}", icon=":material/play_circle:"):
        return
    try:
        job = runner().run_answers(name, [line for line in calls.splitlines() if line.strip()], function.strip() or None)
    except EvaluatorError as error:
        notice("error", str(error))
        return
    follow(job)


def _numbers(run: Run, behaviour: Behaviour) -> None:
    with st.container(horizontal=True, key="behaviour-cards"):
        for field, number in zip(LABELS, show_numbers(behaviour), strict=True):
            words = number.explanation
            with st.container(border=True, key=f"card-{field}"):
                st.metric(number.label, number.text)
                interval = interval_html(uncertainty_of(run), field) if field == "behaviour_agreement_percent" else ""
                st.html(f'{interval}<div class="soft">{words[0].upper()}{words[1:]}.</div>')
    if behaviour.groups:
        called = f"`{behaviour.target}` was called" if (behaviour.target or "").isidentifier() else "Each program was run"
        st.markdown(f"{called} on {tried_inputs(behaviour)} inputs, of which {counted_inputs(behaviour)} count. {LIMITS}")
    right = show_correctness(behaviour)
    if right is not None:
        st.markdown(f"**Expected results**, which are another matter than consistency: {right}")
    for note in behaviour.notes:
        notice("info", note)


@st.fragment
def _pairs(run: Run, pairs: tuple[PairBehaviour, ...], name: str) -> None:
    """The quadrant and the chosen pair: a click draws only this part anew."""
    shown = {(pair.i, pair.j): pair for pair in pairs}
    chosen_key, chart_key = f"quadrant-pair-{name}", f"quadrant-{name}"
    if st.session_state.get(chosen_key) not in shown:
        st.session_state[chosen_key] = next(iter(shown))

    def choose() -> None:
        clicked = st.session_state[chart_key]["selection"].get("pair") or []
        if clicked:
            st.session_state[chosen_key] = int(clicked[0]["First"]) - 1, int(clicked[0]["Second"]) - 1

    left, right = st.columns([5, 6], gap="large")
    with left:
        st.altair_chart(
            quadrant(pairs, run.score.threshold),
            theme=None,
            key=chart_key,
            on_select=choose,
            selection_mode="pair",
            alt="Every pair by the similarity of its code and of its behaviour; the list beside it chooses a pair",
        )
    with right, st.container(key="behaviour-pair"):
        _corners(pairs)
        # The dangerous ones are first; one that was clicked on is there, however far down it stands.
        listed = list(dict.fromkeys([*list(shown)[:_LISTED], st.session_state[chosen_key]]))
        i, j = st.selectbox("Pair", listed, format_func=lambda pair: _pair_name(shown[pair]), key=chosen_key)
        show_witness(run, i, j)
    codes = {sample.index: sample.code for sample in run.score.samples}
    st.html(diff_html(codes[i], codes[j], left_title=answer_name(i), right_title=answer_name(j)))


def _corners(pairs: tuple[PairBehaviour, ...]) -> None:
    """How many pairs lie in each region, the dangerous one first."""
    rows = []
    for corner in Corner:
        count = sum(pair.corner is corner for pair in pairs)
        strong = ("<strong>", "</strong>") if corner is Corner.LOOKS_ALIKE else ("", "")
        dot = f'<span aria-hidden="true" style="color: {COLOURS[corner]}">●</span>'
        rows.append(f"<li>{dot} {strong[0]}{corner.value}: {count} of {len(pairs)} pairs{strong[1]}</li>")
    st.html(f'<ul style="list-style: none; padding: 0; margin: 0; line-height: 1.8">{"".join(rows)}</ul>')


def _pair_name(pair: PairBehaviour) -> str:
    likeness = f"code {pair.structure:.2f}, same on {pair.behaviour:.0%}"
    return f"Answers {pair.i + 1} and {pair.j + 1} · {pair.corner.value.lower()} ({likeness})"


def _consensus(run: Run, behaviour: Behaviour) -> None:
    if not behaviour.groups:
        return
    if behaviour.consensus is None:
        st.markdown("No two answers agree in what they do, so there is no consensus answer.")
        return
    sample = next(sample for sample in run.score.samples if sample.index == behaviour.consensus)
    st.markdown(
        f"**The consensus answer: {answer_name(sample.index)}**, the most typical of the largest group: "
        f"{behaviour.metrics.largest_group} of {len(behaviour.trials)} answers do the same."
    )
    st.code(sample.code[:50_000], language="python", height=260 if sample.code.count("\n") > 11 else "content")


def _tables(behaviour: Behaviour) -> None:
    if behaviour.inputs and behaviour.groups:
        with st.expander(f"Every input, and what each group gave ({len(behaviour.inputs)} inputs)"):
            st.dataframe(inputs_table(behaviour), hide_index=True, alt="What each group of answers gave on each input")
            if len(behaviour.groups) > GROUPS_SHOWN:
                st.caption(f"The largest {GROUPS_SHOWN} of {len(behaviour.groups)} groups are shown; the JSON file has all.")
            st.caption(
                "Inputs on which too many answers fail do not count: they are outside of what was asked. Those made smaller only "
                f"explain a difference. Run by {visible(behaviour.engine, 200)}."
            )
    with st.expander("Every answer, and its group"):
        st.dataframe(answers_table(behaviour), hide_index=True, placeholder="–", alt="The group of each answer")
