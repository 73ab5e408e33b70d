"""The real model outputs in ``../shared/data``, where that folder exists beside the project."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parent.parent.parent / "shared" / "data"


def read_lines(name: str) -> Iterator[dict[str, Any]] | None:
    """The records of a gzip-compressed file of JSON lines; ``None`` when it is not there."""
    path = _DATA / name
    return _records(path) if path.is_file() else None


def real_functions(count: int) -> list[str] | None:
    """Distinct samples of a model for HumanEval, the same ones each time; ``None`` without data or without enough of it."""
    records = read_lines("labelled_python.jsonl.gz")
    if records is None:
        return None
    distinct = {sample for record in records if record["dataset"] == "HumanEval" for sample in record["samples"]}
    return random.Random(count).sample(sorted(distinct), count) if len(distinct) >= count else None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)
