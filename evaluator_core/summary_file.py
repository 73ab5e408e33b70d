"""The file ``summary.csv``. Whoever writes it holds the lock of the results folder, which the store has."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from evaluator_core.errors import StoreUnavailable
from evaluator_core.line_file import append_line
from evaluator_core.summary import HEADER, Summary, SummaryRow, format_row, parse_summary, replace_row


class SummaryFile:
    """One row per finished run. Rows are appended; the row of a run that was extended is put in the place of its earlier one."""

    def __init__(self, path: Path) -> None:
        """The file appears with the first row."""
        self._path = path

    def read(self) -> Summary:
        """All rows, and the lines that are damaged."""
        return parse_summary(self._bytes().decode("utf-8", "replace"))

    def append(self, row: SummaryRow) -> None:
        """Add the row of a new run."""
        append_line(self._path, _encoded(row), header=HEADER.encode(), durable=True)

    def put(self, row: SummaryRow) -> None:
        """Write the file anew, with the row in the place of the one that has the same result file."""
        plain = _encoded(row).decode("utf-8")
        # "surrogateescape" keeps every other byte as it is, also in damaged lines.
        text = replace_row(self._bytes().decode("utf-8", "surrogateescape"), parse_summary(plain).rows[0])
        # Named like the store's own drafts, which it drops when a crash has left them.
        handle, draft = tempfile.mkstemp(prefix=".draft-", suffix=".json", dir=self._path.parent)
        try:
            with open(handle, "wb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
                file.flush()
                os.fsync(file.fileno())
            Path(draft).chmod(0o644)
            Path(draft).replace(self._path)
        except BaseException:
            Path(draft).unlink(missing_ok=True)
            raise

    def mend_end(self) -> None:
        """Cut a row that was not finished; end a last row that lacks only its line end."""
        data = self._bytes()
        # "surrogateescape" keeps the length, also where the cut went through a character.
        torn = parse_summary(data.decode("utf-8", "surrogateescape")).torn
        if torn:
            os.truncate(self._path, len(data) - len(torn.encode("utf-8", "surrogateescape")))
        elif data and not data.endswith(b"\n"):
            append_line(self._path, b"")

    def _bytes(self) -> bytes:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise StoreUnavailable(f"{self._path} cannot be read: {error.strerror}") from error


def _encoded(row: SummaryRow) -> bytes:
    # CSV has no escape for a lone surrogate; it becomes "?" there, and the JSON file keeps it.
    return format_row(row).encode("utf-8", "replace")
