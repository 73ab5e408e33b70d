"""The records that the steps hand to each other. Values only: they know neither files nor models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from evaluator_core.behaviour.records import Behaviour

Matrix = NDArray[np.float64]
"""N×N similarities in [0, 1]: symmetric, with ones on the diagonal."""

STRUCTURE_WEIGHT, TEXT_WEIGHT = 0.7, 0.3
DEFAULT_THRESHOLD = 0.85


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it came from the model."""

    index: int
    """Which of the N requests it answers, from 0."""
    text: str
    """The whole reply, prose included."""
    finish_reason: str | None = None
    """Why the model stopped, in the endpoint's words; ``"length"`` means that it was cut off."""
    latency_seconds: float | None = None
    """From the request to the whole reply."""
    prompt_tokens: int | None = None
    """Tokens read, as the endpoint counted them."""
    completion_tokens: int | None = None
    """Tokens written, as the endpoint counted them."""
    reported_model: str | None = None
    """The model's name in the endpoint's answer: which version really answered."""
    system_fingerprint: str | None = None
    """The endpoint's mark of its own version, where it gives one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A reply and the code found in it."""

    reply: Reply
    """What the model said."""
    code: str
    """The code in it; ``""`` when it holds none."""
    parses: bool | None
    """Whether the code fits the grammar; ``None`` when there is no code, no grammar, or too much of it to parse."""

    @property
    def index(self) -> int:
        """Which of the N requests it answers, from 0."""
        return self.reply.index


@dataclass(frozen=True, slots=True)
class SampleFailure:
    """A request that brought no answer. It is never scored."""

    index: int
    """Which of the N requests failed, from 0."""
    kind: str
    """What happened, in one word."""
    message: str
    """What happened, for a person."""


class Pair(NamedTuple):
    """How alike two samples are."""

    i: int
    """Index of the first sample."""
    j: int
    """Index of the second sample, larger than ``i``."""
    ast_similarity: float | None
    """By structure, in [0, 1]; ``None`` when the language has no grammar."""
    text_similarity: float
    """By the characters of the code, in [0, 1]."""
    hybrid_similarity: float
    """The weighted mean of both, in [0, 1]."""


class Reading(StrEnum):
    """What the metrics say about the model's consistency on the prompt."""

    STRONG = "strong"
    MODERATE = "moderate"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Metrics:
    """The three numbers, in percent with one decimal; ``None`` when fewer than two samples arrived."""

    agreement_percent: float | None
    """Share of pairs whose hybrid similarity reaches the threshold."""
    confidence_percent: float | None
    """Mean hybrid similarity."""
    normalized_confidence_percent: float | None
    """Mean hybrid similarity, stretched so that 50 % becomes 0 and held within 0..100."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each view counts in the hybrid similarity; they sum to one."""

    structure: float = STRUCTURE_WEIGHT
    """Weight of the syntax; 0 when the language has no grammar."""
    text: float = TEXT_WEIGHT
    """Weight of the characters."""


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """N samples compared with each other, pair by pair, and what comes of it."""

    samples: tuple[Sample, ...]
    """The samples, in order of index; row and column k of each matrix belong to the k-th."""
    language: str
    """The language they were read as."""
    threshold: float
    """From which hybrid similarity on a pair agrees."""
    weights: Weights
    """What structure and text count in the hybrid."""
    ast: Matrix | None
    """Similarity by structure; ``None`` when the language has no grammar."""
    text: Matrix
    """Similarity by characters."""
    hybrid: Matrix
    """The weighted mean of both."""
    metrics: Metrics
    """The three numbers."""
    notes: tuple[str, ...] = ()
    """What a reader must know to trust the numbers: samples without code, a language without grammar …"""

    @property
    def agreement_percent(self) -> float | None:
        """Share of pairs whose hybrid similarity reaches the threshold, in percent."""
        return self.metrics.agreement_percent

    @property
    def confidence_percent(self) -> float | None:
        """Mean hybrid similarity, in percent."""
        return self.metrics.confidence_percent

    @property
    def normalized_confidence_percent(self) -> float | None:
        """Mean hybrid similarity stretched from 50..100 to 0..100."""
        return self.metrics.normalized_confidence_percent

    def pairs(self) -> Iterator[Pair]:
        """Every pair i < j, one at a time: N samples never make N² records at once."""
        for row, first in enumerate(self.samples):
            texts, hybrids = self.text[row].tolist(), self.hybrid[row].tolist()
            structures = self.ast[row].tolist() if self.ast is not None else [None] * len(texts)
            for column in range(row + 1, len(self.samples)):
                second = self.samples[column]
                yield Pair(first.index, second.index, structures[column], texts[column], hybrids[column])


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How the model was asked."""

    n_requested: int
    """How many answers were wanted."""
    temperature: float | None = None
    """Sampling temperature; ``None`` for the endpoint's own."""
    max_tokens: int | None = None
    """Longest answer; ``None`` for the endpoint's own."""
    system_prompt: str | None = None
    """What the model was told before the prompt."""
    seed: int | None = None
    """Sample k was asked for with seed + k; ``None`` for no seed."""


@dataclass(frozen=True, slots=True)
class Version:
    """The numbers of a run before more answers were asked for."""

    n_samples: int
    """How many samples they were made of."""
    metrics: Metrics
    """The three numbers."""
    until: datetime
    """When the next version took their place."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One finished evaluation: what was asked, what came, and how it scored."""

    created_at: datetime
    """When it was started, with its time zone."""
    model: str
    """The model's name as it was asked for."""
    endpoint: str
    """Where the model was asked."""
    question: str
    """The prompt."""
    settings: RunSettings
    """How the model was asked."""
    score: Score
    """The samples and how alike they are."""
    failures: tuple[SampleFailure, ...] = ()
    """The requests that brought nothing."""
    behaviour: Behaviour | None = None
    """What the answers do when they are run; ``None`` when they were not."""
    versions: tuple[Version, ...] = ()
    """Its numbers before it was extended, oldest first; empty for a run that never was."""

    @property
    def timestamp(self) -> str:
        """``created_at`` as it stands in file names and the summary: ``2025-09-18_11-20-03``."""
        return self.created_at.strftime("%Y-%m-%d_%H-%M-%S")
