"""``python -m evaluator_core``: every form of input, every exit code, and no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluator_core import score
from evaluator_core.__main__ import main
from evaluator_core.store import Store
from tests.runs import ALIKE, BUILTIN, LOOP

ROOT = Path(__file__).parent.parent
API_KEYS = "model question agreement_percent confidence_percent normalized_confidence_percent n_samples saved_file".split()
ANSWERS = [LOOP, BUILTIN, ALIKE]


def _run(folder: Path, *arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "evaluator_core", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        input=stdin,
        capture_output=True,
        check=False,
    )


def _lines(*entries: Any) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text(_lines(*ANSWERS))
    return path


def test_the_command_prints_the_table(answers: Path, tmp_path: Path) -> None:
    ended = _run(tmp_path, "--outputs", answers.name, "--model", "gpt-4o-mini", "--prompt", "Füge 🧮 hinzu.")
    shown = ended.stdout.decode("utf-8")
    expected = score(ANSWERS)
    assert (ended.returncode, ended.stderr) == (0, b"")
    for metric in (expected.agreement_percent, expected.confidence_percent, expected.normalized_confidence_percent):
        assert f"{metric} %" in shown
    assert "gpt-4o-mini" in shown
    assert "Füge 🧮 hinzu." in shown
    assert "Consistency is not correctness" in shown
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [answers.name], "nothing is saved unless asked for"


def test_the_command_reads_standard_input_and_saves_where_the_environment_says(tmp_path: Path) -> None:
    stdin = b"\xef\xbb\xbf" + _lines(*ANSWERS).encode()
    ended = _run(tmp_path, "--outputs", "-", "--json", "--save", stdin=stdin, EVALUATOR_RESULTS_DIR="my runs")
    assert (ended.returncode, ended.stderr) == (0, b"")
    record = json.loads(ended.stdout)
    (row,) = Store(tmp_path / "my runs").summary().rows
    assert record["saved_file"] == row.saved_file
    assert (tmp_path / row.saved_file).is_file()
    assert row.confidence_percent == record["confidence_percent"] == score(ANSWERS).confidence_percent


def test_a_terminal_that_cannot_show_every_character_still_gets_the_numbers(answers: Path, tmp_path: Path) -> None:
    arguments = ["--outputs", answers.name, "--prompt", "Füge 🧮 hinzu. " * 9]
    ended = _run(tmp_path, *arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert b"Traceback" not in ended.stderr
    assert ended.returncode == 0
    assert f"{score(ANSWERS).confidence_percent} %".encode() in ended.stdout


def test_the_command_ends_with_a_message_and_no_traceback(tmp_path: Path) -> None:
    ended = _run(tmp_path, "--outputs", "nowhere.jsonl")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"nowhere.jsonl" in ended.stderr
    assert b"Traceback" not in ended.stderr


FORMS = {
    "lines of strings": _lines(*ANSWERS),
    "lines of objects": _lines(*({"text": answer, "index": 1} for answer in ANSWERS)),
    "both mixed": _lines(LOOP, {"text": BUILTIN}, ALIKE),
    "a list": json.dumps(ANSWERS, indent=1),
    "a list of both": json.dumps([{"text": LOOP}, BUILTIN, {"text": ALIKE}]),
    "a byte order mark": "\ufeff" + _lines(*ANSWERS),
    "a list after a byte order mark and blanks": "\ufeff \n" + json.dumps(ANSWERS),
    "CRLF and blank lines": "\r\n" + _lines(*ANSWERS).replace("\n", "\r\n\r\n"),
    "no last line end": _lines(*ANSWERS).rstrip(),
    "characters as they stand": "".join(json.dumps(f"\u2028{answer}", ensure_ascii=False) + "\n" for answer in ANSWERS),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
def test_every_form_of_answers_is_read(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers"
    path.write_bytes(content.encode())
    record = _record(capsys, "--outputs", str(path))
    assert record["n_samples"] == 3
    assert record["confidence_percent"] == score(ANSWERS).confidence_percent


def test_the_json_is_one_object_that_begins_with_the_keys_of_the_api(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = _record(capsys, "--outputs", str(answers), "--model", "m", "--prompt", "Füge 🧮 hinzu.\n")
    expected = score(ANSWERS)
    assert list(record)[:7] == API_KEYS
    assert (record["model"], record["question"], record["saved_file"]) == ("m", "Füge 🧮 hinzu.\n", None)
    assert record["agreement_percent"] == expected.agreement_percent
    assert record["normalized_confidence_percent"] == expected.normalized_confidence_percent
    assert record["reading"] == "moderate"


def test_saving_writes_the_run_and_names_its_file(
    answers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALUATOR_RESULTS_DIR", str(tmp_path / "runs"))
    assert main(["--outputs", str(answers), "--save", "--model", "m", "--prompt", "Add.\x1b[2J"]) == 0
    store = Store(tmp_path / "runs")
    (name,) = store.names()
    assert name in capsys.readouterr().out
    run = store.load(name)
    assert [sample.reply.text for sample in run.score.samples] == ANSWERS
    assert (run.model, run.question, run.settings.n_requested) == ("m", "Add.\x1b[2J", 3)
    assert run.created_at.tzinfo is not None


def test_a_folder_that_cannot_be_written_ends_with_a_message(
    answers: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALUATOR_RESULTS_DIR", str(answers / "runs"))
    assert main(["--outputs", str(answers), "--save"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert str(answers / "runs") in shown.err
    assert "EVALUATOR_RESULTS_DIR" in shown.err


def test_the_language_can_be_told_from_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers"
    path.write_text(_lines("```js\nconst add = (a, b) => a + b;\n```", "```js\nfunction add(a, b) { return a + b; }\n```"))
    assert _record(capsys, "--outputs", str(path), "--language", "auto")["language"] == "javascript"


def test_the_threshold_changes_the_agreement_and_nothing_else(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    low, high = (_record(capsys, "--outputs", str(answers), "--threshold", threshold) for threshold in ("0", "1"))
    assert (low["agreement_percent"], high["agreement_percent"]) == (100.0, 0.0)
    assert low["confidence_percent"] == high["confidence_percent"]


BAD_INPUTS = {
    "not UTF-8": (b'"a"\n"\xff"\n', ["UTF-8", "byte 5"]),
    "not JSON in two lines": (b'"a"\nfirst\n\n"b"\nsecond\n', ["line 2", "line 5"]),
    "an object without text": (_lines("a", {"content": "b"}).encode(), ["line 2", '"text"']),
    "an object with a text that is none": (_lines({"text": None}, "a").encode(), ["line 1", '"text"']),
    "a number": (b'"a"\n7\n', ["line 2"]),
    "a list with a number": (b'["a", 7]', ["entry 2"]),
    "nothing": (b"", ["no answer"]),
    "blank lines": (b"\n \n", ["no answer"]),
    "an empty list": (b"[]", ["no answer"]),
    "deep lists": (b"[" * 100_000, ["line 1"]),
    "a thousand bad lines": (b"x\n" * 1000, ["line 1", "990 more"]),
}


@pytest.mark.parametrize(("content", "named"), BAD_INPUTS.values(), ids=BAD_INPUTS.keys())
def test_a_bad_file_is_refused_by_what_is_wrong_with_it(
    content: bytes, named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").write_bytes(content)
    assert main(["--outputs", "answers", "--save"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [part for part in named if part not in shown.err] == []
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--threshold", "2"], "threshold"),
        (["--threshold", "nan"], "threshold"),
        (["--threshold", "-0.1"], "threshold"),
        (["--language", " "], "language"),
        (["--outputs", "."], "cannot be read"),
    ],
)
def test_a_bad_flag_is_refused_by_name(flags: list[str], named: str, answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--outputs", str(answers), *flags]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert named in shown.err


def test_one_answer_has_no_numbers_and_is_not_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers").write_text(_lines(LOOP))
    assert main(["--outputs", "answers", "--save"]) == 3
    shown = capsys.readouterr().out
    metrics = [line for line in shown.splitlines() if line.startswith(("Agreement", "Confidence", "Normalized"))]
    assert [line.count("–") for line in metrics] == [1, 1, 1]
    assert "0.0" not in shown
    assert main(["--outputs", "answers", "--save", "--json"]) == 3
    record = json.loads(capsys.readouterr().out)
    assert [record[key] for key in API_KEYS[2:]] == [None, None, None, 1, None]
    assert not (tmp_path / "results").exists()


def _record(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert shown.out.count("\n") == 1
    record: dict[str, Any] = json.loads(shown.out)
    return record
