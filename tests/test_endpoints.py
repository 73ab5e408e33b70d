"""Which endpoint a model's name leads to, what the settings may hold, and keys that never show."""

from __future__ import annotations

import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from evaluator_core import builtin_model
from evaluator_core.address import form_problem
from evaluator_core.endpoint import Endpoint, custom_endpoint
from evaluator_core.endpoint_file import read_endpoints
from evaluator_core.endpoints import endpoints, list_models, resolve_model
from evaluator_core.errors import AuthenticationFailed, EndpointUnreachable, InvalidInput, ModelNotFound
from evaluator_core.secret import Secret, redact
from tests.model_server import KEY, ModelServer, failure

TOML = """
[[endpoint]]
name = "lab"
base_url = "http://127.0.0.1:9000/v1"
api_key_env = "LAB_KEY"
models = ["qwen-coder", "meta/llama"]
concurrency = 3

[[endpoint]]
name = "ollama"
base_url = "http://gpu.example:11434/v1"
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "endpoints.toml"
    file.write_text(TOML)
    monkeypatch.setenv("EVALUATOR_ENDPOINTS", str(file))
    return file


def test_every_promised_preset_is_there() -> None:
    assert list(endpoints()) == ["builtin", "openai", "openrouter", "anthropic", "ollama", "lmstudio", "llamacpp", "vllm"]
    assert all(endpoint.about for endpoint in endpoints().values())


@pytest.mark.parametrize(
    ("model", "endpoint", "expected"),
    [
        (None, None, ("builtin", builtin_model.NAME)),
        ("builtin", None, ("builtin", builtin_model.NAME)),
        (builtin_model.NAME, None, ("builtin", builtin_model.NAME)),
        ("qwen-coder", None, ("lab", "qwen-coder")),
        ("meta/llama", None, ("lab", "meta/llama")),
        ("lab", None, ("lab", "qwen-coder")),
        ("lab/other", None, ("lab", "other")),
        (None, "lab", ("lab", "qwen-coder")),
        ("openrouter/meta-llama/llama-3-8b", None, ("openrouter", "meta-llama/llama-3-8b")),
        ("meta-llama/llama-3-8b", "openrouter", ("openrouter", "meta-llama/llama-3-8b")),
    ],
)
def test_a_model_is_found_by_name(lab: Path, model: str | None, endpoint: str | None, expected: tuple[str, str]) -> None:
    found, name = resolve_model(model, endpoint)
    assert (found.name, name) == expected


def test_a_name_alone_is_openais_when_that_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelNotFound, match="OPENAI_API_KEY"):
        resolve_model("gpt-4o-mini")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert resolve_model("gpt-4o-mini")[0].base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9999/v1/")
    assert resolve_model("gpt-4o-mini")[0].base_url == "http://127.0.0.1:9999/v1"


def test_mistyped_names_are_answered_with_the_nearest(lab: Path) -> None:
    with pytest.raises(ModelNotFound, match="did you mean qwen-coder"):
        resolve_model("qwen-codr")
    with pytest.raises(InvalidInput, match="did you mean ollama"):
        resolve_model("x", "olama")
    with pytest.raises(ModelNotFound, match=builtin_model.NAME):
        resolve_model("builtin/gpt-4")
    with pytest.raises(InvalidInput, match="openai/model"):
        resolve_model(None, "openai")


def test_the_file_adds_endpoints_and_replaces_presets(lab: Path) -> None:
    known = endpoints()
    assert (known["lab"].concurrency, known["lab"].models) == (3, ("qwen-coder", "meta/llama"))
    assert known["ollama"].base_url == "http://gpu.example:11434/v1"


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        ("", ["no [[endpoint]] table"]),
        ("endpoint = 3", ["no [[endpoint]] table"]),
        ("[[endpoint]", ["not TOML"]),
        ('[[endpoint]]\nname = "a/b"\nurl = "x"', ["endpoint 1: unknown field 'url'", "without '/'", "base_url is missing"]),
        ('[[endpoint]]\nname = "builtin"\nbase_url = "ftp://x"', ["not 'builtin'", "http:// or https://"]),
        ('[[endpoint]]\nname = "a"\nbase_url = "http://u:p@h/v1"\nmodels = "m"', ["user name or password", "models must be"]),
        ('[[endpoint]]\nname = "a"\nbase_url = "http://h/v1"\nconcurrency = 0\napi_key_env = 3', ["concurrency", "api_key_env"]),
    ],
)
def test_every_mistake_in_the_file_is_named_at_once(tmp_path: Path, content: str, messages: list[str]) -> None:
    file = tmp_path / "endpoints.toml"
    file.write_text(content)
    with pytest.raises(InvalidInput) as caught:
        read_endpoints(file)
    for message in ["EVALUATOR_ENDPOINTS", *messages]:
        assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_endpoints(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "address",
    [
        "",
        "localhost:8000/v1",
        "ftp://h/v1",
        "http://",
        "http://u@h/v1",
        "http://h/v1?x=1",
        "http://h/v1#x",
        "http://[::1",
        "http://h:x/v1",
    ],
)
def test_bad_addresses_are_refused(address: str) -> None:
    assert form_problem(address)
    with pytest.raises(InvalidInput):
        custom_endpoint(address)


def test_an_address_may_be_given_with_its_path() -> None:
    assert custom_endpoint("http://h:1/v1/chat/completions").base_url == "http://h:1/v1"
    assert custom_endpoint(" http://h:1/v1/ ").name == "h:1"


def test_models_are_listed_by_asking(openai_at: ModelServer) -> None:
    assert list_models(endpoints()["openai"]) == ("other", "replayed", "replayed-large")


def test_no_proxy_stands_before_a_server_on_this_machine(openai_at: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert "replayed" in list_models(endpoints()["openai"])


def test_a_listing_follows_no_redirect(server: ModelServer, openai_at: ModelServer) -> None:
    with ModelServer() as elsewhere:
        server.listing = failure(307, headers={"Location": f"{elsewhere.base_url}/models"})
        with pytest.raises(EndpointUnreachable, match="does not list its models"):
            list_models(endpoints()["openai"])


def test_a_bad_address_in_the_environment_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000/v1")
    with pytest.raises(InvalidInput, match=r"OPENAI_BASE_URL: .*http://"):
        endpoints()


def test_a_listing_that_fails_says_why(openai_at: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AuthenticationFailed, match="refused the key") as caught:
        list_models(custom_endpoint(openai_at.base_url, key="sk-wrong-123456789012"))
    assert "sk-" not in str(caught.value)
    with pytest.raises(EndpointUnreachable, match="start the server"):
        list_models(custom_endpoint("http://127.0.0.1:1/v1"))
    with pytest.raises(AuthenticationFailed, match="set the environment variable OPENROUTER_API_KEY"):
        list_models(endpoints()["openrouter"])


def test_a_listing_that_is_no_list_is_an_error_of_ours(server: ModelServer) -> None:
    elsewhere = custom_endpoint(server.base_url.removesuffix("/v1") + "/elsewhere", key=KEY)
    with pytest.raises(EndpointUnreachable, match="does not list its models"):
        list_models(elsewhere)


def test_a_listing_does_not_follow_a_redirect(server: ModelServer) -> None:
    asked = threading.Event()

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.set()
            self.send_response(307)
            self.send_header("Location", f"{server.base_url}/models")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing to say."""

    server.key = None  # it would answer whoever comes
    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as redirecting:
        thread = threading.Thread(target=redirecting.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            with pytest.raises(EndpointUnreachable, match="does not list its models"):
                list_models(custom_endpoint(f"http://127.0.0.1:{redirecting.server_address[1]}/v1", key=KEY))
        finally:
            redirecting.shutdown()
            thread.join()
    assert asked.is_set()


@pytest.mark.parametrize("key", ["a\nb-secret", "schlüssel", "two words"])
def test_a_key_that_no_header_can_carry_is_told_and_not_repeated(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(AuthenticationFailed, match="check the environment variable OPENAI_API_KEY") as caught:
        endpoints()["openai"].connect()
    assert key not in str(caught.value)
    with pytest.raises(AuthenticationFailed, match="check the key that was given"):
        custom_endpoint("http://127.0.0.1:1/v1", key=key).connect()


def test_a_key_shows_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    shown = [endpoints()["openai"], custom_endpoint("http://h/v1", key=KEY), Endpoint("e", given_key=Secret(KEY)), Secret(KEY)]
    for thing in shown:
        assert KEY not in f"{thing!r} {thing}"
    with pytest.raises(TypeError):
        pickle.dumps(Secret(KEY))


@pytest.mark.parametrize(
    "message",
    [
        f"bad key {KEY}",
        f"key {KEY[:8]}… is wrong",
        f"{KEY[:7]}****{KEY[-4:]}",
        "sk-proj-abcdefghij",
        f"…{KEY[-8:]}",
        "abcd********wxyz",
    ],
)
def test_what_an_endpoint_quotes_of_a_key_is_taken_out(message: str) -> None:
    cleaned = redact(message, Secret(KEY))
    assert "[key]" in cleaned
    assert KEY[:8] not in cleaned
    assert KEY[-4:] not in cleaned


@pytest.mark.timeout(30)
def test_a_long_message_is_cleaned_in_time_that_does_not_grow_with_its_square() -> None:
    for text in ("a" * 1_000_000, "sk-" * 300_000, "**" + "a-" * 500_000):
        redact(text, Secret(KEY))
