"""Sign-in by token for the pages: a form, and a signed cookie that remembers it. No page runs before it is passed."""

from __future__ import annotations

import hashlib
import hmac
import html
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from itsdangerous import BadSignature, TimestampSigner
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from evaluator_core.secret import Secret

PATH = "/sign-in"
OUT_PATH = "/sign-out"
COOKIE = "evaluator_session"

_SECONDS = 7 * 24 * 3600
_LONGEST_FORM = 10_000
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · AI Evaluator Agent</title>
<style>
:root {{ color-scheme: light dark; --ink: light-dark(#04101c, #e8eef5); --paper: light-dark(#ffffff, #18222e);
  --line: light-dark(#d3dbe5, #33414f); --blue: light-dark(#0b5cad, #6cb2f5); --on-blue: light-dark(#ffffff, #04101c); }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; color: var(--ink);
  background: light-dark(#f3f6fa, #0f1720); font: 16px/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
main {{ box-sizing: border-box; width: min(26rem, calc(100vw - 2rem)); padding: 2rem; background: var(--paper);
  border: 1px solid var(--line); border-radius: 12px; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.35rem; }} p {{ margin: 0 0 1.25rem; }}
label {{ display: block; font-weight: 600; margin-bottom: .35rem; }}
input, button {{ box-sizing: border-box; width: 100%; padding: .6rem .75rem; font: inherit; border-radius: 8px; }}
input {{ color: inherit; background: transparent; border: 1px solid light-dark(#7a8794, #7a8794); }}
button {{ margin-top: 1rem; color: var(--on-blue); background: var(--blue); border: 0; font-weight: 600; cursor: pointer; }}
.wrong {{ color: light-dark(#b42318, #ff9b8f); }}
</style></head>
<body><main><h1>AI Evaluator Agent</h1>
<p>This server asks for its token. Its owner set it as <code>EVALUATOR_API_TOKEN</code>.</p>{problem}
<form method="post" action="{action}"><input type="hidden" name="next" value="{target}">
<label for="token">Token</label>
<input id="token" name="token" type="password" required autofocus autocomplete="current-password">
<button>Sign in</button></form></main></body></html>
"""


class SignIn:
    """Who may see the pages."""

    def __init__(self, token: Secret) -> None:
        """The cookie is signed with the token: another token ends every session, and all processes know it alike."""
        self._token = token
        self._signer = TimestampSigner(token.reveal(), salt="evaluator-pages", digest_method=hashlib.sha256)

    def matches(self, given: str) -> bool:
        """Whether this is the token; the time it takes tells nothing about it."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.reveal().encode())

    def is_signed_in(self, cookie_header: str) -> bool:
        """Whether a request's cookies hold a session of ours."""
        try:
            cookie = SimpleCookie(cookie_header).get(COOKIE)
            return cookie is not None and self._signer.unsign(cookie.value, max_age=_SECONDS) == b"in"
        except (BadSignature, CookieError):
            return False

    def form(self, target: str, *, wrong: bool = False) -> Response:
        """The page that asks for the token, and leads to ``target`` afterwards."""
        problem = '<p class="wrong" role="alert">That is not the token. Try again.</p>' if wrong else ""
        text = _PAGE.format(problem=problem, action=PATH, target=html.escape(_local(target), quote=True))
        return HTMLResponse(text, status_code=401, headers={"Cache-Control": "no-store"})

    async def answer(self, request: Request) -> Response:
        """What comes after the form was sent."""
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_FORM:
                return self.form("/", wrong=True)
        fields = parse_qs(body.decode("utf-8", "replace"))
        target = _local(fields.get("next", ["/"])[0])
        if not self.matches(fields.get("token", [""])[0].strip()):
            return self.form(target, wrong=True)
        answer = RedirectResponse(target, status_code=303)
        secure = request.url.scheme == "https"
        answer.set_cookie(
            COOKIE, self._signer.sign(b"in").decode(), max_age=_SECONDS, httponly=True, samesite="lax", secure=secure
        )
        return answer


def sign_out() -> Response:
    """Forget the session."""
    answer = RedirectResponse("/", status_code=303)
    answer.delete_cookie(COOKIE)
    return answer


def _local(target: str) -> str:
    """The target when it lies on this server, else the first page."""
    plain = target.isprintable() and "\\" not in target
    return target if plain and target.startswith("/") and not target.startswith("//") else "/"
