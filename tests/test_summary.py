"""The summary as CSV: any prompt comes back as it was, and damage costs no row but its own."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator_core.store import SUMMARY, Store
from evaluator_core.summary import HEADER, SummaryRow, format_row, parse_summary
from tests.runs import make_run

DOCUMENTED_HEADER = (
    "timestamp,model,question,agreement_percent,confidence_percent,normalized_confidence_percent,n_samples,saved_file\n"
)

PROMPTS = {
    "commas": "a, b,, c,",
    "quotes": 'say "hello" to ""them""',
    "quotes only": '"""',
    "one quote": '"',
    "newlines": "first\n\nsecond\n",
    "CRLF": "first\r\nsecond\r\n",
    "lone CR": "first\rsecond\r",
    "emoji": "add 🧮 up, 👩‍👩‍👧",
    "NUL": "before\0after",
    "100,000 characters": 'a long, "quoted" prompt\n' * 4200,
    "formula": "=1+2",
    "command": "=cmd|' /C calc'!A0",
    "leading blanks": "  \tindented",
    "trailing blanks": "trailing \t ",
    "blanks only": "   ",
    "escapes": '\\n \\" \x1b[2J \x85 \u2028',
    "the header": HEADER,
    "a row": "2025-09-18_11-20-03,model,prompt,20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-03.json\n",
    "byte order mark": "\ufeffprompt",
}


def _row(timestamp: str = "2025-09-18_11-20-03", question: str = "Add.", saved_file: str | None = None) -> SummaryRow:
    saved_file = saved_file or f"results/eval_{timestamp}.json"
    return SummaryRow(timestamp, "gpt-4o-mini", question, 20.0, 77.3, 54.6, 5, saved_file)


FIRST, SECOND, THIRD = (_row(f"2025-09-18_11-20-0{second}", f"Add, {second}\ntimes.") for second in (1, 2, 3))


def test_the_header_is_the_documented_one(tmp_path: Path) -> None:
    Store(tmp_path).save(make_run())
    assert (tmp_path / SUMMARY).read_bytes().startswith(DOCUMENTED_HEADER.encode())


def test_the_documented_example_is_written_and_read_as_it_stands() -> None:
    line = '2025-09-18_11-20-03,gpt-4o-mini,"Write a Python function …",20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-03.json\n'
    row = _row(question="Write a Python function …")
    assert format_row(row) == line
    assert parse_summary(HEADER + line).rows == (row,)


