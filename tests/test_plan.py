"""From the body of a request to a plan: both forms, every default, and every bad field named at once."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator_core import builtin_model
from evaluator_core.errors import InvalidInput
from evaluator_core.plan import DEFAULT_SYSTEM_PROMPT, FIELDS, Plan, make_plan, plan_from_payload
from tests.model_server import KEY

OLDER = {
    "target_url": "http://127.0.0.1:9000/v1/chat/completions",
    "prompt": "Write f.",
    "n_samples": 3,
    "language": "js",
    "threshold": 0.9,
    "request_schema": {"type": "openai", "model": "gpt-4o-mini", "api_key": KEY, "temperature": 0.1},
    "response_schema": {"choices": [{"message": {"content": "…"}}]},
}


def test_a_prompt_is_enough() -> None:
    plan = plan_from_payload({"prompt": "Write f."})
    assert (plan.endpoint.name, plan.model) == ("builtin", builtin_model.NAME)
    assert (plan.n_samples, plan.threshold, plan.temperature, plan.max_tokens) == (5, 0.85, 0.7, None)
    assert (plan.language, plan.system_prompt, plan.seed) == ("python", DEFAULT_SYSTEM_PROMPT, None)
    assert plan.concurrency == plan.endpoint.concurrency


def test_every_field_of_a_plan_can_be_given() -> None:
    assert set(FIELDS) == set(Plan.__dataclass_fields__)


def test_none_means_the_endpoints_own_or_the_default() -> None:
    plan = make_plan({"prompt": "p", "temperature": None, "system_prompt": None, "seed": None, "max_tokens": None, "model": None})
    assert plan.temperature is None
    assert plan.system_prompt == DEFAULT_SYSTEM_PROMPT
    assert make_plan({"prompt": "p", "system_prompt": ""}).system_prompt == ""


def test_the_older_form_means_the_same() -> None:
    plan = plan_from_payload(OLDER)
    assert (plan.endpoint.base_url, plan.model, plan.temperature) == ("http://127.0.0.1:9000/v1", "gpt-4o-mini", 0.1)
    assert (plan.n_samples, plan.language, plan.threshold) == (3, "javascript", 0.9)
    assert plan.endpoint.given_key is not None
    assert plan.endpoint.given_key.reveal() == KEY
    assert KEY not in repr(plan)


def test_a_key_of_the_environment_goes_to_its_own_endpoint_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    without_key = {"request_schema": {"type": "openai", "model": "m"}}
    theirs = plan_from_payload(OLDER | without_key | {"target_url": "https://api.openai.com/v1/chat/completions"})
    assert theirs.endpoint.name == "openai"
    assert theirs.endpoint.key()
    another = plan_from_payload(OLDER | without_key)
    assert another.endpoint.key() is None
    assert make_plan({"prompt": "p", "model": "m", "endpoint": "http://127.0.0.1:9/v1"}).endpoint.key() is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("prompt", value) for value in ("", "  \n", 7, None, ["p"], "x" * 1_000_001, "\ud800")),
        *(("n_samples", value) for value in (1, 0, -1, 2.0, "5", True, None, 2001)),
        *(("threshold", value) for value in (-0.1, 1.1, "x", None, True, float("nan"), float("inf"), 10**400)),
        *(("temperature", value) for value in (-1, 2.5, "warm", False)),
        *(("max_tokens", value) for value in (0, 1.5, "all")),
        *(("language", value) for value in ("", 3, None, "x" * 50, "a\nb")),
        *(("seed", value) for value in (-1, 1.5, 2**31)),
        *(("concurrency", value) for value in (0, 257)),
        *(("model", value) for value in (7, "m" * 201, "\udfff")),
        ("endpoint", 7),
        ("system_prompt", 7),
        ("system_prompt", "half \ud83d"),
    ],
)
def test_a_bad_value_is_named(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{field}: "):
        make_plan({"prompt": "Write f.", field: value})


def test_all_bad_fields_are_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        plan_from_payload({"n_sample": 3, "n_samples": 1, "threshold": 7, "language": "", "seed": "x"})
    message = str(caught.value)
    for part in (
        "n_sample: is not a field; did you mean n_samples?",
        "prompt: is missing",
        "n_samples: 1",
        "threshold: 7",
        "language:",
        "seed: 'x'",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"endpoint": "nowhere"}, "endpoint: 'nowhere' is not known"),
        ({"endpoint": "ftp://x/v1", "model": "m"}, "endpoint: "),
        ({"endpoint": "http://127.0.0.1:9/v1"}, "model: name the model"),
        ({"model": "builtin/other"}, "model: the built-in model is"),
        ({"model": "m" * 201, "endpoint": "nowhere"}, "model: 'mmm"),
        ({"target_url": "http://u:p@x/v1", "request_schema": {"type": "soap"}}, "it holds a user name"),
        ({"target_url": "http://x/v1", "request_schema": []}, "request_schema: is not an object"),
        ({"target_url": "http://x/\ud800", "request_schema": {"model": "m"}}, "target_url: "),
    ],
)
def test_whom_to_ask_is_checked_together_with_all_else(where: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan_from_payload({"prompt": "", "n_samples": 1} | where)
    assert all(part in str(caught.value) for part in ("prompt: '' is empty", "n_samples: 1 is not", named))


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", "a b", 7])
def test_a_key_that_no_header_can_carry_is_refused_and_not_repeated(key: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        plan_from_payload(OLDER | {"request_schema": {"model": "m", "api_key": key}})
    assert str(caught.value) == "request_schema.api_key: is not a text of ASCII characters without blanks"


def test_all_bad_fields_of_the_older_form_are_named_at_once() -> None:
    body = {"target_url": 3, "n_samples": 1, "request_schema": {"type": "soap", "api_key": 7, "modle": "x"}}
    with pytest.raises(InvalidInput) as caught:
        plan_from_payload(body)
    message = str(caught.value)
    for part in (
        "target_url",
        "type: 'soap'",
        "api_key",
        "modle: is not a field; did you mean model?",
        "prompt: is missing",
        "n_samples: 1",
    ):
        assert part in message
    with pytest.raises(InvalidInput, match=r"target_url.*http"):
        plan_from_payload(OLDER | {"target_url": "gopher://x"})


@pytest.mark.parametrize("body", [None, [], "prompt", 3])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(InvalidInput, match="not a JSON object"):
        plan_from_payload(body)
