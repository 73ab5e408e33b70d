"""Matrix of hybrid similarities → the three metrics, and what they say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluator_core.types import Matrix, Metrics, Reading

LABELS = {
    "agreement_percent": "Agreement",
    "confidence_percent": "Confidence",
    "normalized_confidence_percent": "Normalized confidence",
}
"""The three metrics by field, as people call them."""
_EXPLANATIONS = {
    "agreement_percent": "share of pairs with a similarity of {threshold:g} or more",
    "confidence_percent": "mean similarity of all pairs, from 0 (nothing in common) to 100 (the same)",
    "normalized_confidence_percent": "confidence with 50 as zero: unrelated programs easily reach 50",
}
READING_WORDS = {
    Reading.STRONG: "Strong: nearly every answer is the same program, up to names and layout.",
    Reading.MODERATE: "Moderate: style varies, structure overlaps.",
    Reading.LOW: "Low: the answers are different programs.",
}
CAUTION = "Consistency is not correctness: a model can give the same wrong answer every time."

_ROUNDING = 1e-9  # a weighted mean that equals the threshold on paper may miss it in the last bit


def explain(field: str, threshold: float) -> str:
    """What a metric of ``LABELS`` says, in a few words that begin small and end without a full stop."""
    return _EXPLANATIONS[field].format(threshold=threshold)


def pair_values(matrix: Matrix) -> NDArray[np.float64]:
    """The values of all pairs i < j, as one flat array."""
    values: NDArray[np.float64] = matrix[np.triu_indices(len(matrix), 1)]
    return values


def agreeing(values: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Which of the similarities reach the threshold."""
    return values >= threshold - _ROUNDING


def measure(hybrid: Matrix, threshold: float) -> Metrics:
    """The three metrics over the pairs of N samples; all ``None`` when N < 2."""
    if len(hybrid) < 2:
        return Metrics(None, None, None)
    pairs = pair_values(hybrid)
    mean = float(pairs.mean())
    return Metrics(
        agreement_percent=_percent(float(agreeing(pairs, threshold).mean())),
        confidence_percent=_percent(mean),
        normalized_confidence_percent=_percent(min(1.0, max(0.0, (mean - 0.5) / 0.5))),
    )


def read(metrics: Metrics) -> Reading | None:
    """How consistent the answers are, told from the numbers as shown; ``None`` when there are no numbers."""
    agreement, confidence = metrics.agreement_percent, metrics.confidence_percent
    if agreement is None or confidence is None:
        return None
    if confidence < 50:
        return Reading.LOW
    return Reading.STRONG if agreement >= 80 and confidence > 85 else Reading.MODERATE


def _percent(share: float) -> float:
    return round(share * 100, 1)
