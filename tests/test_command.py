"""The terminal command that asks a model: payloads, flags, exit codes, a real terminal, and Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator_core.__main__ import Exit, main
from evaluator_core.settings import results_dir
from evaluator_core.store import Store
from tests.model_server import KEY, Answer, ModelServer, failure, replay

ROOT = Path(__file__).parents[1]
SEVEN = [
    "model",
    "question",
    "agreement_percent",
    "confidence_percent",
    "normalized_confidence_percent",
    "n_samples",
    "saved_file",
]


def command(*arguments: str, **settings: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | settings
    words = [sys.executable, "-m", "evaluator_core", *arguments]
    return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_example_payload_works_as_it_lies_there(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(ROOT / "payload.json"), "--model", "openai/replayed"]) == Exit.DONE
    shown = capsys.readouterr().out
    (row,) = Store(results_dir()).summary().rows
    for text in (
        "replayed",
        "Agreement",
        f"{row.agreement_percent} %",
        f"{row.confidence_percent} %",
        "Consistency is not correctness",
    ):
        assert text in shown
    assert row.saved_file in shown
    assert row.n_samples == 5


def test_a_payload_in_the_older_form_from_standard_input(
    server: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = {"type": "openai", "model": "replayed", "api_key": KEY}
    body = {"target_url": f"{server.base_url}/chat/completions", "prompt": "Write f.", "n_samples": 3, "request_schema": schema}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(body).encode())))
    assert main(["-", "--json"]) == Exit.DONE
    record = json.loads(capsys.readouterr().out)
    assert list(record)[:7] == SEVEN
    assert record["n_samples"] == 3
    assert KEY not in Path(record["saved_file"]).read_text()


def test_flags_say_the_same_as_a_payload(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--prompt", "Write f.", "--endpoint", "openai", "--model", "m", "-n", "2", "--temperature", "0.3", "--seed", "4"]
    flags += [
        "--max-tokens",
        "50",
        "--system-prompt",
        "Code.",
        "--threshold",
        "0.5",
        "--concurrency",
        "1",
        "--language",
        "python",
    ]
    assert main([*flags, "--json"]) == Exit.DONE
    stored = json.loads(Path(json.loads(capsys.readouterr().out)["saved_file"]).read_text())
    assert stored["settings"] == {
        "n_requested": 2,
        "threshold": 0.5,
        "temperature": 0.3,
        "max_tokens": 50,
        "system_prompt": "Code.",
        "seed": 4,
        "weights": {"structure": 0.7, "text": 0.3},
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], Exit.BAD_INPUT, "payload file or --prompt"),
        (["nowhere.json"], Exit.BAD_INPUT, "nowhere.json cannot be read"),
        (["--prompt", "p", "-n", "1"], Exit.BAD_INPUT, "n_samples: 1"),
        (["--prompt", "p", "--endpoint", "opnai"], Exit.BAD_INPUT, "did you mean openai"),
        (["--prompt", "p", "--outputs", "x", "--as-is"], Exit.BAD_INPUT, "--as-is goes with --resume"),
        (["x.json", "--outputs", "x"], Exit.BAD_INPUT, "do not go together"),
        (["--outputs", "x", "--seed", "1"], Exit.BAD_INPUT, "leave out --seed"),
        (["--resume"], Exit.BAD_INPUT, "no interrupted run"),
        (["--resume", "x", "--model", "m"], Exit.BAD_INPUT, "leave out model"),
        (["--resume", "../x"], Exit.FAILED, "no unfinished run"),
        (["--list-models", "nobody"], Exit.BAD_INPUT, "no endpoint 'nobody'"),
        (["--prompt", "p", "--model", "nobody"], Exit.FAILED, "no endpoint lists the model"),
        (["--prompt", "p", "--model", "openrouter/x"], Exit.FAILED, "OPENROUTER_API_KEY"),
        (["--prompt", "p", "--model", "x", "--endpoint", "http://127.0.0.1:1/v1"], Exit.FAILED, "start the server"),
    ],
)
def test_what_cannot_be_done_is_said_with_an_exit_code(
    arguments: list[str], code: Exit, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_fewer_than_two_answers_give_no_numbers(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    openai_at.script = lambda number, body: Answer(b'{"choices": []}') if body["seed"] else replay(0, {})
    assert main(["--prompt", "p", "--model", "m", "-n", "4", "--seed", "0"]) == Exit.NO_NUMBERS
    captured = capsys.readouterr()
    assert "1 of 4 answers arrived" in captured.err
    assert captured.out == ""
    assert not (results_dir() / "summary.csv").exists()
    assert len(Store(results_dir()).interrupted()) == 1


def test_an_endpoints_words_cannot_steer_the_terminal(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    openai_at.script = lambda number, body: failure(400, "no \x1b[2J\r\x07\u202e way")
    assert main(["--prompt", "p", "--model", "m"]) == Exit.FAILED
    assert capsys.readouterr().err.rstrip("\n").isprintable()


def test_a_terminal_shows_progress(openai_at: ModelServer) -> None:
    leader, follower = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "evaluator_core", "--prompt", "p", "--model", "m", "-n", "3"]
    done = subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, stderr=follower, check=True)
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:
        pass  # how Linux says that the other side is closed
    os.close(leader)
    assert done.returncode == Exit.DONE
    assert b"3 of 3 answers, 0 failed" in shown


@pytest.fixture
def heard() -> Iterator[None]:
    """A process that a script puts into the background ignores Ctrl-C, and so would what it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_what_arrived_and_says_how_to_go_on(openai_at: ModelServer, heard: None) -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        return replay(number, body) if body["seed"] < 2 else Answer(b"", hang=True)

    openai_at.script = script
    process = command("--prompt", "p", "--model", "m", "-n", "6", "--seed", "0", "--concurrency", "6")
    journals = results_dir() / "unfinished"
    openai_at.wait_for_answers(2)
    while sum(b'"reply"' in line for file in journals.glob("*.jsonl") for line in file.read_bytes().splitlines()) < 2:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == Exit.CANCELLED
    assert out == b""
    assert b"cancelled with 2 of 6 answers" in errors
    assert b"Traceback" not in errors
    openai_at.script = replay
    assert main(["--resume"]) == Exit.DONE


def test_endpoints_and_models_are_listed(openai_at: ModelServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list-models"]) == Exit.DONE
    assert "builtin" in capsys.readouterr().out
    assert main(["--list-models", "openai"]) == Exit.DONE
    assert capsys.readouterr().out.split() == ["openai/other", "openai/replayed", "openai/replayed-large"]
