"""A run under way: how far it is, what has arrived, and a way to end it."""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np
import streamlit as st

from dashboard.charts import heatmap
from dashboard.runtime import runner
from dashboard.words import answer_name, notice, quote
from evaluator_core.errors import ResultNotFound, RunInterrupted
from evaluator_core.jobs import ENDED, Job, JobState
from evaluator_core.scoring import score_replies
from evaluator_core.types import Matrix, Score

_HEATMAP_UP_TO = 60
_SHOWN = 6
_LIST_HEIGHT = 380


def show_job(job_id: str) -> None:
    """Show the job, renewing itself until the job ends; then the page is drawn anew with the result in its address."""
    job = runner().job(job_id)
    quote(job.plan.prompt)
    if job.state not in ENDED:
        _watch(job_id)
    elif job.state is JobState.DONE and job.saved_file is not None:
        _open_result(job)
    else:
        _ended_early(job)


@st.fragment(run_every=0.5)
def _watch(job_id: str) -> None:
    job = runner().job(job_id)
    if job.state in ENDED:
        st.rerun()
    progress = job.progress
    good, failed, waiting = len(progress.replies), len(progress.failures), progress.waiting
    if job.state is JobState.WAITING:
        words = "Waiting for its turn: other runs are before it."
    elif progress.scoring:
        words = f"{progress.stage or 'Comparing the answers'} …"
    else:
        come = f"at most {waiting} to come; {progress.stage}" if progress.stage else f"{waiting} to come"
        words = f"{good} arrived, {failed} failed, {come}{_time_left(job_id, good + failed, progress.requested)}"
    st.progress((good + failed) / progress.requested, text=words)
    if st.button("Cancel", key="cancel", icon=":material/stop_circle:", help="What has arrived is kept."):
        runner().cancel(job_id)
    left, right = st.columns([5, 6], gap="large")
    with left:
        st.caption("How alike the answers so far are")
        if progress.requested <= _HEATMAP_UP_TO:
            matrix, names = _so_far(job)
            st.altair_chart(
                heatmap(
                    matrix,
                    names,
                    range(len(names)),
                    title="Hybrid similarity",
                    selectable=False,
                    room=range(progress.requested),
                ),
                theme=None,
                key="partial",
                alt="Heatmap of the similarity of the answers that have arrived; the others are still empty",
            )
        else:
            st.markdown("With so many answers the heatmap comes with the result.")
    with right:
        st.caption("The latest answers")
        # Of a fixed height: answers that arrive push nothing down.
        with st.container(height=_LIST_HEIGHT, border=False, key="live"):
            if not progress.replies:
                st.markdown("The first answer is on its way …")
            for reply in progress.replies[::-1][:_SHOWN]:
                with st.expander(answer_name(reply.index), key=f"live-{reply.index}"):
                    st.code(reply.text[:5000], language=None, wrap_lines=True)


def _so_far(job: Job) -> tuple[Matrix, list[int]]:
    """The similarities of what has arrived, and the indices of the answers."""
    if len(job.progress.replies) < 2:
        return np.zeros((0, 0)), []
    score = _partial_score(job)
    return score.hybrid, [sample.index for sample in score.samples]


def _partial_score(job: Job) -> Score:
    """The score of what has arrived; made anew only when an answer came."""
    key = (job.job_id, len(job.progress.replies))
    cached: tuple[tuple[str, int], Score] | None = st.session_state.get("partial_score")
    if cached is None or cached[0] != key:
        score = score_replies(job.progress.replies, job.plan.language, job.plan.threshold, job.plan.prompt)
        cached = st.session_state["partial_score"] = (key, score)
    return cached[1]


def _time_left(job_id: str, done: int, total: int) -> str:
    """How long the rest will take at the pace so far, once there is one."""
    started = st.session_state.setdefault(f"watching-{job_id}", (time.monotonic(), done))
    gained = done - started[1]
    if gained < 2:
        return ""
    seconds = (time.monotonic() - started[0]) / gained * (total - done)
    return f", about {seconds:.0f} s left" if seconds < 90 else f", about {seconds / 60:.0f} min left"


def _open_result(job: Job) -> None:
    assert job.saved_file is not None
    st.query_params.clear()
    st.query_params["result"] = job.saved_file.rsplit("/", 1)[-1]
    st.rerun()


def _ended_early(job: Job) -> None:
    notice("warning" if job.state is JobState.CANCELLED else "error", str(job.error))
    if isinstance(job.error, RunInterrupted) or job.run_id:
        with suppress(ResultNotFound):  # nothing was kept where nothing had arrived
            offer_resume(str(job.run_id))
    if job.about is not None and st.button("Back to the run", key="back-to-run"):
        st.query_params.clear()
        st.query_params["result"] = job.about
        st.rerun()


def offer_resume(run_id: str) -> None:
    """Buttons to go on with an interrupted run, or to score what it has."""
    unfinished = runner().unfinished(run_id)
    have, wanted = len(unfinished.replies), unfinished.plan.n_samples
    with st.container(horizontal=True):
        if st.button(f"Go on: ask for the other {wanted - have}", key=f"resume-{run_id}", type="primary"):
            follow(runner().resume(run_id))
        if have >= 2 and st.button(f"Score the {have} that arrived", key=f"as-is-{run_id}"):
            follow(runner().resume(run_id, ask_missing=False))


def follow(job_id: str) -> None:
    """Show a job instead of what is shown now."""
    st.query_params.clear()
    st.query_params["job"] = job_id
    st.rerun()
