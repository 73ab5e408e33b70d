"""A server that others can reach: token, sign-in, addresses, pace and load; on loopback, as if it stood in the open."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from evaluator_core.http_guard import ROUTES, Pace
from evaluator_core.settings import server_settings
from evaluator_core.sign_in import COOKIE, SignIn
from evaluator_core.store import Store
from tests.model_server import KEY, Answer, ModelServer, replay
from tests.runs import make_run
from tests.served import Dashboard

TOKEN = "open-sesame-42"
NAME = "eval_2025-09-18_11-20-03.json"
BEYOND = {"EVALUATOR_ALLOWED_HOSTS": "127.0.0.1,localhost,evaluator.example"}
"""What makes a server behave as if beyond loopback, without listening there."""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A fresh process: nobody has opened a page before the first test."""
    dashboard = Dashboard(
        tmp_path_factory.mktemp("guarded"), EVALUATOR_API_TOKEN=TOKEN, EVALUATOR_REQUESTS_PER_MINUTE="10000", **BEYOND
    )
    Store(dashboard.results).save(make_run())
    with dashboard:
        yield dashboard
        assert TOKEN not in dashboard.said()


@pytest.mark.parametrize("header", [None, "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer ", TOKEN, "Bearer \xff"])
@pytest.mark.parametrize("path", [*ROUTES, f"/results/{NAME}", "/results/eval_1999-01-01_00-00-00.json", "/results/../x"])
def test_without_the_token_every_route_says_the_same(guarded: Dashboard, path: str, header: str | None) -> None:
    for method in ("GET", "POST", "DELETE"):
        connection = http.client.HTTPConnection("127.0.0.1", guarded.port, timeout=30)
        connection.request(method, path, headers={"Authorization": header} if header else {})
        answer = connection.getresponse()
        assert answer.status == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert json.loads(answer.read())["error"]["message"] == "send the server's token as 'Authorization: Bearer …'"
        connection.close()


def test_with_the_token_the_routes_answer(guarded: Dashboard) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert requests.get(f"{guarded.url}/results/{NAME}", headers=bearer, timeout=30).status_code == 200
    assert requests.get(f"{guarded.url}/results/eval_1999-01-01_00-00-00.json", headers=bearer, timeout=30).status_code == 404
    assert requests.get(f"{guarded.url}/openapi.json", headers=bearer, timeout=30).json()["security"] == [{"token": []}]


@pytest.mark.parametrize("path", ["/", "/history", "/compare", "/guide", f"/?result={NAME}", "/evaluate_page", "/media/x"])
def test_every_page_is_the_sign_in_also_when_opened_by_its_address(guarded: Dashboard, path: str) -> None:
    answer = requests.get(guarded.url + path, headers={"Accept": "text/html"}, timeout=30)
    assert answer.status_code == 401
    assert 'name="token"' in answer.text
    assert "stApp" not in answer.text


def test_nothing_of_a_page_is_served_without_sign_in(guarded: Dashboard) -> None:
    for path in ("/_stcore/host-config", "/_stcore/metrics", "/static/js/index.js", "/_stcore/upload_file/a/b"):
        assert requests.get(guarded.url + path, timeout=30).status_code == 401
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=30) as raw:
        raw.sendall(
            b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        assert raw.recv(100).split(b" ")[1] == b"403"
    assert requests.get(f"{guarded.url}/_stcore/health", timeout=30).text == "ok"


def test_sign_in_leads_back_and_is_remembered(guarded: Dashboard) -> None:
    form, pages = f"{guarded.url}/sign-in", f"{guarded.url}/history"
    with requests.Session() as visitor:
        wrong = visitor.post(form, data={"token": "wrong", "next": "/guide"}, timeout=30)
        assert wrong.status_code == 401
        assert "That is not the token" in wrong.text
        answer = visitor.post(form, data={"token": TOKEN, "next": "/guide?a=1"}, allow_redirects=False, timeout=30)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/guide?a=1")
        assert all(word in answer.headers["Set-Cookie"] for word in ("HttpOnly", "SameSite=lax"))
        assert TOKEN not in answer.headers["Set-Cookie"]
        assert visitor.get(pages, timeout=30).status_code == 200
        visitor.get(f"{guarded.url}/sign-out", timeout=30)
        assert visitor.get(pages, timeout=30).status_code == 401


@pytest.mark.parametrize("target", ["//x.example", "https://x.example", "/\\x.example", "javascript:x", "\n//x.example"])
def test_sign_in_leads_nowhere_else(guarded: Dashboard, target: str) -> None:
    form = {"token": TOKEN, "next": target}
    answer = requests.post(f"{guarded.url}/sign-in", data=form, allow_redirects=False, timeout=30)
    assert answer.headers["Location"] == "/"


@pytest.mark.parametrize("cookie", ["", "in", "in.x.y", "a=b; ;;", f"{COOKIE}=", f"{COOKIE}=in.aaaa.bbbb", f'{COOKIE}="\xff"'])
def test_a_made_up_cookie_is_no_session(monkeypatch: pytest.MonkeyPatch, cookie: str) -> None:
    monkeypatch.setenv("EVALUATOR_API_TOKEN", TOKEN)
    token = server_settings("0.0.0.0").token
    assert token is not None
    assert not SignIn(token).is_signed_in(cookie)


def test_without_a_token_an_open_server_says_so_loudly(tmp_path: Path) -> None:
    with Dashboard(tmp_path, **BEYOND) as dashboard:
        assert "WARNING" in dashboard.said()
        assert "set EVALUATOR_API_TOKEN" in dashboard.said()


class Listener:
    """A listener on loopback that only counts who comes."""

    def __enter__(self) -> Listener:
        self.visits = -1  # the last visit is its own, to end the wait
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._count)
        self._thread.start()
        return self

    def _count(self) -> None:
        while not self._closing.is_set():
            self._socket.accept()[0].close()
            self.visits += 1

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._socket.close()


