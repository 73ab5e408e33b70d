"""What running the answers is worth on real answers, and the time it takes.

The aims are for 20 answers of codegen-16B to each HumanEval prompt, on which the rules of choosing inputs were made. ClassEval,
5 answers of three other models, had no part in that: whole classes, whose state between calls is not looked at.
The hidden tests' verdict (``passed``) is looked at in the scoring below and nowhere else.
"""

from __future__ import annotations

import tempfile
import time
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.real_outputs import read_lines
from evaluator_core import score
from evaluator_core.behaviour.clusters import behaves_alike
from evaluator_core.behaviour.flow import run_behaviour
from evaluator_core.behaviour.records import Behaviour
from evaluator_core.behaviour.sandbox import Job, Sandbox

ANSWER = "def f(items, k):\n    return sorted(items)[:k] + [{place}]\n"
CALLS = [f"f({[number, 2, 3]}, {number % 4})" for number in range(20)]


def main() -> None:
    print("Behaviour: running the answers")
    _print_times()
    records = read_lines("labelled_python.jsonl.gz")
    if records is None:
        print("  the real answers of ../shared/data are not here: nothing more to measure")
        return
    known = list(records)
    for dataset in ("HumanEval", "ClassEval"):
        tasks = [record for record in known if record["dataset"] == dataset]
        started = time.perf_counter()
        results = [(task, run_behaviour(task["samples"], task["prompt"])) for task in tasks]
        seconds = time.perf_counter() - started
        print(f"  {dataset}, {len(tasks)} tasks of {len(tasks[0]['samples'])} answers in {seconds:.0f} s")
        _print_worth(results)


def _print_times() -> None:
    answers = [ANSWER.format(place=place) for place in range(20)]
    run_behaviour(answers[:2], "", calls=CALLS)
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        run_behaviour(answers, "", calls=CALLS)
        taken.append(time.perf_counter() - started)
    _print_aim("20 answers × 20 calls, warm, shrinking included, under 3 s", min(taken) < 3, f"{min(taken):.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        box = Sandbox()
        with mock.patch("evaluator_core.behaviour.sandbox.compiled_dir", return_value=Path(folder) / "compiled"):
            started = time.perf_counter()
            behaviour = run_behaviour(answers[:1], "", calls=CALLS[:1])
            box.run([Job(0, answers[0])], behaviour.inputs)
            seconds = time.perf_counter() - started
        box.close()
    _print_aim("first start, compiling included, under 15 s", seconds < 15, f"{seconds:.1f} s")


def _print_worth(results: list[tuple[dict[str, Any], Behaviour]]) -> None:
    ran = [behaviour.metrics.behaviour_agreement_percent for _, behaviour in results]
    with_inputs = sum(bool(behaviour.inputs) for _, behaviour in results) / len(results)
    _print_aim("tasks with inputs at least 85 %", with_inputs >= 0.85, f"{with_inputs:.1%}")
    labels = [sum(task["passed"]) * 2 > len(task["passed"]) for task, _ in results]
    behaviour_auroc = auroc([value or 0.0 for value in ran], labels)
    hybrids = [score(task["samples"]).confidence_percent or 0.0 for task, _ in results]
    _print_aim(
        "AUROC of behaviour agreement for “most answers pass” at least 0.92", behaviour_auroc >= 0.92, f"{behaviour_auroc:.3f}"
    )
    print(f"           AUROC of mean hybrid similarity for the same: {auroc(hybrids, labels):.3f}")
    chosen, anyone = [], []
    for task, behaviour in results:
        share = sum(task["passed"]) / len(task["passed"])
        anyone.append(share)
        chosen.append(share if behaviour.consensus is None else float(task["passed"][behaviour.consensus]))
    ratio = sum(chosen) / sum(anyone)
    figures = f"{sum(chosen) / len(chosen):.3f} against {sum(anyone) / len(anyone):.3f}, {ratio:.2f} times"
    _print_aim("consensus answer passes at least 1.2 times as often as any", ratio >= 1.2, figures)
    split = both = merged = mixed = 0
    for task, behaviour in results:
        for first, second in combinations(range(len(task["passed"])), 2):
            alike = behaves_alike(behaviour, first, second)
            if alike is None:
                continue
            if task["passed"][first] and task["passed"][second]:
                both += 1
                split += not alike
            elif task["passed"][first] != task["passed"][second]:
                mixed += 1
                merged += alike
    _print_aim("passing pairs that are split at most 8 %", split <= 0.08 * both, f"{split / both:.1%} of {both:,}")
    print(f"           pairs of a passing and a failing answer that are merged: {merged / mixed:.1%} of {mixed:,}")


def auroc(values: list[float], labels: list[bool]) -> float:
    """The chance that a task with the label has a higher value than one without; ties count half."""
    good = [value for value, label in zip(values, labels, strict=True) if label]
    bad = [value for value, label in zip(values, labels, strict=True) if not label]
    wins = sum((one > other) + 0.5 * (one == other) for one in good for other in bad)
    return wins / (len(good) * len(bad))


def _print_aim(aim: str, reached: bool, figure: str) -> None:
    print(f"  {'reached' if reached else 'MISSED':<8} {aim}: {figure}", flush=True)
