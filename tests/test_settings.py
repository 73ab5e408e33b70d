"""What the environment sets for the server."""

from __future__ import annotations

import pytest

from evaluator_core.errors import InvalidInput
from evaluator_core.settings import NUMBERS, VARIABLES, ServerSettings, behaviour_seconds, is_loopback, server_settings


def test_a_server_on_loopback_is_known_by_its_own_names_alone() -> None:
    settings = server_settings("127.0.0.1")
    assert settings == ServerSettings(allowed_hosts=("localhost", "127.0.0.1", "::1"))
    assert not settings.exposed


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.1", "example.org", "", None])
def test_whatever_listens_beyond_loopback_is_exposed(address: str | None) -> None:
    settings = server_settings(address)
    assert settings.exposed
    assert settings.allowed_hosts == ()


def test_a_name_that_is_not_this_machines_own_means_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_ALLOWED_HOSTS", " Evaluator.Example , [::1] ")
    settings = server_settings("127.0.0.1")
    assert settings.exposed
    assert settings.allowed_hosts == ("evaluator.example", "::1")


def test_every_bad_number_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_MAX_SAMPLES", "1")
    monkeypatch.setenv("EVALUATOR_RUNS_AT_ONCE", "many")
    monkeypatch.setenv("EVALUATOR_MAX_TOKENS", "9" * 5000)
    monkeypatch.setenv("EVALUATOR_API_TOKEN", "schlüssel")
    with pytest.raises(InvalidInput) as caught:
        server_settings("127.0.0.1")
    names = ("EVALUATOR_MAX_SAMPLES", "EVALUATOR_RUNS_AT_ONCE", "EVALUATOR_MAX_TOKENS", "EVALUATOR_API_TOKEN")
    assert all(name in str(caught.value) for name in names)
    assert "schlüssel" not in str(caught.value)


def test_limits_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {name: 7 for name in VARIABLES if name in NUMBERS}
    numbers["EVALUATOR_MAX_BODY_BYTES"] = 5000
    for name, value in numbers.items():
        monkeypatch.setenv(name, str(value))
    settings = server_settings("localhost")
    assert (settings.max_body_bytes, settings.max_samples, settings.max_tokens) == (5000, 7, 7)
    assert (settings.runs_at_once, settings.runs_waiting, settings.requests_per_minute) == (7, 7, 7)
    assert settings.behaviour_seconds == behaviour_seconds() == 7


def test_a_token_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_API_TOKEN", "  very-secret-token ")
    settings = server_settings("0.0.0.0")
    assert settings.token is not None
    assert settings.token.reveal() == "very-secret-token"
    assert "very-secret" not in repr(settings)


@pytest.mark.parametrize(("host", "own"), [("LOCALHOST", True), ("127.8.8.8", True), ("::1", True), ("127.0.0.1.example", False)])
def test_what_means_this_machine_alone(host: str, own: bool) -> None:
    assert is_loopback(host) is own
