"""Sampling against a real server: order, concurrency, retries, and every fault that an endpoint can have."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from evaluator_core.endpoint import custom_endpoint
from evaluator_core.errors import AuthenticationFailed, EndpointUnreachable, ModelNotFound, RequestRefused
from evaluator_core.plan import Plan
from evaluator_core.sampling import Dialect, Outcome, Patience, sample
from evaluator_core.types import Reply, SampleFailure
from tests.conftest import QUICK
from tests.model_server import ANSWERS, KEY, Answer, ModelServer, Script, completion, failure, replay


def plan_at(server: ModelServer, n_samples: int = 4, **changes: Any) -> Plan:
    endpoint = custom_endpoint(server.base_url, name="tests", key=KEY)
    return replace(Plan("Write is_palindrome.", endpoint, "replayed", n_samples=n_samples), **changes)


def outcomes(plan: Plan, patience: Patience = QUICK, dialect: Dialect | None = None) -> list[Outcome]:
    got: list[Outcome] = []
    asyncio.run(sample(plan, range(plan.n_samples), got.append, patience=patience, dialect=dialect))
    return sorted(got, key=lambda outcome: outcome.index)


def sampled(script: Script, n_samples: int = 4, patience: Patience = QUICK, **changes: Any) -> tuple[list[Outcome], ModelServer]:
    with ModelServer(script) as server:
        return outcomes(plan_at(server, n_samples, **changes), patience), server


def test_each_reply_is_recorded_with_what_the_endpoint_tells(server: ModelServer) -> None:
    replies = outcomes(plan_at(server, seed=100))
    assert [reply.index for reply in replies] == [0, 1, 2, 3]
    for reply in replies:
        assert isinstance(reply, Reply)
        assert reply.text == ANSWERS[(100 + reply.index) % len(ANSWERS)]
        assert (reply.finish_reason, reply.prompt_tokens, reply.completion_tokens) == ("stop", 12, 34)
        assert (reply.reported_model, reply.system_fingerprint) == ("replayed-2026", "fp_1")
        assert reply.latency_seconds is not None
        assert reply.latency_seconds >= 0


def test_the_request_holds_the_settings_and_a_seed_of_its_own(server: ModelServer) -> None:
    outcomes(plan_at(server, 3, seed=7, temperature=0.2, max_tokens=99, system_prompt="Code only."))
    assert sorted(body["seed"] for body in server.requests) == [7, 8, 9]
    for body in server.requests:
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("replayed", 0.2, 99)
        assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_what_is_not_set_is_not_sent(server: ModelServer) -> None:
    outcomes(plan_at(server, 2, temperature=None, system_prompt=""))
    for body in server.requests:
        assert not {"temperature", "max_tokens", "seed"} & body.keys()
        assert [message["role"] for message in body["messages"]] == ["user"]


def test_no_more_requests_are_under_way_than_allowed() -> None:
    with ModelServer(latency=0.05) as server:
        outcomes(plan_at(server, 24, concurrency=6))
        assert server.most_in_flight == 6
        assert len(server.requests) == 24


def test_five_hundred_samples_arrive() -> None:
    with ModelServer() as server:
        replies = outcomes(plan_at(server, 500, concurrency=16))
    assert [reply.index for reply in replies] == list(range(500))
    assert all(isinstance(reply, Reply) for reply in replies)


def test_every_third_call_rate_limited_loses_nothing() -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        return failure(429, "slow down", headers={"Retry-After": "0.02"}) if number % 3 == 0 else replay(number, body)

    replies, _ = sampled(script, 12)
    assert all(isinstance(reply, Reply) for reply in replies)


@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms", "date"])
def test_retry_after_is_honoured(header: str) -> None:
    asked = {"Retry-After": {"Retry-After": "0.4"}, "retry-after-ms": {"retry-after-ms": "400"}}
    headers = asked.get(header) or {"Retry-After": formatdate(time.time() + 1.5, usegmt=True)}
    times: list[float] = []

    def script(number: int, body: dict[str, Any]) -> Answer:
        times.append(time.monotonic())
        return failure(429, headers=headers) if number == 0 else replay(number, body)

    replies, _ = sampled(script, 1)
    assert isinstance(replies[0], Reply)
    assert times[1] - times[0] >= 0.3


def test_an_endpoint_that_asks_for_no_wait_is_not_asked_again_at_once() -> None:
    times: list[float] = []

    def script(number: int, body: dict[str, Any]) -> Answer:
        times.append(time.monotonic())
        return failure(429, headers={"Retry-After": "0"})

    (outcome,), _ = sampled(script, 1, replace(QUICK, attempts=3, first_delay=0.1, longest_delay=0.1))
    assert isinstance(outcome, SampleFailure)
    assert times[2] - times[0] >= 0.1


def test_a_wait_that_is_too_long_is_a_failure_at_once() -> None:
    (outcome,), server = sampled(lambda number, body: failure(429, headers={"Retry-After": "86400"}), 1)
    assert isinstance(outcome, SampleFailure)
    assert outcome.kind == "rate_limited"
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "fault",
    [
        failure(500),
        failure(503),
        failure(408),
        Answer(b"<html>Bad gateway</html>", 502, "text/html"),
        Answer(b"<html>Welcome</html>", content_type="text/html"),
        Answer(b'{"choices": [{"mess'),
        replace(completion("x" * 5000), drop=True),
        Answer(b'{"error": {"message": "upstream went away"}}'),
    ],
    ids=["500", "503", "408", "502 html", "html", "half JSON", "dropped half-way", "error in a 200"],
)
def test_a_fault_that_passes_is_survived(fault: Answer) -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        return fault if number < 2 else replay(number, body)

    replies, server = sampled(script, 2)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("fault", "kind", "requests"),
    [
        (failure(500), "server_error", 6),
        (failure(429), "rate_limited", 6),
        (Answer(b"<html>Welcome</html>", content_type="text/html"), "bad_response", 6),
        (completion("x", choices=[]), "bad_response", 1),
        (completion(None), "bad_response", 1),
        (completion("", message={"refusal": "I will not."}), "refused", 1),
        (completion("half", finish_reason="content_filter"), "content_filter", 1),
        (completion(None, finish_reason="length"), "empty", 1),
        (Answer(b"[]"), "bad_response", 1),
        (Answer(b'{"choices": [{"message": {"content": 7}}]}'), "bad_response", 1),
        (replace(completion("x" * 5000), drop=True), "connection", 6),
    ],
    ids=["500", "429", "html", "no choices", "null", "refusal", "filter", "thought only", "a list", "a number", "dropped"],
)
def test_a_fault_that_stays_is_a_failure_and_never_a_text(fault: Answer, kind: str, requests: int) -> None:
    (outcome,), server = sampled(lambda number, body: fault, 1)
    assert isinstance(outcome, SampleFailure)
    assert outcome.kind == kind
    assert KEY[:8] not in outcome.message
    assert len(server.requests) == requests


def test_parts_of_content_are_joined() -> None:
    (reply,), _ = sampled(
        lambda number, body: completion(None, message={"content": [{"type": "text", "text": "def f(): pass"}]}), 1
    )
    assert isinstance(reply, Reply)
    assert reply.text == "def f(): pass"


def test_ten_megabytes_arrive_whole() -> None:
    text = "x = 1\n" * 1_700_000
    (reply,), _ = sampled(lambda number, body: completion(text), 1)
    assert isinstance(reply, Reply)
    assert reply.text == text


@pytest.mark.parametrize("fault", [Answer(b"", hang=True), Answer(b"x" * 1000, drip=True)], ids=["hang", "drip"])
def test_the_time_limit_ends_an_answer_that_never_comes(fault: Answer) -> None:
    patience = replace(QUICK, request_seconds=0.3)
    (outcome,), server = sampled(lambda number, body: fault, 1, patience)
    assert isinstance(outcome, SampleFailure)
    assert outcome.kind == "timeout"
    assert len(server.requests) == patience.timeout_attempts


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (failure(400, "prompt too long"), RequestRefused),
        (failure(401, f"Incorrect API key provided: {KEY}"), AuthenticationFailed),
        (failure(403), AuthenticationFailed),
        (failure(404, "no such model"), ModelNotFound),
        (failure(422), RequestRefused),
        (failure(307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}), RequestRefused),
        (failure(429, "You exceeded your quota", code="insufficient_quota"), RequestRefused),
    ],
    ids=["400", "401", "403", "404", "422", "redirect", "no credit"],
)
def test_what_no_retry_can_mend_ends_the_run_at_once(fault: Answer, error: type[Exception]) -> None:
    with ModelServer(lambda number, body: fault) as server:
        with pytest.raises(error) as caught:
            outcomes(plan_at(server, 40, concurrency=2))
        assert len(server.requests) <= 4
    assert KEY[:8] not in str(caught.value)


@pytest.mark.parametrize(
    "refusal",
    [
        failure(404),
        failure(404, "The model `replayd` does not exist or you do not have access to it.", code="model_not_found"),
        failure(400, "replayd is not a valid model ID"),
        failure(400, "model 'replayd' not found, try pulling it first"),
    ],
    ids=["404", "OpenAI", "OpenRouter", "Ollama"],
)
def test_an_unknown_model_is_answered_with_the_nearest_names(refusal: Answer) -> None:
    with ModelServer(lambda number, body: refusal) as server, pytest.raises(ModelNotFound, match="did you mean replayed"):
        outcomes(plan_at(server, 2, model="replayd"))


def test_an_address_without_its_path_is_hinted_at(server: ModelServer) -> None:
    endpoint = custom_endpoint(server.base_url.removesuffix("/v1"), name="tests", key=KEY)
    server.script = lambda number, body: failure(404)
    with pytest.raises(ModelNotFound, match=r"lists none: check the name, and whether http://127\.0\.0\.1:\d+ is the address"):
        outcomes(plan_at(server, 2, endpoint=endpoint))


def test_a_server_that_is_not_running_is_said_so(server: ModelServer) -> None:
    plan = replace(plan_at(server, 20), endpoint=custom_endpoint("http://127.0.0.1:1/v1", name="nobody"))
    with pytest.raises(EndpointUnreachable, match=r"127\.0\.0\.1:1/v1: start the server"):
        outcomes(plan)


def test_a_model_that_refuses_parameters_is_asked_without_them() -> None:
    def script(number: int, body: dict[str, Any]) -> Answer:
        if "max_tokens" in body:
            return failure(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", param="max_tokens")
        if "temperature" in body:
            return failure(400, "Only the default (1) value is supported.", param="temperature", code="unsupported_value")
        return replay(number, body)

    dialect = Dialect()
    with ModelServer(script) as server:
        replies = outcomes(plan_at(server, 10, max_tokens=50, concurrency=2), dialect=dialect)
        good = [body for body in server.requests if "max_completion_tokens" in body and "temperature" not in body]
        # Learnt once, by the requests that were under way then, and not asked again.
        assert len(good) == 10
        assert len(server.requests) <= 10 + 2 * 2
    assert all(isinstance(reply, Reply) for reply in replies)
    assert good[0]["max_completion_tokens"] == 50
    assert dialect.notes() == ["The model does not take temperature: the answers were made without it."]


def test_a_seed_that_a_strict_server_refuses_is_left_out() -> None:
    detail = [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]

    def script(number: int, body: dict[str, Any]) -> Answer:
        return Answer(json.dumps({"detail": detail}).encode(), 422) if "seed" in body else replay(number, body)

    dialect = Dialect()
    with ModelServer(script) as server:
        replies = outcomes(plan_at(server, 2, seed=1), dialect=dialect)
    assert all(isinstance(reply, Reply) for reply in replies)
    assert dialect.refused == {"seed"}


def test_a_temperature_out_of_range_is_an_error_not_dropped() -> None:
    complaint = failure(400, "temperature must be at most 1", param="temperature")
    with ModelServer(lambda number, body: complaint) as server, pytest.raises(RequestRefused, match="at most 1"):
        outcomes(plan_at(server, 2, temperature=1.5))
