"""The routes on the real server: what they answer, and that pages, files and answers tell the same."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from starlette.applications import Starlette
from starlette.testclient import TestClient

from evaluator_core.http_api import Server, api_routes
from evaluator_core.jobs import JobRunner
from evaluator_core.settings import ServerSettings
from evaluator_core.store import Store
from tests.model_server import ANSWERS, KEY, Answer, ModelServer, replay
from tests.served import ROOT, Dashboard, until

SEVEN = [
    "model",
    "question",
    "agreement_percent",
    "confidence_percent",
    "normalized_confidence_percent",
    "n_samples",
    "saved_file",
]


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Iterator[Dashboard]:
    settings = {"OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": KEY, "EVALUATOR_MODEL": "openai/replayed"}
    settings |= {"EVALUATOR_MAX_BODY_BYTES": "20000", "EVALUATOR_MAX_SAMPLES": "50", "EVALUATOR_REQUESTS_PER_MINUTE": "10000"}
    with Dashboard(tmp_path_factory.mktemp("served"), **settings) as running:
        yield running


@pytest.fixture
def server(models: ModelServer) -> ModelServer:
    models.script = replay
    models.requests.clear()
    return models


def evaluate(served: Dashboard, body: Any, **headers: str) -> requests.Response:
    headers |= {"Content-Type": "application/json"}
    return requests.post(f"{served.url}/evaluate", data=json.dumps(body), headers=headers, timeout=60)


def check_numbers(served: Dashboard, answer: dict[str, Any]) -> None:
    """The seven keys in order; the saved file and the row of the summary tell the same."""
    assert list(answer) == SEVEN
    path = Path(answer["saved_file"])
    stored = json.loads(path.read_text())
    assert {key: stored[key] for key in SEVEN[:-1]} == {key: answer[key] for key in SEVEN[:-1]}
    row = next(row for row in Store(served.results).summary().rows if row.saved_file == answer["saved_file"])
    assert [getattr(row, key) for key in SEVEN] == list(answer.values())


def test_curl_with_the_published_payload(served: Dashboard, server: ModelServer) -> None:
    command = ["curl", "-sS", "-X", "POST", f"{served.url}/evaluate", "-H", "Content-Type: application/json"]
    done = subprocess.run([*command, "-d", f"@{ROOT / 'payload.json'}"], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    check_numbers(served, answer)
    assert answer["question"] == json.loads((ROOT / "payload.json").read_text())["prompt"]
    numbers = f"agreement {answer['agreement_percent']}, confidence {answer['confidence_percent']}"
    assert sum(numbers in line and answer["saved_file"] in line for line in served.said().splitlines()) == 1


def test_the_answers_are_run_when_asked_for(served: Dashboard, server: ModelServer) -> None:
    answer = evaluate(served, {"prompt": "Write is_palindrome(text).", "n_samples": 4, "seed": 0, "behaviour": True})
    check_numbers(served, answer.json())
    stored = json.loads(Path(answer.json()["saved_file"]).read_text())["behaviour"]
    assert stored["target"] == "is_palindrome"
    assert sum(len(group["members"]) for group in stored["groups"]) == 4
    assert "wasmtime" in stored["engine"]
    other = evaluate(served, {"prompt": "Write f in Go.", "n_samples": 2, "language": "go", "behaviour": True}).json()
    written = json.loads(Path(other["saved_file"]).read_text())
    assert "behaviour" not in written
    assert any("only Python can be" in note for note in written["notes"])


def test_the_older_form(served: Dashboard, server: ModelServer) -> None:
    body = {
        "target_url": f"{server.base_url}/chat/completions",
        "prompt": "Write f.",
        "n_samples": 3,
        "language": "python",
        "threshold": 0.8,
        "request_schema": {"type": "openai", "model": "replayed-large", "api_key": KEY, "temperature": 0.2},
        "response_schema": {"type": "openai"},
    }
    answer = evaluate(served, body)
    assert answer.status_code == 200
    check_numbers(served, answer.json())
    assert {(request["model"], request["temperature"]) for request in server.requests} == {("replayed-large", 0.2)}


BAD_BODIES: list[tuple[Any, list[str]]] = [
    ([], ["not a JSON object"]),
    ("text", ["not a JSON object"]),
    (None, ["not a JSON object"]),
    ({}, ["prompt: is missing"]),
    ({"prompt": ""}, ["prompt"]),
    ({"prompt": " \n"}, ["prompt"]),
    ({"prompt": 5, "n_samples": "five"}, ["prompt", "n_samples"]),
    ({"prompt": "x", "n_samples": 1, "threshold": 2, "temperature": -1}, ["n_samples", "threshold", "temperature"]),
    ({"prompt": "x", "n_samples": 51}, ["n_samples", "50 that this server allows"]),
    ({"prompt": "x", "max_tokens": 0, "seed": -1, "language": 7}, ["max_tokens", "seed", "language"]),
    ({"prompt": "x", "max_tokens": 40_000}, ["max_tokens", "32768 that this server allows"]),
    ({"prompt": "x", "n_sample": 5, "treshold": 1}, ["n_sample: is not a field; did you mean n_samples?", "threshold"]),
    ({"prompt": "x", "n_samples": True}, ["n_samples"]),
    ({"prompt": "x", "threshold": 10**400, "temperature": 10**4000}, ["threshold", "temperature"]),
    (
        {"prompt": "\ud800", "system_prompt": "\udfff", "model": "\ud800"},
        ["prompt", "system_prompt", "model", "half of a character"],
    ),
    ({"prompt": "x", "endpoint": "nowhere"}, ["endpoint"]),
    ({"prompt": "", "endpoint": "nowhere", "n_samples": 1}, ["prompt", "endpoint", "n_samples"]),
    ({"prompt": "", "model": "builtin/other", "behaviour": "yes"}, ["prompt", "model", "behaviour"]),
    ({"prompt": "x", "endpoint": "ftp://example.org", "model": "m"}, ["endpoint"]),
    ({"prompt": "x", "endpoint": "http://169.254.169.254/v1", "model": "m"}, ["endpoint", "link-local"]),
    ({"prompt": "x", "model": "builtin/other"}, ["model"]),
    ({"prompt": "x", "target_url": "http://u:p@localhost/v1", "n_samples": 0}, ["target_url", "n_samples"]),
    ({"prompt": "x", "target_url": "http://localhost/v1", "request_schema": []}, ["request_schema"]),
    (
        {"prompt": "", "target_url": "ftp://x", "request_schema": [], "n_samples": 1},
        ["prompt", "target_url", "request_schema", "n_s"],
    ),
    ({"prompt": "x", "target_url": "http://localhost/v1", "request_schema": {"model": "m", "api_key": "a\nb"}}, ["api_key"]),
    ({"prompt": "x", "request_schema": {"type": "other", "key": 1}}, ["target_url", "request_schema.type", "request_schema.key"]),
]


@pytest.mark.parametrize(("body", "named"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_a_bad_body_is_answered_with_every_bad_field(served: Dashboard, server: ModelServer, body: Any, named: list[str]) -> None:
    answer = evaluate(served, body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert set(answer.json()["error"]) == {"kind", "message"}
    assert [name for name in named if name not in answer.json()["error"]["message"]] == []
    assert server.requests == []


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"prompt": NaN}', b"[" * 15_000, b""])
def test_what_is_not_json_is_told(served: Dashboard, body: bytes) -> None:
    answer = requests.post(f"{served.url}/evaluate", data=body, headers={"Content-Type": "application/json"}, timeout=30)
    assert answer.status_code == 400
    assert answer.json()["error"]["kind"] == "invalid_input"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""])
def test_a_form_of_another_site_is_refused(served: Dashboard, kind: str) -> None:
    answer = requests.post(f"{served.url}/evaluate", data=b'{"prompt": "x"}', headers={"Content-Type": kind}, timeout=30)
    assert answer.status_code == 415
    assert answer.json()["error"]["kind"] == "unsupported_media_type"
    assert "access-control-allow-origin" not in answer.headers


def test_a_body_that_is_too_long_is_refused_with_and_without_its_length(served: Dashboard) -> None:
    headers = {"Content-Type": "application/json"}
    known = requests.post(f"{served.url}/score", data=b" " * 20_001, headers=headers, timeout=30)
    streamed = requests.post(f"{served.url}/score", data=(b" " * 1000 for _ in range(30)), headers=headers, timeout=30)
    assert [answer.status_code for answer in (known, streamed)] == [413, 413]
    assert "20,000 bytes" in known.json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/evaluate", "POST"), ("PUT", "/evaluate", "POST"), ("POST", "/results", "GET"), ("DELETE", "/models", "GET")],
)
def test_a_wrong_method_is_told(served: Dashboard, method: str, path: str, allowed: str) -> None:
    answer = requests.request(method, served.url + path, timeout=30)
    assert (answer.status_code, answer.headers["Allow"]) == (405, allowed)
    assert answer.json()["error"]["kind"] == "method_not_allowed"


def test_a_model_that_cannot_be_asked_is_a_bad_gateway(served: Dashboard, server: ModelServer) -> None:
    server.script = lambda number, body: Answer(b'{"error": {"message": "no such model"}}', 404)
    answer = evaluate(served, {"prompt": "x", "model": "openai/replaid"})
    assert answer.status_code == 502
    assert answer.json()["error"]["kind"] == "model_not_found"
    assert "replayed" in answer.json()["error"]["message"]


def test_an_address_where_nothing_answers_is_a_bad_gateway(served: Dashboard) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        answer = evaluate(served, {"prompt": "x", "endpoint": address, "model": "m"})
    assert answer.status_code == 502
    assert "nothing answers" in answer.json()["error"]["message"]


def test_fewer_than_two_answers_are_no_numbers(served: Dashboard, server: ModelServer) -> None:
    def first_only(number: int, body: dict[str, Any]) -> Answer:
        refused = Answer(b'{"choices": [{"message": {"refusal": "no"}, "finish_reason": "content_filter"}]}')
        return replay(number, body) if body["seed"] == 0 else refused

    server.script = first_only
    before = len(Store(served.results).summary().rows)
    answer = evaluate(served, {"prompt": "x", "n_samples": 3, "seed": 0})
    assert answer.status_code == 502
    assert answer.json()["error"]["kind"] == "not_enough_samples"
    assert len(Store(served.results).summary().rows) == before


def test_a_fault_of_the_program_is_json_and_tells_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> Store:
        raise RuntimeError("a secret of the inside")

    def unused() -> JobRunner:
        raise AssertionError

    with TestClient(Starlette(routes=api_routes(Server(ServerSettings(), broken, unused)))) as client:
        answer = client.get("/results")
    assert answer.status_code == 500
    assert answer.json() == {"error": {"kind": "error", "message": "internal error; the server's log has the details"}}
    assert "a secret of the inside" in caplog.text


def test_results_are_read_back_newest_first_and_paged(served: Dashboard, server: ModelServer) -> None:
    for number in range(3):
        assert evaluate(served, {"prompt": f"paged {number}", "n_samples": 2}).status_code == 200
    whole = requests.get(f"{served.url}/results", params={"per_page": 500}, timeout=30).json()
    assert whole["total"] == len(whole["results"]) == len(Store(served.results).summary().rows)
    times = [row["timestamp"] for row in whole["results"]]
    assert times == sorted(times, reverse=True)
    # Runs of the same second, too: they were stored one after the other.
    assert [row["question"] for row in whole["results"][:3]] == ["paged 2", "paged 1", "paged 0"]
    second = requests.get(f"{served.url}/results", params={"per_page": 2, "page": 2}, timeout=30).json()
    assert second["results"] == whole["results"][2:4]
    name = whole["results"][0]["saved_file"].rsplit("/", 1)[-1]
    one = requests.get(f"{served.url}/results/{name}", timeout=30)
    assert one.content == (served.results / name).read_bytes()
    assert one.headers["content-type"] == "application/json"
    bad = requests.get(f"{served.url}/results", params={"per_page": "0", "page": "x"}, timeout=30)
    assert bad.status_code == 400
    assert all(name in bad.json()["error"]["message"] for name in ("per_page", "page: 'x'"))


@pytest.mark.parametrize(
    "path",
    [
        "/results/../summary.csv",
        "/results/..%2fsummary.csv",
        "/results/%2e%2e/%2e%2e/etc/passwd",
        "/results//etc/passwd",
        "/results/%2fetc%2fpasswd",
        "/results/..",
        "/results/",
        "/results/.",
        "/results/eval_2025-09-18_11-20-03.json%00",
        "/results/%00",
        "/results/eval_2025-09-18_11-20-03.json/",
        "/results/eval_2025-09-18_11-20-03.json%0a",
        "/results/summary.csv",
        "/results/unfinished",
        "/results/eval_1999-01-01_00-00-00.json",
        "/results/..\\summary.csv",
        "/results/C:\\Windows",
        "/results/\\\\host\\share",
        "/evaluate/more",
        "/models/",
    ],
)
def test_path_tricks_find_nothing(served: Dashboard, path: str) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:  # no client tidies the path up
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    assert answer.split(b" ", 2)[1] == b"404"
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["kind"] == "not_found"


def test_a_link_in_the_folder_is_not_followed(served: Dashboard, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text("{}")
    served.results.mkdir(exist_ok=True)
    (served.results / "eval_2001-01-01_00-00-00.json").symlink_to(outside)
    assert requests.get(f"{served.url}/results/eval_2001-01-01_00-00-00.json", timeout=30).status_code == 404


def test_models_are_listed_and_asked_for(served: Dashboard, server: ModelServer) -> None:
    every = requests.get(f"{served.url}/models", timeout=30).json()["endpoints"]
    assert {"builtin", "openai", "ollama"} <= {one["name"] for one in every}
    asked = requests.get(f"{served.url}/models", params={"endpoint": "openai"}, timeout=30).json()["endpoints"]
    assert [(one["name"], one["models"]) for one in asked] == [("openai", sorted(server.models))]
    assert requests.get(f"{served.url}/models", params={"endpoint": "none"}, timeout=30).status_code == 400
    assert KEY not in json.dumps(every)


def test_answers_that_are_there_are_scored_without_a_model(served: Dashboard, server: ModelServer) -> None:
    answer = requests.post(f"{served.url}/score", json={"outputs": [*ANSWERS], "pairs": True}, timeout=30).json()
    assert answer["n_samples"] == len(ANSWERS)
    assert len(answer["pairwise"]) == 6
    assert server.requests == []
    none = requests.post(f"{served.url}/score", json={"outputs": []}, timeout=30)
    assert (none.status_code, none.json()["confidence_percent"]) == (200, None)
    large = requests.post(f"{served.url}/score", json={"outputs": ["a", "b"], "threshold": 10**400}, timeout=30)
    assert (large.status_code, "threshold" in large.text) == (400, True)
    bad = requests.post(f"{served.url}/score", json={"outputs": ["a", 1], "threshold": "x", "more": 1}, timeout=30)
    assert bad.status_code == 400
    assert all(name in bad.json()["error"]["message"] for name in ("outputs", "threshold", "more: is not a field"))
    many = requests.post(f"{served.url}/score", json={"outputs": ["a"] * 51}, timeout=30)
    assert "50 that this server allows" in many.json()["error"]["message"]


def test_a_client_that_goes_away_cancels_its_run_and_what_arrived_is_kept(served: Dashboard, server: ModelServer) -> None:
    opened = threading.Event()

    def script(number: int, body: dict[str, Any]) -> Answer:
        if body["seed"] >= 2:
            opened.wait(60)
        return replay(number, body)

    server.script = script
    server.answered = 0
    body = json.dumps({"prompt": "gone", "n_samples": 4, "seed": 0, "concurrency": 4}).encode()
    head = f"POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    store = Store(served.results)
    before = set(store.interrupted())
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.sendall(head.encode() + body)
        server.wait_for_answers(2)
        until(lambda: any(len(store.unfinished(name).replies) == 2 for name in _journals(served)))
    try:
        until(lambda: len(set(store.interrupted()) - before) == 1)
    finally:
        opened.set()
    (gone,) = set(store.interrupted()) - before
    assert store.unfinished(gone).plan.prompt == "gone"
    assert len(store.unfinished(gone).replies) == 2
    assert "cancelled" in served.said()


def _journals(served: Dashboard) -> list[str]:
    return [path.stem for path in (served.results / "unfinished").glob("*.jsonl")]


def test_every_answer_carries_the_security_headers(served: Dashboard) -> None:
    for path in ("/", "/models", "/results/none", "/_stcore/health", "/history"):
        headers = requests.get(served.url + path, timeout=30).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert "default-src 'self'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1"])
@pytest.mark.parametrize("path", ["/", "/models"])
def test_another_name_for_this_machine_is_refused(served: Dashboard, host: str, path: str) -> None:
    assert requests.get(served.url + path, headers={"Host": host}, timeout=30).status_code == 400


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:{port}", b"101"),
        ("http://localhost:1", b"403"),
        ("http://127.0.0.1:{port}", b"403"),
        ("https://evil.example", b"403"),
        ("null", b"403"),
        ("", b"403"),
    ],
)
def test_a_page_of_another_site_opens_no_session(served: Dashboard, origin: str, status: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as raw:
        raw.sendall(
            f"GET /_stcore/stream HTTP/1.1\r\nHost: localhost:{served.port}\r\nOrigin: {origin.format(port=served.port)}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert raw.recv(100).split(b" ")[1] == status
    assert "external IP" not in served.said()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000"])
def test_this_machines_own_names_pass(served: Dashboard, host: str) -> None:
    assert requests.get(f"{served.url}/models", headers={"Host": host}, timeout=30).status_code == 200
