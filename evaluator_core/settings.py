"""What the environment sets, read when it is needed, so that a test or a shell can change it."""

from __future__ import annotations

import os
from pathlib import Path

DEFAULT_RESULTS_DIR = "results"


def results_dir() -> Path:
    """Where runs are stored: ``EVALUATOR_RESULTS_DIR``, or ``results`` in the current folder."""
    return Path(os.environ.get("EVALUATOR_RESULTS_DIR") or DEFAULT_RESULTS_DIR)
