"""The summary of all runs as CSV text: one row per finished run, eight columns that never change."""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass, fields, replace

from evaluator_core.types import Run


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One finished run. The fields are the columns, in this order."""

    timestamp: str
    """When the run was started, in local time: ``2025-09-18_11-20-03``."""
    model: str
    """The model's name."""
    question: str
    """The prompt."""
    agreement_percent: float
    """Share of pairs that reach the threshold."""
    confidence_percent: float
    """Mean hybrid similarity."""
    normalized_confidence_percent: float
    """Mean hybrid similarity, stretched from 50..100 to 0..100."""
    n_samples: int
    """How many samples were scored."""
    saved_file: str
    """Path of the run's JSON file."""

    @property
    def file_name(self) -> str:
        """The name of the run's file, whichever system wrote the row."""
        return self.saved_file.replace("\\", "/").rsplit("/", 1)[-1]


COLUMNS = tuple(field.name for field in fields(SummaryRow))
HEADER = ",".join(COLUMNS) + "\n"

_PLAIN = re.compile(r"[\w.:/@+-]+( [\w.:/@+-]+)*", re.ASCII)
_TIME = r"^(\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d),"
_RESULT = re.compile(r"(.*[/\\])?eval_[^/\\]*\.json", re.DOTALL)
_FIELD = r'("(?:[^"]++|"")*+"|[^",\r\n]*+)'
# A row begins with its time, so that reading finds the next row after a damaged one.
_ROW = re.compile(_TIME + ",".join([_FIELD] * (len(COLUMNS) - 1)) + r"(?:\r?\n|\Z)", re.MULTILINE)
# The beginning of a row up to the end of the text: a part of its time, or whole fields and one that may be cut short.
_TORN = re.compile(rf'^\d[\d_-]{{0,18}}\Z|{_TIME}(?:{_FIELD},)*+(?:"(?:[^"]++|"")*+"?|[^",\r\n]*+)\r?\Z', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Summary:
    """What was read from the summary file."""

    rows: tuple[SummaryRow, ...]
    """The intact rows, in the order of the file."""
    damaged: tuple[str, ...] = ()
    """The lines that are no row, as they stand."""
    torn: str = ""
    """The beginning of a row at the very end of the text, where its writing was cut short; not among the damaged."""


def row_of(run: Run, saved_file: str) -> SummaryRow:
    """The row of a finished run; every one of them has numbers."""
    metrics = run.score.metrics
    agreement, confidence = metrics.agreement_percent, metrics.confidence_percent
    normalized = metrics.normalized_confidence_percent
    if agreement is None or confidence is None or normalized is None:
        raise ValueError("a run with fewer than two samples has no place in the summary")
    n_samples = len(run.score.samples)
    return SummaryRow(run.timestamp, run.model, run.question, agreement, confidence, normalized, n_samples, saved_file)


def format_row(row: SummaryRow) -> str:
    """The row as one CSV record with its line end."""
    return ",".join(_format(value) for value in astuple(row)) + "\n"


def parse_summary(text: str) -> Summary:
    """Read every intact row; what lies between them is damaged, reported and skipped."""
    rows: list[SummaryRow] = []
    damaged: list[str] = []
    end = 0
    for match in _ROW.finditer(text):
        row = _row(match)
        if row is None:
            continue
        damaged += _lines(text[end : match.start()])
        rows.append(row)
        end = match.end()
    rest = text[end:]
    torn = _torn_end(rest, is_whole_text=end == 0)
    damaged += _lines(rest.removesuffix(torn))
    return Summary(tuple(rows), tuple(damaged), torn)


def replace_row(text: str, row: SummaryRow) -> str:
    """The text with ``row`` in place of the row of the same result file, wherever that lies; all else stays as it is.

    Where there is none, the row is added at the end.
    """
    for match in _ROW.finditer(text):
        known = _row(match)
        if known is not None and known.file_name == row.file_name:
            return text[: match.start()] + format_row(replace(row, saved_file=known.saved_file)) + text[match.end() :]
    return (text or HEADER) + format_row(row)


def _torn_end(text: str, *, is_whole_text: bool) -> str:
    if is_whole_text and HEADER.startswith(text) and text != HEADER:
        return text
    torn = _TORN.search(text)
    return torn[0] if torn else ""


def _row(match: re.Match[str]) -> SummaryRow | None:
    timestamp, model, question, *numbers, n_samples, saved_file = (_unquote(value) for value in match.groups())
    try:
        agreement, confidence, normalized = percents = [float(number) for number in numbers]
        count = int(n_samples)
    except ValueError:
        return None
    if not _RESULT.fullmatch(saved_file):  # cut short within its last column
        return None
    if count < 2 or not all(math.isfinite(percent) and 0 <= percent <= 100 for percent in percents):
        return None
    return SummaryRow(timestamp, model, question, agreement, confidence, normalized, count, saved_file)


def _format(value: object) -> str:
    text = str(value)
    if _PLAIN.fullmatch(text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _unquote(value: str) -> str:
    return value[1:-1].replace('""', '"') if value.startswith('"') else value


def _lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip() and line.removeprefix("\ufeff") != HEADER.rstrip("\n")]
