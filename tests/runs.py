"""Real runs for the tests: texts go through the very scoring that answers of a model go through."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone

from evaluator_core.scoring import score_replies
from evaluator_core.types import DEFAULT_THRESHOLD, Matrix, Reply, Run, RunSettings, SampleFailure

CREATED_AT = datetime(2025, 9, 18, 11, 20, 3, tzinfo=timezone(timedelta(hours=2)))

LOOP = """Here it is:
```python
def add(values):
    total = 0
    for value in values:
        total += value
    return total
```"""
BUILTIN = "```python\ndef add(values):\n    return sum(values)\n```\nIt uses `sum`."
ALIKE = "```python\ndef plus(numbers):\n    return sum(numbers)\n```"


def make_run(
    texts: Sequence[str] = (LOOP, BUILTIN, ALIKE),
    *,
    question: str = "Add up a list of numbers.",
    model: str = "gpt-4o-mini",
    language: str = "python",
    created_at: datetime = CREATED_AT,
    threshold: float = DEFAULT_THRESHOLD,
) -> Run:
    """A run in which every request was answered."""
    replies = [Reply(index, text) for index, text in enumerate(texts)]
    return run_of(replies, question=question, model=model, language=language, created_at=created_at, threshold=threshold)


def run_of(
    replies: Sequence[Reply],
    *,
    question: str = "Add up a list of numbers.",
    model: str = "gpt-4o-mini",
    language: str = "python",
    created_at: datetime = CREATED_AT,
    threshold: float = DEFAULT_THRESHOLD,
    settings: RunSettings | None = None,
    failures: Sequence[SampleFailure] = (),
) -> Run:
    """A run of these replies, whichever of the requests they answer."""
    return Run(
        created_at=created_at,
        model=model,
        endpoint="answers",
        question=question,
        settings=settings or RunSettings(n_requested=len(replies) + len(failures)),
        score=score_replies(replies, language, threshold, question),
        failures=tuple(failures),
    )


def detailed_run() -> Run:
    """A run in which every field says something: two of five requests failed, and one answer holds no code."""
    replies = [
        Reply(0, LOOP, "stop", 1.25, 31, 58, "gpt-4o-mini-2024-07-18", "fp_1"),
        Reply(2, "I would rather not.", "content_filter", 0.1, 31, 5),
        Reply(4, BUILTIN, "length", 3.0000000000000004, 31, 40),
    ]
    return run_of(
        replies,
        threshold=0.8,
        settings=RunSettings(5, temperature=0.7, max_tokens=512, system_prompt="Answer in Python.", seed=7),
        failures=[SampleFailure(1, "timeout", "no answer within 60 s"), SampleFailure(3, "refused", "HTTP 429")],
    )


def assert_same_run(read: Run, written: Run) -> None:
    """Every field is equal, and the matrices are so to the last bit."""
    assert read.created_at == written.created_at
    assert read.created_at.utcoffset() == written.created_at.utcoffset()
    assert read.timestamp == written.timestamp
    assert (read.model, read.endpoint, read.question) == (written.model, written.endpoint, written.question)
    assert read.settings == written.settings
    assert read.failures == written.failures
    ours, theirs = read.score, written.score
    assert ours.samples == theirs.samples
    assert (ours.language, ours.threshold, ours.weights) == (theirs.language, theirs.threshold, theirs.weights)
    assert ours.metrics == theirs.metrics
    assert ours.notes == theirs.notes
    assert _bits(ours.ast) == _bits(theirs.ast)
    assert _bits(ours.text) == _bits(theirs.text)
    assert _bits(ours.hybrid) == _bits(theirs.hybrid)


def _bits(matrix: Matrix | None) -> tuple[str, tuple[int, ...], bytes] | None:
    return None if matrix is None else (str(matrix.dtype), matrix.shape, matrix.tobytes())
