"""The files of a run, for a paper."""

from __future__ import annotations

import streamlit as st

from dashboard.runtime import store
from evaluator_core.export import answers_zip, pairs_csv, summary_csv
from evaluator_core.report import html_report
from evaluator_core.summary import row_of
from evaluator_core.types import Run


def show_downloads(run: Run, name: str) -> None:
    """A button for each file. The larger ones are made when they are asked for."""
    st.subheader("Downloads")
    path = store().path_of(name)
    stem = path.stem
    with st.container(horizontal=True, key="downloads"):
        _button("JSON", lambda: path.read_bytes(), f"{stem}.json", "application/json")
        if len(run.score.samples) >= 2:  # with fewer there are neither pairs nor numbers
            _button("Pairs (CSV)", lambda: pairs_csv(run), f"{stem}_pairs.csv", "text/csv")
            _button("Summary row (CSV)", lambda: summary_csv([row_of(run, path.as_posix())]), f"{stem}_summary.csv", "text/csv")
        _button("Answers (zip)", lambda: answers_zip(run), f"{stem}_answers.zip", "application/zip")
        _button("Report (HTML)", lambda: html_report(run), f"{stem}.html", "text/html")


def _button(label: str, make: object, file_name: str, kind: str) -> None:
    st.download_button(label, make, file_name, kind, key=f"download-{file_name}", on_click="ignore", icon=":material/download:")  # type: ignore[arg-type]
