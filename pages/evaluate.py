"""Evaluate: type a prompt, watch the answers arrive, look at the result."""

from __future__ import annotations

import streamlit as st

from dashboard.controls import ask_for_plan
from dashboard.job_view import offer_resume, show_job
from dashboard.result_view import show_result
from dashboard.runs import earlier_run, load_run
from dashboard.runtime import runner, store
from dashboard.words import escape, notice
from evaluator_core.errors import EvaluatorError
from evaluator_core.jobs import ENDED


def back_button() -> None:
    """A way to the empty form."""
    if st.button("New evaluation", icon=":material/add:", key="new"):
        st.query_params.clear()
        st.rerun()


job_id, result = st.query_params.get("job"), st.query_params.get("result")
if result:
    st.title("Result")
    back_button()
    try:
        run = load_run(result)
        show_result(run, result, earlier_run(run))
    except EvaluatorError as error:
        notice("error", str(error))
elif job_id:
    st.title("Run")
    back_button()
    try:
        show_job(job_id)
    except EvaluatorError as error:
        notice("error", str(error))
else:
    st.title("Do I get the same program again?")
    st.markdown("Ask a coding model the same thing several times, and see how alike its programs are.")
    plan = ask_for_plan()
    if plan is not None:
        st.query_params["job"] = runner().start(plan)
        st.rerun()
    running = [job for job in runner().jobs() if job.state not in ENDED]
    if running:
        st.subheader("Under way")
        for job in running:
            st.html(f'<a href="?job={job.job_id}" target="_self">{escape(job.plan.prompt[:80])}</a>')
    interrupted = store().interrupted()
    if interrupted:
        st.subheader("Interrupted runs")
        st.markdown("Their answers are kept; they can go on where they stopped.")
        for run_id in interrupted[::-1][:5]:
            try:
                unfinished = store().unfinished(run_id)
            except EvaluatorError as error:
                notice("warning", str(error))
                continue
            with st.container(border=True):
                st.html(f"<div>{escape(unfinished.plan.prompt[:200])}</div>")
                st.caption(
                    f"{len(unfinished.replies)} of {unfinished.plan.n_samples} answers, {unfinished.created_at:%Y-%m-%d %H:%M}"
                )
                offer_resume(run_id)
