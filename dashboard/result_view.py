"""One finished run: the same view wherever it is opened."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.behaviour_view import show_behaviour, show_witness
from dashboard.charts import agreement_over_thresholds, distribution, heatmap
from dashboard.diff import diff_html
from dashboard.downloads import show_downloads
from dashboard.safety_view import show_safety
from dashboard.uncertainty_view import interval_html, show_certainty, uncertainty_of
from dashboard.words import answer_name, escape, notice, quote
from evaluator_core.behaviour.pairs import behaviour_matrix, order_by_behaviour
from evaluator_core.insights import agreement_at, identical_groups, odd_one_out, order_by_likeness, typical_answer
from evaluator_core.languages import find_language
from evaluator_core.metrics import CAUTION, LABELS, READING_WORDS, explain, read
from evaluator_core.run_json import conversation
from evaluator_core.summary import SummaryRow
from evaluator_core.types import Matrix, Run, Sample, Score

_ANSWERS_SHOWN = 10


def show_result(run: Run, name: str, earlier: SummaryRow | None = None) -> None:
    """The whole view. ``earlier`` is the last run before it of the same prompt and model, if there is one."""
    quote(run.question)
    count = len(run.score.samples)
    st.caption(
        f"{_markdown_safe(run.model)} · {_markdown_safe(run.endpoint)} · {_markdown_safe(run.score.language)} · "
        f"{count} {'answer' if count == 1 else 'answers'} · {run.created_at:%Y-%m-%d %H:%M:%S}"
    )
    _cards(run, earlier)
    for note in run.score.notes:
        notice("warning", note)
    if count >= 2:
        show_certainty(run, name)
        _pairs(run, name)
        show_behaviour(run, name)
        show_safety(run)
        _threshold(run, name)
        left, right = st.columns(2, gap="large")
        with left:
            _standouts(run)
        with right:
            _groups(run)
    else:
        notice("info", "There is nothing to compare with fewer than two answers, and so there are no numbers.")
    _failures(run)
    _answers(run, name)
    show_downloads(run, name)


def _cards(run: Run, earlier: SummaryRow | None) -> None:
    metrics, found = run.score.metrics, uncertainty_of(run)
    with st.container(horizontal=True, key="cards"):
        for field, label in LABELS.items():
            value, before = getattr(metrics, field), getattr(earlier, field, None)
            words = explain(field, run.score.threshold)
            delta = None if value is None or before is None else round(value - before, 1) + 0.0
            with st.container(border=True, key=f"card-{field}"):
                st.metric(
                    label,
                    "–" if value is None else f"{value:.1f} %",
                    None if delta is None else f"{delta:+.1f}",
                    delta_color="normal" if delta else "off",
                    delta_arrow="auto" if delta else "off",
                    delta_description=None if delta is None else "since the last run",
                )
                st.html(f'{interval_html(found, field)}<div class="soft">{words[0].upper()}{words[1:]}.</div>')
        reading = read(metrics)
        if reading is not None:
            words = READING_WORDS[reading].partition(": ")[2]
            st.html(
                f'<div class="reading" style="--tone: var(--{reading.value})"><div class="label">Reading</div>'
                f'<div class="name">{reading.value.capitalize()}</div><p>{words[0].upper()}{words[1:]}</p>'
                f'<p class="caution">{CAUTION}</p></div>'
            )


@st.fragment
def _pairs(run: Run, name: str) -> None:
    """Heatmap and the chosen pair: a click draws only this part anew."""
    score = run.score
    st.subheader("Which answers are alike")
    views: dict[str, Matrix] = {"Hybrid": score.hybrid, "Text": score.text}
    if score.ast is not None:
        views = {"Hybrid": score.hybrid, "Structure": score.ast, "Text": score.text}
    if run.behaviour is not None:
        views["Behaviour"] = behaviour_matrix(run.behaviour)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        view = st.segmented_control(
            "Compare by",
            list(views),
            default="Hybrid",
            required=True,
            key=f"view-{name}",
            help=_views_explained(score, run.behaviour is not None),
        )
        orders = _orders(run)
        order_name = st.segmented_control(
            "Order",
            list(orders),
            default="As asked",
            required=True,
            key=f"order-{name}",
            help="Answers that are alike side by side make families of answers stand out as blocks.",
        )
    matrix = views[str(view)]
    names = [sample.index for sample in score.samples]
    order = orders[str(order_name)]()
    first, second = f"first-{name}", f"second-{name}"
    different = next((pair for pair in score.pairs() if pair.hybrid_similarity < 1), None)
    st.session_state.setdefault(first, different.i if different else names[0])
    st.session_state.setdefault(second, different.j if different else names[1])

    def choose() -> None:
        chosen = st.session_state[f"heatmap-{name}"]["selection"].get("pair") or []
        if chosen:
            st.session_state[first], st.session_state[second] = int(chosen[0]["First"]) - 1, int(chosen[0]["Second"]) - 1

    left, right = st.columns([5, 6], gap="large")
    with left:
        st.altair_chart(
            heatmap(matrix, names, order, title=f"{view} similarity"),
            theme=None,
            key=f"heatmap-{name}",
            on_select=choose,
            selection_mode="pair",
            alt=f"Heatmap of the {str(view).lower()} similarity of every pair of answers; the two lists beside it choose a pair",
        )
    with right, st.container(key="pair"):
        one, two = st.columns(2)
        i = one.selectbox("First answer", names, format_func=answer_name, key=first)
        j = two.selectbox("Second answer", names, format_func=answer_name, key=second)
        row, column = names.index(i), names.index(j)
        parts = [f"hybrid **{score.hybrid[row, column]:.3f}**", f"text **{score.text[row, column]:.3f}**"]
        if score.ast is not None:
            parts.insert(1, f"structure **{score.ast[row, column]:.3f}**")
        st.markdown(" · ".join(parts))
        show_witness(run, i, j)
        codes = score.samples[row].code, score.samples[column].code
        if any(codes):
            st.html(diff_html(codes[0], codes[1], left_title=answer_name(i), right_title=answer_name(j)))
        else:
            st.markdown("Neither reply holds code, so there is nothing to compare.")


def _orders(run: Run) -> dict[str, Callable[[], tuple[int, ...]]]:
    """The orders in which answers can be shown; each is worked out when it is chosen."""
    orders: dict[str, Callable[[], tuple[int, ...]]] = {
        "As asked": lambda: tuple(range(len(run.score.samples))),
        "By likeness": lambda: order_by_likeness(run.score.hybrid),
    }
    if (behaviour := run.behaviour) is not None:
        orders["By behaviour"] = lambda: order_by_behaviour(behaviour)
    return orders


def _views_explained(score: Score, has_behaviour: bool) -> str:
    words = {
        "Structure": "the syntax trees, blind to names, values, comments and layout",
        "Text": "the characters of the code",
        "Hybrid": f"{score.weights.structure:g} × structure + {score.weights.text:g} × text",
    }
    if score.ast is None:
        words = {"Text": words["Text"], "Hybrid": "the text alone, for want of a grammar of this language"}
    if has_behaviour:
        words["Behaviour"] = "the share of inputs on which both gave the same"
    return "From 0, nothing in common, to 1, the same. " + " ".join(f"**{view}**: {what}." for view, what in words.items())


@st.fragment
def _threshold(run: Run, name: str) -> None:
    score = run.score
    st.subheader("Does it hang on the threshold?")
    threshold = st.slider(
        "Threshold",
        0.0,
        1.0,
        value=float(score.threshold),
        step=0.01,
        key=f"threshold-{name}",
        help="From which similarity on two answers count as agreeing. Moving it asks the model nothing.",
    )
    agreement = agreement_at(score.hybrid, threshold)
    st.markdown(f"At **{threshold:.2f}**, agreement is **{agreement:.1f} %**. The run was made with {score.threshold:g}.")
    left, right = st.columns(2, gap="large")
    left.altair_chart(agreement_over_thresholds(score.hybrid, threshold), alt="Agreement at every threshold from 0 to 1")
    right.altair_chart(distribution(score.hybrid, threshold), alt="How many pairs have which similarity")


def _standouts(run: Run) -> None:
    st.subheader("Typical and odd")
    for label, found in (("The typical answer", typical_answer(run.score)), ("The odd one out", odd_one_out(run.score))):
        if found is None:
            st.markdown(f"{label}: none stands out.")
            continue
        sample = run.score.samples[found.row]
        st.markdown(f"**{label}: {answer_name(sample.index)}**, mean similarity {found.mean_similarity:.2f}")
        _code(sample, run.score.language, height=240 if sample.code.count("\n") > 10 else None)


def _groups(run: Run) -> None:
    st.subheader("Identical programs")
    groups = identical_groups(run.score)
    if not groups:
        st.markdown("No answer holds code.")
        return
    same = "the same text" if run.score.ast is None else "the same program, up to names, literals and layout"
    different = f"{len(groups)} different {'program' if len(groups) == 1 else 'programs'}"
    st.markdown(f"{different} among {sum(map(len, groups))} answers with code; answers in a group are {same}.")
    largest = len(groups[0])
    lines = []
    for group in (group for group in groups if len(group) > 1):
        which = ", ".join(str(run.score.samples[row].index + 1) for row in group)
        bar = f'<div class="bar" style="width: {100 * len(group) / largest:.0f}%"></div>'
        lines.append(f'<div role="listitem"><strong>{len(group)} answers</strong>: {which}{bar}</div>')
    alone = [str(run.score.samples[group[0]].index + 1) for group in groups if len(group) == 1]
    if alone:
        lines.append(f'<div role="listitem"><span class="soft">On their own: {", ".join(alone)}</span></div>')
    st.html(f'<div class="groups" role="list">{"".join(lines)}</div>')


def _failures(run: Run) -> None:
    truncated = [sample.index + 1 for sample in run.score.samples if sample.reply.finish_reason == "length"]
    broken = [sample.index + 1 for sample in run.score.samples if sample.parses is False]
    empty = [sample.index + 1 for sample in run.score.samples if not sample.code]
    if not (truncated or broken or empty or run.failures):
        return
    st.subheader("What went wrong")
    for label, numbers in (("Cut off by the token limit", truncated), ("Do not parse", broken), ("Hold no code", empty)):
        if numbers:
            st.markdown(f"{label}: {', '.join(f'answer {number}' for number in numbers)}")
    if run.failures:
        rows = [{"Request": failure.index + 1, "What": failure.kind, "Why": failure.message} for failure in run.failures]
        st.dataframe(rows, hide_index=True)


@st.fragment
def _answers(run: Run, name: str) -> None:
    st.subheader("The answers")
    samples = run.score.samples
    pages = -(-len(samples) // _ANSWERS_SHOWN)
    page = st.pagination(pages, key=f"page-{name}") if pages > 1 else 1
    for sample in samples[(page - 1) * _ANSWERS_SHOWN : page * _ANSWERS_SHOWN]:
        reply = sample.reply
        facts = [answer_name(sample.index)]
        if reply.completion_tokens is not None:
            facts.append(f"{reply.completion_tokens} tokens")
        if reply.latency_seconds is not None:
            facts.append(f"{reply.latency_seconds:.1f} s")
        # What is folded is not sent: colouring the code of ten answers takes a browser longer than the rest of the page.
        folded = st.expander(" · ".join(facts), key=f"answer-{name}-{sample.index}", on_change="rerun")
        if not folded.open:
            continue
        with folded:
            _code(sample, run.score.language)
            if st.toggle("Whole reply and conversation", key=f"whole-{name}-{sample.index}"):
                for message in conversation(run, sample):
                    st.caption(message["role"].capitalize())
                    st.code(_shown(message["content"]), language=None, wrap_lines=True, height=260)


def _code(sample: Sample, language: str, height: int | None = None) -> None:
    if not sample.code:
        st.markdown("*This reply holds no code.*")
        return
    known = find_language(language)
    st.code(_shown(sample.code), language=known.name if known else None, height=height or "content")


def _shown(text: str) -> str:
    """At most what a browser can colour without stalling; downloads have all of it."""
    limit = 50_000
    return text if len(text) <= limit else f"{text[:limit]}\n… {len(text) - limit:,} more characters: see the downloads"


def _markdown_safe(text: str) -> str:
    """A short name for a caption: only characters that Markdown gives no meaning."""
    cleaned = "".join(character if character.isalnum() or character in " .:/-" else "\u00b7" for character in text[:80])
    return escape(cleaned).replace("://", ": //")
