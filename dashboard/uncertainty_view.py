"""How sure the numbers are: intervals on cards, what more answers would bring, and a way to ask for them."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from dashboard.job_view import follow
from dashboard.runtime import runner, settings
from dashboard.words import notice
from evaluator_core.errors import EvaluatorError
from evaluator_core.metrics import LABELS
from evaluator_core.statistics import AIM_POINTS, EXPLANATION, Interval, NewKind, Uncertainty, uncertainty
from evaluator_core.types import Run

_MORE, _CAP = 5, 50
_PROJECTED = "What is projected takes it that further answers vary as these do."


@lru_cache(maxsize=16)
def uncertainty_of(run: Run) -> Uncertainty:
    """The run's uncertainty; runs that are read again are the same object as long as their file does not change."""
    return uncertainty(run.score, run.behaviour)


def interval_html(found: Uncertainty, field: str) -> str:
    """The interval of a metric in words and as a bar from 0 to 100, for a card."""
    interval = found.intervals.get(field)
    if interval is None:
        reason = found.reason or "no interval"
        return f'<div class="interval soft" title="{EXPLANATION}">{reason[0].upper()}{reason[1:]}.</div>'
    return (
        f'<div class="interval" title="{EXPLANATION}"><div class="range" aria-hidden="true"><i style="left: {interval.low:.1f}%; '
        f'width: {max(1.0, interval.high - interval.low):.1f}%"></i></div>95 % interval {show_interval(interval)}</div>'
    )


def show_interval(interval: Interval) -> str:
    """The two ends, in percent."""
    return f"{interval.low:.1f} to {interval.high:.1f}"


def show_certainty(run: Run, name: str) -> None:
    """What the answers so far leave open, the numbers before it was extended, and buttons to ask for more."""
    st.subheader("How sure is that?", help=f"{EXPLANATION} {_PROJECTED}")
    found = uncertainty_of(run)
    st.markdown("\n".join(f"- {line}" for line in _sentences(found)))
    if run.versions:
        st.markdown("**Before more answers were asked for**")
        rows = [
            {
                "Answers": version.n_samples,
                **{label: f"{getattr(version.metrics, field):.1f} %" for field, label in LABELS.items()},
                "Until": f"{version.until:%Y-%m-%d %H:%M:%S}",
            }
            for version in run.versions
        ]
        st.dataframe(rows, hide_index=True, alt="The numbers of this run before it was extended")
    # What is folded is not sent: most readers never open it, and its fields take the browser a while.
    folded = st.expander("Ask for more answers", icon=":material/add_circle:", key=f"ask-more-{name}", on_change="rerun")
    if folded.open:
        with folded:
            _ask_for_more(run, name)


def _sentences(found: Uncertainty) -> list[str]:
    if found.reason is not None:
        return [f"With {found.n_samples} answers there are {found.reason}: ask for a few more."]
    lines = []
    for field, needed in found.samples_needed_by_metric.items():
        label = LABELS.get(field, "Behaviour agreement")
        interval = found.intervals[field]
        assert interval is not None
        if needed <= found.n_samples:
            lines.append(f"**{label}** is known to ± {interval.half_width:.1f} points.")
        else:
            lines.append(
                f"**{label}** is known to ± {interval.half_width:.1f} points; about **{needed:,} answers in all** would bring it "
                f"to ± {AIM_POINTS:g} (projected)."
            )
    if found.new_kind is not None:
        lines.append(_chance("is a program not seen yet, up to names and layout", found.new_kind))
    if found.new_behaviour is not None:
        lines.append(_chance("does something not seen yet", found.new_behaviour))
    return lines


def _chance(what: str, kind: NewKind) -> str:
    return (
        f"The chance that the next answer {what}: about {kind.percent:.0f} %, and hardly more than {kind.at_most_percent:.0f} %."
    )


def _ask_for_more(run: Run, name: str) -> None:
    st.markdown(
        "The same prompt goes to the same model with the same settings; the answers that are there stay and count. The result "
        "becomes a new version of this run, and the numbers so far stay visible."
    )
    room = settings().max_samples - run.settings.n_requested
    if room < 1:
        notice("info", f"The run has as many answers as this server allows: {settings().max_samples}.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        more = st.number_input("How many more", 1, room, min(_MORE, room), key=f"more-{name}")
        if st.button(f"Ask for {more} more", key=f"extend-{name}", type="primary"):
            _begin(name, int(more))
    with right:
        field = st.selectbox(
            "Number that is to be known",
            ["confidence_percent", "agreement_percent"],
            format_func=LABELS.__getitem__,
            key=f"until-{name}",
        )
        points = st.number_input("To ± points", 1.0, 25.0, AIM_POINTS, 0.5, key=f"points-{name}")
        cap = st.number_input(
            "With at most so many answers in all",
            run.settings.n_requested + 1,
            run.settings.n_requested + room,
            min(run.settings.n_requested + room, max(_CAP, run.settings.n_requested + 1)),
            key=f"cap-{name}",
        )
        if st.button(f"Ask until it is known to ± {points:g}", key=f"until-button-{name}"):
            _begin(name, int(cap) - run.settings.n_requested, points=float(points), field=str(field))


def _begin(name: str, more: int, points: float | None = None, field: str = "confidence_percent") -> None:
    try:
        job = runner().extend(name, more=more, points=points, field=field)
    except EvaluatorError as error:
        notice("error", str(error))
        return
    follow(job)
