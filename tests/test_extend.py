"""More samples for a stored run: k more, or until a number is known, against a real server."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator_core import evaluate, extend, score
from evaluator_core.__main__ import main
from evaluator_core.errors import InvalidInput, NotEnoughSamples, RequestRefused
from evaluator_core.jobs import JobRunner, JobState
from evaluator_core.settings import results_dir
from evaluator_core.statistics import needed_for, uncertainty
from evaluator_core.store import Store
from evaluator_core.types import Run
from tests.conftest import QUICK
from tests.model_server import ANSWERS, Answer, ModelServer, completion, failure, replay
from tests.runs import CREATED_AT, make_run

PROMPT = "Write is_palindrome(text)."
ROOT = Path(__file__).parents[1]


def ask(**values: Any) -> str:
    return Path(evaluate(PROMPT, model="openai/replayed", patience=QUICK, **{"seed": 0, **values}).saved_file).name


def more_of(name: str, **values: Any) -> Run:
    return extend(name, patience=QUICK, **values).run


def seeds(server: ModelServer) -> list[int]:
    return [request["seed"] for request in server.requests]


def row_agrees(name: str) -> bool:
    """Whether the one row of a run has the numbers of its file."""
    data = json.loads((results_dir() / name).read_text(encoding="utf-8"))
    rows = [row for row in Store(results_dir()).summary().rows if row.file_name == name]
    fields = ("agreement_percent", "confidence_percent", "normalized_confidence_percent", "n_samples")
    return len(rows) == 1 and all(getattr(rows[0], field) == data[field] for field in fields)


def test_a_run_gets_more_answers_and_its_old_numbers_stay(openai_at: ModelServer) -> None:
    before = ask(n_samples=4)
    old = Store(results_dir()).load(before)
    other = ask(n_samples=3)
    run = more_of(before, more=3)
    assert sorted(seeds(openai_at)[-3:]) == [4, 5, 6]
    assert len(openai_at.requests) == 10
    assert [sample.index for sample in run.score.samples] == list(range(7))
    assert (run.created_at, run.settings.n_requested, run.settings.seed) == (old.created_at, 7, 0)
    assert [(version.n_samples, version.metrics) for version in run.versions] == [(4, old.score.metrics)]
    whole = score([ANSWERS[index % len(ANSWERS)] for index in range(7)], prompt=PROMPT)
    assert run.score.metrics == whole.metrics
    again = more_of(before, more=1)
    assert [version.n_samples for version in again.versions] == [4, 7]
    assert [row.file_name for row in Store(results_dir()).summary().rows] == [before, other]
    assert row_agrees(before)
    assert row_agrees(other)
    assert Store(results_dir()).interrupted() == ()


def test_sampling_until_it_is_known_stops_where_the_interval_says_so(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: completion(ANSWERS[(body["seed"] * 7 % 5) % 2])
    name = ask(n_samples=4, concurrency=4)
    run = more_of(name, more=80, points=8.0)
    count = len(run.score.samples)
    assert 4 < count < 84
    assert sorted(seeds(openai_at)) == list(range(count))  # none twice, none beyond
    half_width, _ = needed_for(run.score, "confidence_percent", 8.0)
    assert half_width is not None
    assert half_width <= 8.0
    # One batch before, it was not known yet.
    earlier = score([sample.reply.text for sample in run.score.samples[: count - 4]], prompt=PROMPT)
    before = uncertainty(earlier).intervals["confidence_percent"]
    assert before is not None
    assert before.half_width > 8.0
    assert run.settings.n_requested == count
    assert row_agrees(name)


def test_it_never_goes_beyond_the_cap(openai_at: ModelServer) -> None:
    name = ask(n_samples=4)
    run = more_of(name, more=6, points=0.5)
    assert len(run.score.samples) == 10
    assert sorted(seeds(openai_at)) == list(range(10))
    assert more_of(name, more=5, points=50.0).settings.n_requested == 10  # known already: nothing is asked


def test_what_failed_stays_a_failure_and_is_not_asked_again(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: failure(500) if body["seed"] == 1 else replay(number, body)
    name = ask(n_samples=4)
    asked = len(openai_at.requests)
    openai_at.script = replay
    run = more_of(name, more=2)
    assert sorted(seeds(openai_at)[asked:]) == [4, 5]
    assert [item.index for item in run.failures] == [1]
    assert [sample.index for sample in run.score.samples] == [0, 2, 3, 4, 5]


def test_when_nothing_comes_it_is_said_and_can_go_on(openai_at: ModelServer) -> None:
    name = ask(n_samples=3)
    openai_at.script = lambda number, body: failure(500, "overloaded")
    with pytest.raises(
        NotEnoughSamples, match=r"none of 2 further requests brought an answer.*overloaded.*is as it was"
    ) as caught:
        more_of(name, more=2)
    assert Store(results_dir()).load(name).versions == ()
    openai_at.script = replay
    run = evaluate(resume=caught.value.run_id, patience=QUICK).run
    assert (len(run.score.samples), run.failures) == (5, ())
    assert row_agrees(name)


def test_behaviour_is_found_anew_on_the_same_calls(openai_at: ModelServer) -> None:
    runner = JobRunner(Store.open(results_dir()), patience=QUICK)
    try:
        name = ask(n_samples=3)
        done = runner.wait(runner.run_answers(name, ["is_palindrome('aXa') == True"]), 120)
        assert done.state is JobState.DONE
        done = runner.wait(runner.extend(name, more=2), 120)
        assert done.state is JobState.DONE
    finally:
        runner.close()
    behaviour = Store(results_dir()).load(name).behaviour
    assert behaviour is not None
    assert len(behaviour.trials) == 5
    assert (behaviour.inputs[0].text, behaviour.inputs[0].expected) == ("is_palindrome('aXa')", "True")


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"more": 0}, "more: 0"),
        ({"more": 10**6}, "more: 1000000"),
        ({"points": 0.0}, "points: 0"),
        ({"field": "x"}, "field: 'x'"),
    ],
)
def test_bad_wishes_are_named(openai_at: ModelServer, values: dict[str, Any], named: str) -> None:
    name = ask(n_samples=2)
    with pytest.raises(InvalidInput, match=named):
        more_of(name, **values)


def test_answers_that_were_given_have_no_model_to_ask(openai_at: ModelServer) -> None:
    name = Store(results_dir()).save(make_run(created_at=CREATED_AT)).name
    with pytest.raises(InvalidInput, match="no endpoint 'answers'"):
        more_of(name, more=1)


def test_a_refusal_leaves_the_run_as_it_was(openai_at: ModelServer) -> None:
    name = ask(n_samples=3)
    text = (results_dir() / name).read_text(encoding="utf-8")
    openai_at.script = lambda number, body: failure(400, "no")
    with pytest.raises(RequestRefused):
        more_of(name, more=2)
    assert (results_dir() / name).read_text(encoding="utf-8") == text
    assert Store(results_dir()).interrupted() == ()


def test_from_the_terminal(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    name = ask(n_samples=4)
    assert main(["--extend", str(results_dir() / name), "-n", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_samples"], told["saved_file"].endswith(name)) == (6, True)
    assert told["uncertainty"]["intervals"]["confidence_percent"]["low"] < told["confidence_percent"]
    assert main(["--extend", name, "--until", "40"]) == 0
    assert re.search(r"^Confidence +\d+\.\d %  \(\d+\.\d to \d+\.\d\) ", capsys.readouterr().out, re.MULTILINE)
    assert main(["--extend", name, "--prompt", "x"]) == 2
    assert main(["--prompt", "x", "--until", "5"]) == 2


def test_killed_in_the_middle_it_goes_on_and_asks_for_nothing_twice(openai_at: ModelServer) -> None:
    name = ask(n_samples=4, concurrency=1)

    def slow_end(number: int, body: dict[str, Any]) -> Answer:
        if body["seed"] == 8:
            openai_at.closing.wait(60)
        return replay(number, body)

    openai_at.script = slow_end
    code = (
        "import dataclasses\n"
        "from evaluator_core import evaluation\n"
        "real = evaluation.plan_of\n"
        "evaluation.plan_of = lambda run: dataclasses.replace(real(run), concurrency=1)\n"
        f"evaluation.extend({name!r}, more=8)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=os.environ.copy()) as child:
        openai_at.wait_for_requests(9)
        child.send_signal(signal.SIGKILL)
    openai_at.script = replay
    store = Store.open(results_dir())
    assert len(store.load(name).score.samples) == 4  # as it was
    with pytest.raises(InvalidInput, match="is being extended already"):
        more_of(name, more=1)
    (run_id,) = store.interrupted()
    run = evaluate(resume=run_id, patience=QUICK).run
    assert sorted(seeds(openai_at)) == sorted([*range(12), 8])  # one was in flight
    assert len(run.score.samples) == 12
    assert [version.n_samples for version in run.versions] == [4]
    assert row_agrees(name)
    assert store.interrupted() == ()


def test_killed_between_file_and_row_the_row_is_put_right(openai_at: ModelServer) -> None:
    name = ask(n_samples=4)
    other = ask(n_samples=2)
    code = (
        "import os, signal\n"
        "from evaluator_core import extend\n"
        "from evaluator_core.summary_file import SummaryFile\n"
        "SummaryFile.put = lambda file, row: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"extend({name!r}, more=2)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=os.environ.copy(), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not row_agrees(name)
    store = Store.open(results_dir())
    assert row_agrees(name)
    assert row_agrees(other)
    asked = len(openai_at.requests)
    (run_id,) = store.interrupted()
    assert len(evaluate(resume=run_id, patience=QUICK).run.score.samples) == 6  # it was stored already
    assert len(openai_at.requests) == asked
    assert store.interrupted() == ()


def test_damaged_lines_stay_where_a_row_is_replaced(openai_at: ModelServer) -> None:
    name = ask(n_samples=3)
    path = results_dir() / "summary.csv"
    damaged = b"2025-01-01_00-00-00,half a row,\xff\xfe\n"
    path.write_bytes(path.read_bytes() + damaged)
    last = ask(n_samples=2)
    more_of(name, more=1)
    assert damaged in path.read_bytes()
    assert row_agrees(name)
    assert row_agrees(last)
