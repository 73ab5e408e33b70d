"""A real HTTP server on loopback that speaks chat completions: it replays answers, counts, and misbehaves on request."""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

KEY = "sk-test-3f9c1b7e5d2a48600c1d"
"""The key that tests send; no file, log or output may hold it."""

ANSWERS = (
    "```python\ndef is_palindrome(text):\n    return text == text[::-1]\n```",
    "Here it is:\n\n```python\ndef is_palindrome(s):\n    return s == s[::-1]\n```\nIt compares the text with its reverse.",
    "```python\ndef is_palindrome(text):\n    for i in range(len(text) // 2):\n        if text[i] != text[-1 - i]:\n"
    "            return False\n    return True\n```",
    "def is_palindrome(text):\n    cleaned = [c for c in text.lower() if c.isalnum()]\n    return cleaned == cleaned[::-1]\n",
)


@dataclass(frozen=True)
class Answer:
    """One HTTP answer; the faults are flags on it."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection half-way through the body."""
    hang: bool = False
    """Say nothing until the server ends."""
    drip: bool = False
    """Send the headers and then a blank now and then, for ever."""


def completion(content: str | None, **changes: Any) -> Answer:
    """A good answer, with parts changed by name: finish_reason, choices, message, model …"""
    message = {"role": "assistant", "content": content} | changes.pop("message", {})
    choice = {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
    data = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "replayed-2026",
        "system_fingerprint": "fp_1",
        "choices": [choice],
        "usage": {"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46},
    }
    return Answer(json.dumps(data | changes).encode())


def failure(status: int, message: str = "no", *, headers: dict[str, str] | None = None, **details: Any) -> Answer:
    """An error as endpoints word it."""
    return Answer(json.dumps({"error": {"message": message} | details}).encode(), status, headers=headers or {})


def replay(number: int, body: dict[str, Any]) -> Answer:
    """The answer that belongs to the request's seed, or to its number when it has none."""
    return completion(ANSWERS[body.get("seed", number) % len(ANSWERS)])


Script = Callable[[int, dict[str, Any]], Answer]
"""From the number of a request (from 0) and its body to the answer."""


class ModelServer:
    """The server, running as long as its context."""

    def __init__(self, script: Script = replay, *, latency: float = 0.0, key: str | None = KEY) -> None:
        self.script = script
        self.latency = latency
        self.key = key
        self.models = ["replayed", "replayed-large", "other"]
        self.listing: Answer | None = None
        self.requests: list[dict[str, Any]] = []
        self.answered = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.changed = threading.Condition()
        self.closing = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def wait_for_requests(self, count: int, timeout: float = 60) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= count, timeout), f"only {len(self.requests)} requests"

    def wait_for_answers(self, count: int, timeout: float = 60) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.answered >= count, timeout), f"only {self.answered} answers"

    def __enter__(self) -> ModelServer:
        outer = self

        class Handler(_Handler):
            server_of = outer

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # with a short queue, clients that come at once are made to wait a second

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a client that has gone is no error of the server's
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: ModelServer
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Tests read what was asked from the server object."""

    def do_GET(self) -> None:
        server = self.server_of
        if not self._authorized():
            self._send(failure(401, f"Incorrect API key provided: {KEY[:8]}****{KEY[-4:]}"))
        elif self.path == "/v1/models" and server.listing:
            self._send(server.listing)
        elif self.path == "/v1/models":
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "tests"} for name in server.models]
            self._send(Answer(json.dumps({"object": "list", "data": listed}).encode()))
        else:
            self._send(failure(404))

    def do_POST(self) -> None:
        server = self.server_of
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        if len(sent) < int(self.headers["Content-Length"]):
            self.close_connection = True  # the client has gone half-way through its request
            return
        body = json.loads(sent)
        with server.changed:
            number = len(server.requests)
            server.requests.append(body)
            server.in_flight += 1
            server.most_in_flight = max(server.most_in_flight, server.in_flight)
            server.changed.notify_all()
        try:
            if server.latency:
                time.sleep(server.latency)
            if self._authorized():
                answer = server.script(number, body)
            else:
                answer = failure(401, f"Incorrect API key provided: {KEY[:8]}****{KEY[-4:]}")
        finally:
            with server.changed:
                server.in_flight -= 1
        self._send(answer)
        with server.changed:
            server.answered += 1
            server.changed.notify_all()

    def _authorized(self) -> bool:
        key = self.server_of.key
        return key is None or self.headers.get("Authorization") == f"Bearer {key}"

    def _send(self, answer: Answer) -> None:
        if answer.hang:
            self.server_of.closing.wait()
            self.close_connection = True
            return
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if answer.drip:
                while not self.server_of.closing.wait(0.02):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                self.close_connection = True
            elif answer.drop:
                self.wfile.write(answer.body[: len(answer.body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            else:
                self.wfile.write(answer.body)
        except OSError:
            self.close_connection = True  # the client has gone
