"""A run as JSON: everything comes back, the keys are the documented ones, and a damaged file says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator_core.errors import ResultDamaged, ResultNotFound
from evaluator_core.run_json import format_run, parse_run
from evaluator_core.store import Store
from tests.runs import BUILTIN, LOOP, assert_same_run, detailed_run, make_run

DOCUMENTED_KEYS = """schema_version timestamp created_at model endpoint question language settings agreement_percent
    confidence_percent normalized_confidence_percent n_samples outputs failures pairwise conversation_history
    uncertainty notes""".split()
SETTINGS_KEYS = "n_requested threshold temperature max_tokens system_prompt seed weights".split()
OUTPUT_KEYS = "index text code parses finish_reason latency_seconds prompt_tokens completion_tokens".split()
ADDED_OUTPUT_KEYS = "reported_model system_fingerprint".split()
PAIR_KEYS = "i j ast_similarity text_similarity hybrid_similarity".split()

ODD_TEXTS = {
    "lone high surrogate": "a\ud83db",
    "lone low surrogate": "\ude00",
    "surrogate before its own escape": "\ud83d\\ude00",
    "NUL": "a\0b",
    "emoji": "👩‍👩‍👧 sum 🧮",
    "line ends": "a\r\nb\rc\u2028d\u2029e\x85f",
    "quotes and backslashes": '"\\"\\n\\\\"',
    "byte order mark": "\ufeffa",
    "noncharacters": "\uffff\ufffe\U0010ffff",
}


def test_a_saved_run_loads_as_the_same_run(tmp_path: Path) -> None:
    store, run = Store(tmp_path), detailed_run()
    assert_same_run(store.load(store.save(run).name), run)


def test_the_detailed_run_has_something_in_every_field() -> None:
    run = detailed_run()
    assert run.failures
    assert run.score.notes
    assert [sample.index for sample in run.score.samples] == [0, 2, 4]
    assert [sample.parses for sample in run.score.samples] == [True, None, True]


def test_a_language_without_grammar_has_no_structure_after_loading_either(tmp_path: Path) -> None:
    run = make_run(["```dart\nvoid main() {}\n```", "```dart\nvoid main() { print(1); }\n```"], language="dart")
    assert run.score.ast is None
    store = Store(tmp_path)
    name = store.save(run).name
    assert [pair["ast_similarity"] for pair in _data(tmp_path / name)["pairwise"]] == [None]
    assert_same_run(store.load(name), run)


def test_a_hundred_samples_come_back_bit_for_bit(tmp_path: Path) -> None:
    texts = [f"def f{'x' * (number % 7)}(a):\n" + f"    a += {number}\n" * (1 + number % 11) for number in range(100)]
    store, run = Store(tmp_path), make_run(texts)
    assert_same_run(store.load(store.save(run).name), run)


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS.keys())
def test_any_text_comes_back_as_it_was(text: str, tmp_path: Path) -> None:
    store, run = Store(tmp_path), make_run([f"{LOOP}\n{text}", BUILTIN], question=text, model=text)
    path = store.save(run)
    assert_same_run(store.load(path.name), run)
    data = json.loads(path.read_bytes().decode("utf-8"))
    assert (data["question"], data["model"]) == (text, text)
    assert data["outputs"][0]["text"] == f"{LOOP}\n{text}"


def test_the_keys_are_the_documented_ones_in_order(tmp_path: Path) -> None:
    data = _data(Store(tmp_path).save(detailed_run()))
    assert list(data) == DOCUMENTED_KEYS
    assert list(data["settings"]) == SETTINGS_KEYS
    assert data["settings"]["weights"] == {"structure": 0.7, "text": 0.3}
    assert {tuple(output) for output in data["outputs"]} == {(*OUTPUT_KEYS, *ADDED_OUTPUT_KEYS)}
    assert {tuple(failure) for failure in data["failures"]} == {("index", "kind", "message")}
    assert {tuple(pair) for pair in data["pairwise"]} == {tuple(PAIR_KEYS)}
    assert data["schema_version"] == 1
    assert data["timestamp"] == "2025-09-18_11-20-03"
    assert data["created_at"] == "2025-09-18T11:20:03+02:00"
    assert data["n_samples"] == 3


def test_the_pairs_name_the_requests_and_not_the_rows(tmp_path: Path) -> None:
    pairs = _data(Store(tmp_path).save(detailed_run()))["pairwise"]
    assert [(pair["i"], pair["j"]) for pair in pairs] == [(0, 2), (0, 4), (2, 4)]


def test_the_conversation_is_what_was_said(tmp_path: Path) -> None:
    data = _data(Store(tmp_path).save(detailed_run()))
    assert data["conversation_history"] == [
        [
            {"role": "system", "content": "Answer in Python."},
            {"role": "user", "content": "Add up a list of numbers."},
            {"role": "assistant", "content": output["text"]},
        ]
        for output in data["outputs"]
    ]


def test_without_a_system_prompt_the_conversation_has_no_system_message(tmp_path: Path) -> None:
    data = _data(Store(tmp_path).save(make_run()))
    assert [[message["role"] for message in talk] for talk in data["conversation_history"]] == [["user", "assistant"]] * 3


def _drop(key: str) -> Callable[[Any], Any]:
    return lambda data: {name: value for name, value in data.items() if name != key}


def _set(*path: str | int, to: Any) -> Callable[[Any], Any]:
    def change(data: Any) -> Any:
        place = data
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to
        return data

    return change


DAMAGES: dict[str, Callable[[Any], Any]] = {
    "a list": lambda data: [data],
    "a number": lambda data: 7,
    "null": lambda data: None,
    "an empty object": lambda data: {},
    "someone else's object": lambda data: {"name": "package", "version": "1.0"},
    "a later version": _set("schema_version", to=2),
    **{
        f"without {key}": _drop(key)
        for key in DOCUMENTED_KEYS
        if key not in ("timestamp", "n_samples", "conversation_history", "uncertainty", "notes")
    },
    "similarity 7": _set("pairwise", 0, "hybrid_similarity", to=7),
    "similarity below 0": _set("pairwise", 0, "text_similarity", to=-0.01),
    "similarity NaN": _set("pairwise", 0, "ast_similarity", to=float("nan")),
    "similarity infinite": _set("pairwise", 0, "ast_similarity", to=float("inf")),
    "similarity null": _set("pairwise", 0, "ast_similarity", to=None),
    "similarity too large for a float": _set("pairwise", 0, "text_similarity", to=10**400),
    "similarity a list": _set("pairwise", 0, "text_similarity", to=[0.5]),
    "a pair missing": lambda data: _set("pairwise", to=data["pairwise"][1:])(data),
    "a pair twice, another missing": lambda data: _set("pairwise", 0, to=data["pairwise"][1])(data),
    "a pair of a sample with itself": _set("pairwise", 0, "j", to=0),
    "a pair of an unknown sample": _set("pairwise", 0, "j", to=9),
    "a pair's index a list": _set("pairwise", 0, "i", to=[0]),
    "two samples with one index": _set("outputs", 1, "index", to=0),
    "a sample without text": _set("outputs", 0, "text", to=None),
    "a sample that is a text": _set("outputs", 0, to="def f(): pass"),
    "percent NaN": _set("confidence_percent", to=float("nan")),
    "percent 101": _set("agreement_percent", to=101),
    "percent a text": _set("agreement_percent", to="20.0"),
    "threshold NaN": _set("settings", "threshold", to=float("nan")),
    "threshold too large for a float": _set("settings", "threshold", to=10**400),
    "weights NaN": _set("settings", "weights", "structure", to=float("nan")),
    "settings a list": _set("settings", to=[]),
    "created_at a number": _set("created_at", to=1758187203),
    "created_at no time": _set("created_at", to="yesterday"),
    "created_at without zone": _set("created_at", to="2025-09-18T11:20:03"),
    "question a list": _set("question", to=["Add"]),
    "notes a number": _set("notes", to=1),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_changed_file_is_called_damaged(damage: Callable[[Any], Any]) -> None:
    data = json.loads("".join(format_run(detailed_run())))
    with pytest.raises(ResultDamaged):
        parse_run(json.dumps(damage(data)))


CONTENTS = {
    "nothing": b"",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"schema_version": 1, "outputs": ' + b'{"a":' * 100_000,
    "a number of 5000 digits": b'{"schema_version": ' + b"9" * 5000 + b"}",
    "binary": bytes(range(256)),
    "UTF-16": '{"schema_version": 1}'.encode("utf-16"),
    "prose": b"not JSON at all",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
def test_a_foreign_file_is_called_damaged_by_its_name(content: bytes, tmp_path: Path) -> None:
    name = "eval_2025-01-01_00-00-00.json"
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ResultDamaged, match=name):
        Store(tmp_path).load(name)


def test_a_file_cut_off_anywhere_is_called_damaged(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.save(make_run([LOOP, BUILTIN], question="Füge 🧮 hinzu"))
    whole = path.read_bytes().rstrip()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(ResultDamaged):
            store.load(path.name)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ResultNotFound, match=r"eval_2025-01-01_00-00-00\.json"):
        Store(tmp_path).load("eval_2025-01-01_00-00-00.json")


def _data(path: Path) -> Any:
    return json.loads(path.read_bytes().decode("utf-8"))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("index", "0"),
        ("index", 0.0),
        ("index", -1),
        ("index", False),
        ("parses", "yes"),
        ("parses", 1),
        ("finish_reason", 7),
        ("latency_seconds", "x"),
        ("latency_seconds", -0.5),
        ("latency_seconds", float("inf")),
        ("latency_seconds", True),
        ("prompt_tokens", -1),
        ("prompt_tokens", 1.5),
        ("completion_tokens", "12"),
        ("reported_model", ["m"]),
        ("system_fingerprint", 3),
    ],
)
def test_a_field_of_an_answer_with_a_wrong_type_is_damage(field: str, value: object) -> None:
    data = json.loads("".join(format_run(detailed_run())))
    parse_run(json.dumps(data))
    data["outputs"][0][field] = value
    with pytest.raises(ResultDamaged):
        parse_run(json.dumps(data))


@pytest.mark.parametrize(
    ("field", "value"),
    [("n_requested", "5"), ("n_requested", -5), ("temperature", "hot"), ("max_tokens", 1.5), ("system_prompt", 1), ("seed", "1")],
)
def test_a_setting_with_a_wrong_type_is_damage(field: str, value: object) -> None:
    data = json.loads("".join(format_run(detailed_run())))
    data["settings"][field] = value
    with pytest.raises(ResultDamaged):
        parse_run(json.dumps(data))
