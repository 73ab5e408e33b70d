"""What stands before every request, to the pages and to the routes: host, sign-in, token, pace, and headers of the answer."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict, deque
from collections.abc import MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evaluator_core import sign_in
from evaluator_core.settings import ServerSettings
from evaluator_core.store import is_result_name

ROUTES = ("/evaluate", "/score", "/results", "/models", "/openapi.json")
"""The paths of the API. ``/results/{name}`` is the only one with something behind it."""

_FIRST_PARTS = frozenset(route[1:] for route in ROUTES)
_HEALTH = "/_stcore/health"
_MOST_CLIENTS = 10_000
_HEADERS = {
    # The pages need inline styles, and Vega compiles its charts; nothing is ever fetched from another server.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:; "
        "object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def error(status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error as every route words it."""
    return JSONResponse({"error": {"kind": kind, "message": message}}, status_code=status, headers=headers)


class Pace:
    """How often each client has asked within the last minute."""

    def __init__(self, per_minute: int) -> None:
        """Nobody has asked yet."""
        self._per_minute = per_minute
        self._asked: OrderedDict[str, deque[float]] = OrderedDict()

    def seconds_to_wait(self, client: str, now: float) -> int:
        """Count one more request of a client; 0 when it may pass, else after how many seconds one may."""
        times = self._asked.setdefault(client, deque())
        self._asked.move_to_end(client)
        if len(self._asked) > _MOST_CLIENTS:
            self._asked.popitem(last=False)
        while times and times[0] <= now - 60:
            times.popleft()
        if len(times) >= self._per_minute:
            return max(1, int(times[0] + 60 - now) + 1)
        times.append(now)
        return 0


class Guard:
    """ASGI middleware around the whole server."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, *, pages_sign_in_themselves: bool = False) -> None:
        """Where the pages have a sign-in of their own (OpenID Connect), the token is for the routes alone."""
        self._app = app
        self._settings = settings
        self._pace = Pace(settings.requests_per_minute)
        self._sign_in = sign_in.SignIn(settings.token) if settings.token else None
        self._guards_pages = not pages_sign_in_themselves

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it here."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer = await self._refusal(scope, receive, headers)
        if answer is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, _with_headers(send))

    async def _refusal(self, scope: Scope, receive: Receive, headers: Headers) -> Response | None:
        """The answer to a request that does not pass; ``None`` for one that does."""
        path: str = scope["path"]
        if path == _HEALTH:
            return None  # whoever watches over the server knows neither its names nor its token
        if not self._settings.exposed and not _arrived_on_loopback(scope):
            return error(
                400, "not_exposed", "this server was set up for its own machine; set server.address or EVALUATOR_ALLOWED_HOSTS"
            )
        if not self._host_is_known(headers.get("host", "")):
            return error(
                400, "unknown_host", "this server is not reached under that name; its owner sets EVALUATOR_ALLOWED_HOSTS"
            )
        if scope["type"] == "websocket" and not _same_origin(headers):
            return error(403, "other_origin", "a page of another site must not speak for its visitor")
        if path.strip("/").partition("/")[0] in _FIRST_PARTS:
            return self._route_refusal(scope, path, headers)
        if path in (sign_in.PATH, sign_in.OUT_PATH):
            return await self._sign_in_or_out(Request(scope, receive), path)
        if self._sign_in and self._guards_pages and not self._sign_in.is_signed_in(headers.get("cookie", "")):
            if scope["type"] == "http" and "text/html" in headers.get("accept", ""):
                query = scope["query_string"].decode("latin-1")
                return self._sign_in.form(path + (f"?{query}" if query else ""))
            return error(401, "unauthorized", "sign in first")
        return None

    def _host_is_known(self, host: str) -> bool:
        allowed = self._settings.allowed_hosts
        if not allowed:
            return True
        try:
            return (urlsplit(f"//{host}").hostname or "") in allowed
        except ValueError:
            return False

    def _route_refusal(self, scope: Scope, path: str, headers: Headers) -> Response | None:
        if refusal := self._too_fast(scope):
            return refusal
        challenge = {"WWW-Authenticate": 'Bearer realm="evaluator"'}
        if self._sign_in and not self._sign_in.matches(_bearer(headers)):
            return error(401, "unauthorized", "send the server's token as 'Authorization: Bearer …'", challenge)
        if self._sign_in is None and not self._guards_pages:
            # Who guards the pages does not mean to leave the routes open beside them.
            return error(401, "unauthorized", "the routes are closed until the owner sets EVALUATOR_API_TOKEN", challenge)
        name = path.removeprefix("/results/")
        if scope["type"] != "http" or (path not in ROUTES and not is_result_name(name)):
            return error(404, "not_found", "there is nothing here; GET /openapi.json lists the routes, GET /results the results")
        return None

    def _too_fast(self, scope: Scope) -> Response | None:
        client = scope["client"][0] if scope.get("client") else ""
        wait = self._pace.seconds_to_wait(client, time.monotonic())
        if not wait:
            return None
        message = f"more than {self._settings.requests_per_minute} requests within a minute: try again in {wait} s"
        return error(429, "too_many_requests", message, {"Retry-After": str(wait)})

    async def _sign_in_or_out(self, request: Request, path: str) -> Response:
        if path == sign_in.OUT_PATH:
            return sign_in.sign_out()
        if self._sign_in is None:
            return error(404, "not_found", "this server has no sign-in")
        if request.method != "POST":
            return self._sign_in.form("/")
        return self._too_fast(request.scope) or await self._sign_in.answer(request)


def _arrived_on_loopback(scope: Scope) -> bool:
    """Whether a request came by an address of this machine alone, however the server was started."""
    host = scope["server"][0] if scope.get("server") else "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True  # a socket's path, or a test without a network


def _same_origin(headers: Headers) -> bool:
    """Whether a websocket is opened by a page of this server, or by no browser at all.

    Streamlit would let every page of ``localhost`` in, and look this machine's outside address up for any other.
    """
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            _add_headers(message)
        await send(message)

    return sending


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
