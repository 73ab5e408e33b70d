"""A small OpenID Connect provider on loopback: it knows one person, and signs her in without asking."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "evaluator", "client-secret"


class Provider:
    """Discovery, authorization, token and keys."""

    def __enter__(self) -> Provider:
        self._key = RSAKey.generate_key(2048, parameters={"kid": "1", "alg": "RS256", "use": "sig"})
        self.nonces: dict[str, str] = {}
        self.signed_in = 0
        outer = self

        class Handler(_Handler):
            provider = outer

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def keys(self) -> dict[str, Any]:
        return {"keys": [self._key.as_dict(private=False)]}

    def tokens(self, code: str) -> dict[str, Any]:
        now = int(time.time())
        claims = {"iss": self.url, "sub": "ada", "aud": CLIENT, "iat": now, "exp": now + 600, "email": "ada@example.org"}
        identity = jwt.encode({"alg": "RS256", "kid": "1"}, claims | {"nonce": self.nonces[code]}, self._key)
        self.signed_in += 1
        return {"access_token": "access", "token_type": "Bearer", "expires_in": 600, "id_token": identity}


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/.well-known/openid-configuration":
            self._send(self.provider.discovery())
        elif parts.path == "/keys":
            self._send(self.provider.keys())
        elif parts.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            code = f"code-{len(self.provider.nonces)}"
            self.provider.nonces[code] = query.get("nonce", "")
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}")
            self.end_headers()

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._send(self.provider.tokens(form["code"][0]))

    def _send(self, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
