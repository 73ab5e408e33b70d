"""The engine: if one puts the same prompt to a coding model again, does one get the same program?

    prompt ─▶ sample ─▶ extract ─▶ compare ─▶ measure ─▶ store ─▶ show
              N replies  code       N×N pairs  metrics    JSON+CSV

    endpoints   the models one can ask: the built-in one, and any OpenAI-compatible server
    sampling    N replies of one model to one prompt; what fails is a record, never a text
    extract     a reply's code, without the prose around it
    syntax      a code's sequence of node kinds, blind to names, literals, comments and layout
    similarity  N codes → three N×N matrices: structure, text, and hybrid = 0.7 structure + 0.3 text
    metrics     the hybrid matrix → agreement, confidence, normalized confidence
    statistics  how far each of them may be from the truth; ``comparison`` and ``drift``: is a difference real?
    behaviour   what the programs do when they are run on the same inputs, in a sandbox
    store       one JSON file a run and one row in summary.csv, and the journals of runs under way
    jobs        runs in the background, for the pages and the API

``evaluate()`` runs all of it; ``under_way.RunUnderWay`` is that flow, stage by stage. ``extend()`` asks for more of the same.
``score()`` runs extract, compare and measure on replies that one already has, in ``scoring.score_replies``. The records that
the steps hand to each other are in ``types``, the errors in ``errors``, the languages in ``languages``.
"""

from typing import TYPE_CHECKING, Any

from evaluator_core.errors import EvaluatorError, InvalidInput, ResultDamaged, ResultNotFound, StoreUnavailable
from evaluator_core.scoring import score
from evaluator_core.types import Metrics, Pair, Reading, Reply, Run, RunSettings, Sample, SampleFailure, Score, Weights

if TYPE_CHECKING:
    from evaluator_core.evaluation import evaluate, extend
    from evaluator_core.under_way import Evaluation, Progress


def __getattr__(name: str) -> Any:
    # Asking a model loads the openai package, which takes longer than all of scoring: only who asks pays for it.
    if name in ("evaluate", "extend"):
        from evaluator_core import evaluation

        return getattr(evaluation, name)
    if name in ("Evaluation", "Progress"):
        from evaluator_core import under_way

        return getattr(under_way, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Evaluation",
    "EvaluatorError",
    "InvalidInput",
    "Metrics",
    "Pair",
    "Progress",
    "Reading",
    "Reply",
    "ResultDamaged",
    "ResultNotFound",
    "Run",
    "RunSettings",
    "Sample",
    "SampleFailure",
    "Score",
    "StoreUnavailable",
    "Weights",
    "evaluate",
    "extend",
    "score",
]