def test_an_open_server_takes_no_address_from_a_request(guarded: Dashboard) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with Listener() as listener:
        address = f"http://127.0.0.1:{listener.port}/v1"
        bodies: list[dict[str, Any]] = [
            {"prompt": "x", "endpoint": address, "model": "m"},
            {"prompt": "x", "endpoint": address.replace("http", "HTTP"), "model": "m"},
            {"prompt": "x", "target_url": address, "request_schema": {"type": "openai", "model": "m", "api_key": KEY}},
            {"prompt": "x", "model": f"{address}/m"},
            {"prompt": "x", "model": "ollama/m"},
        ]
        answers = [requests.post(f"{guarded.url}/evaluate", json=body, headers=bearer, timeout=60) for body in bodies]
    assert [answer.status_code for answer in answers] == [400] * len(bodies)
    assert all("takes no address from a request" in answer.json()["error"]["message"] for answer in answers[:3])
    assert KEY not in "".join(answer.text for answer in answers)
    assert listener.visits == 0


def test_the_pace_of_each_client_is_its_own() -> None:
    pace = Pace(3)
    assert [pace.seconds_to_wait("a", now) for now in (0, 1, 2)] == [0, 0, 0]
    assert pace.seconds_to_wait("a", 10) == 51
    assert pace.seconds_to_wait("b", 10) == 0
    assert pace.seconds_to_wait("a", 60.5) == 0


def test_behind_a_proxy_each_client_has_its_own_pace_and_pages_their_public_name(tmp_path: Path) -> None:
    settings = {
        "EVALUATOR_ALLOWED_HOSTS": "evaluator.example",
        "EVALUATOR_API_TOKEN": TOKEN,
        "EVALUATOR_REQUESTS_PER_MINUTE": "2",
    }
    with Dashboard(tmp_path, **settings) as dashboard:
        proxied = {"Host": "evaluator.example", "X-Forwarded-Proto": "https", "Authorization": f"Bearer {TOKEN}"}

        def ask(client: str) -> int:
            return requests.get(f"{dashboard.url}/results", headers=proxied | {"X-Forwarded-For": client}, timeout=30).status_code

        assert [ask(client) for client in ("192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2")] == [200, 200, 429, 200]
        form = f"{dashboard.url}/sign-in"
        answer = requests.post(form, data={"token": TOKEN}, headers=proxied, allow_redirects=False, timeout=30)
        cookie = answer.headers["Set-Cookie"]
        assert "Secure" in cookie  # the visitor came by HTTPS
        for origin, status in (("https://evaluator.example", b"101"), ("https://other.example", b"403")):
            with socket.create_connection(("127.0.0.1", dashboard.port), timeout=30) as raw:
                raw.sendall(
                    f"GET /_stcore/stream HTTP/1.1\r\nHost: evaluator.example\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
                    f"Upgrade: websocket\r\nCookie: {cookie.partition(';')[0]}\r\nSec-WebSocket-Version: 13\r\n"
                    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
                )
                assert raw.recv(100).split(b" ")[1] == status


def test_past_the_limits_there_is_a_clear_answer_and_a_time_to_come_back(tmp_path: Path) -> None:
    opened = threading.Event()

    def held(number: int, body: dict[str, Any]) -> Answer:
        opened.wait(60)
        return replay(number, body)

    limits = {"EVALUATOR_RUNS_AT_ONCE": "1", "EVALUATOR_RUNS_WAITING": "1", "EVALUATOR_REQUESTS_PER_MINUTE": "3"}
    with ModelServer(held) as models:
        settings = {"OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": KEY, "EVALUATOR_MODEL": "openai/replayed"}
        with Dashboard(tmp_path, **settings, **limits) as dashboard:
            answers: list[requests.Response] = []

            def ask() -> None:
                answers.append(requests.post(f"{dashboard.url}/evaluate", json={"prompt": "x", "n_samples": 2}, timeout=60))

            clients = [threading.Thread(target=ask) for _ in range(4)]
            for client in clients:
                client.start()
            # Two are held by the model; the third finds no room, the fourth comes too soon.
            while len(answers) < 2:
                clients[-1].join(0.01)
            assert sorted(answer.status_code for answer in answers) == [429, 503]
            assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
            opened.set()
            for client in clients:
                client.join()
    assert sorted(answer.status_code for answer in answers) == [200, 200, 429, 503]
