"""The built-in model for real: it answers, outlives nothing, comes back after a crash, and needs no network."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from evaluator_core import builtin_model, evaluate
from evaluator_core.assets import MODEL_WEIGHTS, fetch_asset
from evaluator_core.builtin_model import BuiltinModel, choose_slots, choose_threads, shared_model
from evaluator_core.endpoints import endpoints, list_models
from evaluator_core.errors import AssetUnavailable, EndpointUnreachable
from evaluator_core.machine import usable_cores

ROOT = Path(__file__).parents[1]


# One worker runs all of them: two models at once would only wait for each other's cores.
@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    fetch_asset(MODEL_WEIGHTS)


@pytest.fixture
def model() -> Iterator[BuiltinModel]:
    running = BuiltinModel()
    yield running
    running.close()


def ends(pid: int) -> bool:
    """Whether a process that is not our child ends soon."""
    handle = os.pidfd_open(pid)
    try:
        return bool(select.select([handle], [], [], 30)[0])
    finally:
        os.close(handle)


def test_five_samples_give_three_numbers_and_are_stored() -> None:
    evaluation = evaluate("Write a Python function is_palindrome(text).", n_samples=5, max_tokens=60, seed=1)
    run = evaluation.run
    assert (run.model, run.endpoint) == (builtin_model.NAME, "builtin")
    assert len(run.score.samples) == 5
    assert run.score.confidence_percent is not None
    stored = json.loads(Path(evaluation.saved_file).read_text(encoding="utf-8"))
    assert all(output["text"] and output["completion_tokens"] <= 60 for output in stored["outputs"])
    assert {output["reported_model"] for output in stored["outputs"]} == {builtin_model.NAME}


def test_one_process_serves_all_runs_and_returns_after_a_crash() -> None:
    first = shared_model().address()
    assert shared_model().address() == first
    pid = shared_model().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    run = evaluate("Say hello.", n_samples=2, max_tokens=5).run
    assert len(run.score.samples) == 2
    assert shared_model().pid not in (None, pid)


def test_it_answers_only_those_who_have_its_key(model: BuiltinModel) -> None:
    address = model.address()
    client = openai.OpenAI(base_url=address.base_url, api_key="another", max_retries=0)
    with client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="x", messages=[{"role": "user", "content": "hi"}])
    assert model.pid is not None
    with open(f"/proc/{model.pid}/cmdline", "rb") as words, open(f"/proc/{model.pid}/environ", "rb") as settings:
        assert address.key.encode() not in words.read() + settings.read()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_its_parent_however_that_ends(end: signal.Signals) -> None:
    code = (
        "from evaluator_core.builtin_model import shared_model\n"
        "shared_model().address(); print(shared_model().pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(end)
    assert ends(child)


def test_without_its_file_the_error_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: BuiltinModel
) -> None:
    monkeypatch.setenv("EVALUATOR_CACHE_DIR", str(tmp_path))
    with pytest.raises(AssetUnavailable, match=r"python -m evaluator_core\.assets"):
        model.address()


def test_a_file_that_is_no_model_gives_an_error_not_a_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: BuiltinModel
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\0" * 1000)
    monkeypatch.setattr(builtin_model, "find_asset", lambda asset: broken)
    with pytest.raises(EndpointUnreachable, match="could not be started"):
        model.address()
    assert model.pid is None


def test_it_needs_no_network() -> None:
    # Any attempt to look a name up or to connect beyond loopback ends the process.
    code = """
import sys, os
def watch(event, details):
    if event == "socket.getaddrinfo" and details[0] not in ("127.0.0.1", "localhost", None, b"127.0.0.1"):
        print("looked up", details[0], flush=True); os._exit(7)
    if event == "socket.connect" and isinstance(details[1], tuple) and not details[1][0].startswith("127."):
        print("connected", details[1], flush=True); os._exit(7)
sys.addaudithook(watch)
from evaluator_core.__main__ import main
sys.exit(main(["--prompt", "Say hello.", "-n", "2", "--max-tokens", "5", "--json"]))
"""
    dead = "http://127.0.0.1:9"
    environment = os.environ | {"HTTP_PROXY": dead, "HTTPS_PROXY": dead, "ALL_PROXY": dead, "PIP_NO_INDEX": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["n_samples"] == 2


def test_its_listing_says_what_it_is_without_starting_it() -> None:
    builtin = endpoints()["builtin"]
    assert list_models(builtin) == (builtin_model.NAME,)
    assert all(fact in builtin.about for fact in ("SmolLM2-135M", "Apache-2.0", "98 MB", "small"))


def test_threads_leave_a_core_to_the_rest() -> None:
    assert [choose_threads(cores) for cores in (1, 2, 4, 8, 64)] == [1, 1, 3, 4, 4]


def test_a_larger_machine_writes_more_answers_at_once() -> None:
    assert [choose_slots(cores) for cores in (1, 2, 3, 4, 64)] == [4, 4, 6, 8, 8]
    assert endpoints()["builtin"].concurrency == choose_slots(usable_cores())
