"""No text from outside steers the terminal: not a prompt, not a model's name, not a file's, not a flag."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from evaluator_core.__main__ import main
from tests.runs import BUILTIN, LOOP

HOSTILE = "\x1b[2J\x1b]0;owned\x07\r\b\x00\x9b31m\u202egnp.exe\u2066\u200e\u2028\udc9b end"
FLAGS: list[list[str]] = [[], ["--json"], ["--save"], ["--threshold", "2"], ["--language", HOSTILE]]
ARGUMENTS = [["--\x1b[2J\u202e"], ["x", "\x1b[2J"], ["\x1b[2J.json"], ["--threshold", "\x1b"], ["--resume", "\x1b"]]


@pytest.mark.parametrize("flags", FLAGS, ids=ascii)
def test_no_prompt_model_or_folder_steers_the_terminal(
    flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALUATOR_RESULTS_DIR", str(tmp_path / "a\x1b[2J\u202eb"))
    path = tmp_path / "answers"
    path.write_text("".join(json.dumps(answer) + "\n" for answer in (f"{HOSTILE}{LOOP}", BUILTIN)))
    _exit_code(["--outputs", str(path), "--model", HOSTILE, "--prompt", HOSTILE * 50, *flags])
    _assert_harmless(capsys)


def test_no_name_of_a_file_steers_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(["--outputs", str(tmp_path / HOSTILE.replace("\0", ""))]) == 2
    _assert_harmless(capsys)


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=ascii)
def test_no_argument_steers_the_terminal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _exit_code(arguments) != 0
    _assert_harmless(capsys)


def _exit_code(arguments: list[str]) -> object:
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code


def _assert_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    shown = "".join(capsys.readouterr())
    assert shown
    steering = {character for character in shown if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert steering <= {"\n"}, sorted(map(ascii, steering))
