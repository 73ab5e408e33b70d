"""The whole flow against a real server: stored runs, interruptions, resumes, and what is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from evaluator_core import evaluate
from evaluator_core.endpoint import custom_endpoint
from evaluator_core.errors import AuthenticationFailed, NotEnoughSamples, ResultNotFound, RunCancelled, StoreUnavailable
from evaluator_core.evaluation import evaluate_plan, resume_run, run_here
from evaluator_core.plan import make_plan
from evaluator_core.settings import results_dir
from evaluator_core.store import Store
from evaluator_core.types import Reply
from evaluator_core.under_way import Evaluation, Progress
from tests.conftest import QUICK
from tests.model_server import ANSWERS, KEY, Answer, ModelServer, completion, failure, replay

PROMPT = "Write is_palindrome(text)."
ROOT = Path(__file__).parents[1]


def ask(**values: Any) -> Evaluation:
    return evaluate(PROMPT, model="openai/replayed", patience=QUICK, **{"seed": 0, **values})


def stored_journals() -> list[Path]:
    return sorted((results_dir() / "unfinished").glob("*"))


def test_a_run_is_sampled_scored_and_stored(openai_at: ModelServer) -> None:
    seen: list[Progress] = []
    evaluation = ask(n_samples=6, on_progress=seen.append)
    run = evaluation.run
    assert [sample.reply.text for sample in run.score.samples] == [ANSWERS[index % len(ANSWERS)] for index in range(6)]
    assert (run.model, run.endpoint, run.question) == ("replayed", "openai", PROMPT)
    stored = json.loads(Path(evaluation.saved_file).read_text(encoding="utf-8"))
    assert stored["confidence_percent"] == run.score.confidence_percent
    assert stored["settings"]["seed"] == 0
    assert stored["outputs"][0]["completion_tokens"] == 34
    assert [row.saved_file for row in Store(results_dir()).summary().rows] == [evaluation.saved_file]
    assert [(len(step.replies), step.scoring) for step in seen] == [(n, False) for n in range(7)] + [(6, True)]
    assert seen[0].waiting == 6
    assert stored_journals() == []


def test_failures_are_records_beside_the_numbers(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: failure(500) if body["seed"] == 2 else replay(number, body)
    run = ask(n_samples=4).run
    assert [sample.index for sample in run.score.samples] == [0, 1, 3]
    assert [(item.index, item.kind) for item in run.failures] == [(2, "server_error")]
    assert any("1 of 4 requests brought no answer" in note for note in run.score.notes)
    assert Store(results_dir()).load(Store(results_dir()).names()[0]).failures == run.failures


def test_equal_error_messages_are_not_consistency(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: replay(0, {}) if body["seed"] == 0 else failure(500, "overloaded")
    with pytest.raises(NotEnoughSamples, match=r"1 of 5 answers arrived.*overloaded.*--resume run_") as caught:
        ask(n_samples=5)
    assert not (results_dir() / "summary.csv").exists()
    kept = Store(results_dir()).unfinished(caught.value.run_id)
    assert [reply.index for reply in kept.replies] == [0]
    assert kept.missing == (1, 2, 3, 4)


def test_truncated_answers_are_counted_and_said(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: completion(ANSWERS[0], finish_reason="length" if body["seed"] == 1 else "stop")
    notes = ask(n_samples=3).run.score.notes
    assert any("1 of 3 answers were cut off by the token limit" in note for note in notes)


def test_a_refused_parameter_is_not_stored_as_if_it_had_been_used(openai_at: ModelServer) -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        return (
            failure(400, "temperature is not supported", param="temperature") if "temperature" in body else replay(number, body)
        )

    openai_at.script = script
    run = ask(n_samples=2, temperature=0.4).run
    assert run.settings.temperature is None
    assert any("does not take temperature" in note for note in run.score.notes)


def test_a_refused_key_ends_the_run_and_a_resume_with_the_right_one_goes_on(
    openai_at: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-0000000000000000")
    with pytest.raises(AuthenticationFailed, match="OPENAI_API_KEY") as caught:
        ask(n_samples=3)
    assert "sk-wrong" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (run_id,) = Store(results_dir()).interrupted()
    assert len(evaluate(resume=run_id).run.score.samples) == 3


@pytest.fixture
def cancelled(openai_at: ModelServer) -> str:
    """The name of a run that was cancelled when 3 of its 8 answers were there."""
    arrived = threading.Event()

    def script(number: int, body: dict[str, Any]) -> Answer:
        return replay(number, body) if body["seed"] < 3 or arrived.is_set() else Answer(b"", hang=True)

    async def cancel_in_time() -> None:
        def cancel(progress: Progress) -> None:
            if len(progress.replies) == 3:
                arrived.set()
                task.cancel()

        task = asyncio.ensure_future(evaluate_plan(plan, Store(results_dir()), on_progress=cancel, patience=QUICK))
        await task

    openai_at.script = script
    plan = make_plan({"prompt": PROMPT, "model": "openai/replayed", "n_samples": 8, "seed": 0, "concurrency": 4})
    with pytest.raises(RunCancelled, match=r"cancelled with 3 of 8 answers, which are kept.*--as-is") as caught:
        run_here(cancel_in_time())
    return caught.value.run_id


def test_cancel_keeps_what_arrived_and_a_resume_asks_only_for_the_rest(cancelled: str, openai_at: ModelServer) -> None:
    before = len(openai_at.requests)
    run = evaluate(resume=cancelled).run
    # A set: a request of the cancelled run may come late, for one of the same answers.
    assert {body["seed"] for body in openai_at.requests[before:]} == {3, 4, 5, 6, 7}
    assert [sample.reply.text for sample in run.score.samples] == [ANSWERS[index % len(ANSWERS)] for index in range(8)]
    assert stored_journals() == []
    with pytest.raises(ResultNotFound):
        evaluate(resume=cancelled)


def test_what_arrived_can_be_scored_as_it_is(cancelled: str, openai_at: ModelServer) -> None:
    openai_at.key = "another"  # whoever asks is refused
    run = evaluate(resume=cancelled, ask_missing=False).run
    assert len(run.score.samples) == 3
    assert run.settings.n_requested == 8


def test_what_failed_stays_a_failure_where_nothing_more_is_asked(openai_at: ModelServer) -> None:
    openai_at.script = lambda number, body: replay(number, body) if body["seed"] == 1 else failure(500, "overloaded")
    with pytest.raises(NotEnoughSamples) as caught:
        ask(n_samples=4)
    store = Store(results_dir())
    assert [(item.index, item.kind) for item in store.unfinished(caught.value.run_id).failures] == [
        (0, "server_error"),
        (2, "server_error"),
        (3, "server_error"),
    ]
    with store.reopen_journal(caught.value.run_id) as journal:
        journal.add(Reply(3, ANSWERS[3]))
    run = evaluate(resume=caught.value.run_id, ask_missing=False).run
    assert [sample.index for sample in run.score.samples] == [1, 3]
    assert [(item.index, item.kind) for item in run.failures] == [(0, "server_error"), (2, "server_error")]


def test_what_the_model_refused_before_a_resume_is_remembered(openai_at: ModelServer) -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        if "temperature" in body:
            return failure(400, "temperature is not supported", param="temperature")
        return replay(number, body) if body["seed"] < 1 else failure(500)

    openai_at.script = script
    with pytest.raises(NotEnoughSamples) as caught:
        ask(n_samples=2, temperature=0.4)
    openai_at.requests.clear()
    openai_at.script = replay
    run = evaluate(resume=caught.value.run_id).run
    assert not any("temperature" in body for body in openai_at.requests)
    assert run.settings.temperature is None
    assert any("does not take temperature" in note for note in run.score.notes)


def test_a_run_whose_key_was_for_one_use_says_where_to_set_it_up(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan({"prompt": PROMPT, "model": "m"}, endpoint=custom_endpoint(server.base_url, key="sk-wrong-0123456789"))
    store = Store(results_dir())
    with pytest.raises(AuthenticationFailed, match="check the key that was given"):
        run_here(evaluate_plan(plan, store, patience=QUICK))
    (run_id,) = store.interrupted()
    with pytest.raises(AuthenticationFailed, match=r"none was given.*EVALUATOR_ENDPOINTS"):
        evaluate(resume=run_id)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert len(evaluate(resume=run_id).run.score.samples) == 5


def test_a_key_does_not_follow_a_run_to_an_address_that_is_no_longer_set_up(
    cancelled: str, openai_at: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(AuthenticationFailed, match=r"none was given: set one up for http://127\.0\.0\.1"):
        evaluate(resume=cancelled)
    assert Store(results_dir()).interrupted() == (cancelled,)


def test_two_processes_do_not_work_on_one_run(cancelled: str) -> None:
    store = Store(results_dir())
    with store.reopen_journal(cancelled):
        assert store.interrupted() == ()
        with pytest.raises(StoreUnavailable, match="another process"):
            run_here(resume_run(cancelled, store))
    assert store.interrupted() == (cancelled,)


def test_a_journal_line_cut_at_any_byte_costs_that_answer_only(cancelled: str) -> None:
    path = results_dir() / "unfinished" / f"{cancelled}.jsonl"
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        assert len(Store(results_dir()).unfinished(cancelled).replies) == 2
    path.write_bytes(whole[: last + 20])
    assert len(evaluate(resume=cancelled).run.score.samples) == 8


def test_a_run_that_was_stored_before_its_journal_went_is_not_stored_twice(cancelled: str) -> None:
    path = results_dir() / "unfinished" / f"{cancelled}.jsonl"
    journal = path.read_bytes()
    first = evaluate(resume=cancelled)
    path.write_bytes(journal)
    again = evaluate(resume=cancelled)
    assert again.saved_file == first.saved_file
    assert len(Store(results_dir()).summary().rows) == 1
    assert stored_journals() == []


def test_it_runs_inside_a_running_event_loop(openai_at: ModelServer) -> None:
    async def as_in_a_notebook() -> Evaluation:
        return ask(n_samples=2)

    assert len(run_here(as_in_a_notebook()).run.score.samples) == 2


def test_killed_in_the_middle_and_resumed_equals_a_run_never_interrupted(tmp_path: Path) -> None:
    with ModelServer(latency=0.02) as server:
        environment = os.environ | {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "evaluator_core"]
        asked = ["--prompt", PROMPT, "--model", "replayed", "-n", "40", "--seed", "5", "--concurrency", "4", "--json"]

        def run(folder: str, arguments: list[str]) -> dict[str, Any]:
            settings = environment | {"EVALUATOR_RESULTS_DIR": str(tmp_path / folder)}
            done = subprocess.run(command + arguments, env=settings, capture_output=True, text=True, check=True)
            record = json.loads(done.stdout)
            stored: dict[str, Any] = json.loads(Path(record["saved_file"]).read_text(encoding="utf-8"))
            return stored

        whole = run("whole", asked)
        server.requests.clear()
        already = server.answered
        settings = environment | {"EVALUATOR_RESULTS_DIR": str(tmp_path / "killed")}
        with subprocess.Popen(command + asked, env=settings, stdout=subprocess.DEVNULL) as process:
            server.wait_for_answers(already + 15)
            process.kill()
        assert not (tmp_path / "killed" / "summary.csv").exists()
        resumed = run("killed", ["--resume", "--json"])
        assert 40 <= len(server.requests) <= 40 + 4

    different_each_time = {"timestamp", "created_at"}
    for record in (whole, resumed):
        for output in record["outputs"]:
            del output["latency_seconds"]
    assert {key: value for key, value in resumed.items() if key not in different_each_time} == {
        key: value for key, value in whole.items() if key not in different_each_time
    }
