"""A run as files that people take away: tables for their scripts, and the answers as source files in one archive.

Everything is made in memory and handed back; nothing here touches a file. Samples are numbered as in the stored JSON, from 0.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator

from evaluator_core.languages import find_language
from evaluator_core.summary import HEADER, SummaryRow, format_row
from evaluator_core.types import Pair, Run, Sample

_PLAIN_TEXT = ".txt"
# The earliest time that the format knows: the same run gives the same bytes, whenever it is packed.
_PACKED_AT = (1980, 1, 1, 0, 0, 0)
_MADE_ON_UNIX, _READABLE_BY_ALL = 3, 0o100644 << 16


def pairs_csv(run: Run) -> str:
    """Every pair i < j with its similarities to the last digit; the structure's cell is empty where there is no grammar."""
    return "".join(_pair_rows(run))


def summary_csv(rows: Iterable[SummaryRow]) -> str:
    """The header and one line per run, as in the results folder. It can always be written as UTF-8."""
    text = HEADER + "".join(map(format_row, rows))
    # CSV has no escape for a lone surrogate; it becomes "?", as the store writes it.
    return text.encode("utf-8", "replace").decode("utf-8")


def answers_zip(run: Run) -> bytes:
    """The answers as an archive: ``sample_00.py`` … and the whole replies as ``replies/sample_00.md`` …

    Where there is no grammar or no code the file is ``.txt``, and without code it holds the whole reply.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in _files(run):
            entry = zipfile.ZipInfo(name, _PACKED_AT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = _MADE_ON_UNIX, _READABLE_BY_ALL
            # A lone surrogate has no UTF-8 form; it is written as the escape \udXXX.
            archive.writestr(entry, text.encode("utf-8", "backslashreplace"))
    return packed.getvalue()


def _pair_rows(run: Run) -> Iterator[str]:
    yield ",".join(Pair._fields) + "\n"
    for i, j, structure, text, hybrid in run.score.pairs():
        written = "" if structure is None else repr(structure)
        yield f"{i},{j},{written},{text!r},{hybrid!r}\n"


def _files(run: Run) -> Iterator[tuple[str, str]]:
    """Name and content of each file. A name is made of the index alone: no model's text chooses where a file lands."""
    language = find_language(run.score.language)
    extension = language.extension if language else _PLAIN_TEXT
    for sample in run.score.samples:
        yield (_stem(sample) + extension, sample.code) if sample.code else (_stem(sample) + _PLAIN_TEXT, sample.reply.text)
    for sample in run.score.samples:
        yield f"replies/{_stem(sample)}.md", sample.reply.text


def _stem(sample: Sample) -> str:
    return f"sample_{sample.index:02d}"