@pytest.mark.parametrize("prompt", PROMPTS.values(), ids=PROMPTS.keys())
def test_pandas_and_the_store_read_every_prompt_as_it_was(prompt: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    before, run, after = make_run(), make_run(question=prompt), make_run()
    paths = [store.save(each).as_posix() for each in (before, run, after)]

    summary = store.summary()
    assert [row.question for row in summary.rows] == [before.question, prompt, after.question]
    assert [row.saved_file for row in summary.rows] == paths
    assert (summary.damaged, summary.torn) == ((), "")

    table = pd.read_csv(tmp_path / SUMMARY)
    assert list(table.columns) == HEADER.strip().split(",")
    assert list(table.question) == [before.question, prompt, after.question]
    assert list(table.saved_file) == paths
    assert list(table.n_samples) == [3, 3, 3]
    assert list(table.confidence_percent) == [run.score.confidence_percent] * 3


def test_a_lone_surrogate_costs_its_own_character_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(make_run(question="a\ud83db"))
    assert [row.question for row in store.summary().rows] == ["a?b"]


texts = st.text(st.characters(exclude_categories=["Cs"])) | st.text('",\r\n=\0 é🧮0\ufeff')
percents = st.floats(0, 100) | st.integers(0, 1000).map(lambda tenths: tenths / 10)
rows = st.builds(
    SummaryRow,
    timestamp=st.datetimes(min_value=datetime(1970, 1, 1)).map(lambda at: at.strftime("%Y-%m-%d_%H-%M-%S")),
    model=texts,
    question=texts,
    agreement_percent=percents,
    confidence_percent=percents,
    normalized_confidence_percent=percents,
    n_samples=st.integers(2, 10_000),
    saved_file=texts.map(lambda folder: f"{folder}/eval_2025-09-18_11-20-03.json"),
)


@settings(deadline=None)
@given(st.lists(rows, max_size=5))
@example([_row(question=prompt) for prompt in PROMPTS.values()])
def test_any_rows_come_back_as_they_were(written: list[SummaryRow]) -> None:
    text = HEADER + "".join(format_row(row) for row in written)
    summary = parse_summary(text)
    assert summary.rows == tuple(written)
    assert (summary.damaged, summary.torn) == ((), "")


@settings(deadline=None)
@given(st.lists(rows, max_size=5))
def test_the_standard_library_reads_the_same_fields(written: list[SummaryRow]) -> None:
    text = HEADER + "".join(format_row(row) for row in written)
    _, *records = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert [(record[1], record[2], record[7]) for record in records] == [
        (row.model, row.question, row.saved_file) for row in written
    ]


@settings(deadline=None)
@given(st.lists(rows, min_size=1, max_size=3), st.data())
def test_a_text_cut_within_its_last_row_keeps_the_rows_before(written: list[SummaryRow], data: st.DataObject) -> None:
    text = HEADER + "".join(format_row(row) for row in written)
    cut = data.draw(st.integers(len(text) - len(format_row(written[-1])), len(text)))
    summary = parse_summary(text[:cut])
    assert summary.rows in (tuple(written[:-1]), tuple(written))
    assert summary.damaged == ()


DAMAGED_LINES = {
    "garbage": "%PDF-1.7 \x00\x01 garbage",
    "a column missing": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,5,results/eval_2025-09-18_11-20-02.json",
    "a column too many": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json,x",
    "an unbalanced quote": '2025-09-18_11-20-02,gpt-4o-mini,"Add.,20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json',
    "a quote within a bare field": '2025-09-18_11-20-02,gpt-4o-mini,A"dd.,20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json',
    "no number": "2025-09-18_11-20-02,gpt-4o-mini,Add.,many,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "NaN": "2025-09-18_11-20-02,gpt-4o-mini,Add.,nan,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "infinity": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,inf,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "an empty number": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "a percentage above 100": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,177.3,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "a percentage below 0": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,-54.6,5,results/eval_2025-09-18_11-20-02.json",
    "half a sample": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,54.6,2.5,results/eval_2025-09-18_11-20-02.json",
    "one sample": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,54.6,1,results/eval_2025-09-18_11-20-02.json",
    "no time": "yesterday,gpt-4o-mini,Add.,20.0,77.3,54.6,5,results/eval_2025-09-18_11-20-02.json",
    "no file": "2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,54.6,5,",
    "5000 digits": f"2025-09-18_11-20-02,gpt-4o-mini,Add.,20.0,77.3,54.6,{'9' * 5000},results/eval_2025-09-18_11-20-02.json",
}


@pytest.mark.parametrize("line", DAMAGED_LINES.values(), ids=DAMAGED_LINES.keys())
def test_a_damaged_line_is_reported_and_the_rows_around_it_are_read(line: str) -> None:
    text = HEADER + format_row(FIRST) + line + "\n" + format_row(SECOND) + format_row(THIRD)
    summary = parse_summary(text)
    assert summary.rows == (FIRST, SECOND, THIRD)
    assert summary.damaged == (line,)
    assert summary.torn == ""


def test_all_damaged_lines_at_once_are_reported_in_order() -> None:
    lines = "".join(f"{line}\n{format_row(_row(question=name))}" for name, line in DAMAGED_LINES.items())
    summary = parse_summary(HEADER + lines)
    assert [row.question for row in summary.rows] == list(DAMAGED_LINES)
    assert summary.damaged == tuple(DAMAGED_LINES.values())


def test_a_file_from_a_spreadsheet_is_read() -> None:
    text = "\ufeff" + (HEADER + format_row(FIRST) + format_row(SECOND)).replace("\n", "\r\n")
    summary = parse_summary(text)
    assert [row.saved_file for row in summary.rows] == [FIRST.saved_file, SECOND.saved_file]
    assert (summary.damaged, summary.torn) == ((), "")


def test_bytes_that_are_not_utf8_cost_nothing_but_themselves(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.save(make_run(question="one"))
    with (tmp_path / SUMMARY).open("ab") as file:
        file.write(b"\xff\xfe\x80 garbage\n")
    store.save(make_run(question="two"))
    summary = store.summary()
    assert [row.question for row in summary.rows] == ["one", "two"]
    assert len(summary.damaged) == 1


def test_no_file_and_an_empty_one_hold_no_rows(tmp_path: Path) -> None:
    assert Store(tmp_path / "none").summary().rows == ()
    (tmp_path / SUMMARY).touch()
    assert Store(tmp_path).summary().rows == ()
