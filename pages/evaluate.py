"""Evaluate: type a prompt, watch the answers arrive, look at the result."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

import streamlit as st

from dashboard.controls import ask_for_plan
from dashboard.job_view import offer_resume, show_job
from dashboard.result_view import show_result
from dashboard.runs import earlier_run, load_run, newest_rows
from dashboard.runtime import runner, store
from dashboard.words import escape, notice
from evaluator_core.errors import EvaluatorError, ResultNotFound
from evaluator_core.jobs import ENDED

LATEST = 3


def head(title: str) -> None:
    """The title, and a way to the empty form."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(title, width="content")
        if st.button("New evaluation", icon=":material/add:", key="new"):
            st.query_params.clear()
            st.rerun()


def links(items: Iterable[tuple[str, str, str, str]]) -> None:
    """Ways to runs: each an address, what it is of, more about it in small, and what stands to the right."""
    rows = (
        f'<a href="?{address}" target="_self"><span class="what">{escape(what)}</span>'
        f'<span class="numbers">{escape(numbers)}</span><span class="soft">{escape(more)}</span></a>'
        for address, what, more, numbers in items
    )
    st.html(f'<div class="runs">{"".join(rows)}</div>')


def show_under_way() -> None:
    """Runs of this server that have not ended, whoever started them."""
    running = [job for job in runner().jobs() if job.state not in ENDED]
    if running:
        st.subheader("Under way")
        links(
            (f"job={job.job_id}", job.plan.prompt[:200], job.plan.model, f"{len(job.progress.replies)} of {job.plan.n_samples}")
            for job in running
        )


def show_interrupted() -> None:
    """Runs that stopped early, each with a way to go on."""
    interrupted = store().interrupted()
    if not interrupted:
        return
    st.subheader("Interrupted runs")
    st.markdown("Their answers are kept; they can go on where they stopped.")
    for run_id in interrupted[::-1][:5]:
        try:
            unfinished = store().unfinished(run_id)
        except EvaluatorError as error:
            notice("warning", str(error))
            continue
        with st.container(border=True, key=f"panel-{run_id}"):
            st.html(f"<div>{escape(unfinished.plan.prompt[:200])}</div>")
            st.caption(
                f"{len(unfinished.replies)} of {unfinished.plan.n_samples} answers, {unfinished.created_at:%Y-%m-%d %H:%M}"
            )
            offer_resume(run_id)


def show_latest() -> None:
    """The last few finished runs."""
    latest = newest_rows(LATEST)
    if not latest:
        return
    st.subheader("Latest runs")
    links(
        (
            f"result={quote(row.file_name)}",
            row.question[:200],
            f"{row.model} · {row.n_samples} answers · {row.timestamp[:10]} {row.timestamp[11:].replace('-', ':')}",
            f"confidence {row.confidence_percent:.1f} %",
        )
        for row in latest
    )


job_id, result = st.query_params.get("job"), st.query_params.get("result")
if result:
    head("Result")
    try:
        run = load_run(result)
        show_result(run, result, earlier_run(run))
    except EvaluatorError as error:
        notice("error", str(error))
elif job_id:
    head("Run")
    try:
        show_job(job_id)
    except ResultNotFound as error:
        notice("error", f"{error}. A run that was cut short can go on from the page Evaluate; finished ones are in the History.")
else:
    st.title("Do I get the same program again?")
    st.markdown("Ask a coding model the same thing several times, and see how alike its programs are.")
    with st.container(border=True, key="panel-form"):
        plan = ask_for_plan()
    if plan is not None:
        st.query_params["job"] = runner().start(plan)
        st.rerun()
    show_under_way()
    show_interrupted()
    show_latest()
