"""The built-in model: time to start, time for five answers to the example prompt, tokens per second."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from evaluator_core import evaluate
from evaluator_core.builtin_model import shared_model
from evaluator_core.store import Store


def main() -> None:
    payload = json.loads((Path(__file__).parents[1] / "payload.json").read_text(encoding="utf-8"))
    print(f"The built-in model, on the prompt of payload.json, {payload['n_samples']} answers\n")
    started = time.perf_counter()
    shared_model().address()
    loaded = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = evaluate(**payload, seed=1, store=Store(Path(folder))).run
    ended = time.perf_counter()
    shared_model().close()
    tokens = sum(sample.reply.completion_tokens or 0 for sample in run.score.samples)
    seconds, metrics = ended - loaded, run.score.metrics
    print(f"start {loaded - started:.1f} s, answers {seconds:.1f} s, {tokens} tokens, {tokens / seconds:.0f} tokens/s")
    print(f"agreement {metrics.agreement_percent}, confidence {metrics.confidence_percent}", end=", ")
    print(f"normalized confidence {metrics.normalized_confidence_percent}")
