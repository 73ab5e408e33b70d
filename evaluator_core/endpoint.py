"""One place that answers chat completions: its address, its key, and what to say when it does not answer."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import httpx2

from evaluator_core.address import form_problem
from evaluator_core.builtin_model import shared_model
from evaluator_core.errors import AuthenticationFailed, EndpointUnreachable, InvalidInput
from evaluator_core.secret import Secret

BUILTIN = "builtin"

_NO_KEY = "none"  # the openai package insists on some key; servers that want none ignore it


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A place that answers chat completions."""

    name: str
    """Its name in settings, in ``name/model`` and in stored runs."""
    base_url: str = ""
    """Its address up to ``/v1``; empty for the built-in model, whose address is known once it runs."""
    api_key_env: str | None = None
    """The environment variable that holds its key; ``None`` when it wants none."""
    models: tuple[str, ...] = ()
    """Models to offer without asking it."""
    concurrency: int = 8
    """Requests at a time that suit it."""
    about: str = ""
    """What it is, for a person."""
    given_key: Secret | None = field(default=None, repr=False)
    """A key that was given for this use only, in place of the environment's."""

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine: no proxy stands before it."""
        return self.name == BUILTIN or urlsplit(self.base_url).hostname in ("localhost", "127.0.0.1", "::1")

    def key(self) -> Secret | None:
        """The key to send, if there is one."""
        if self.given_key:
            return self.given_key
        value = os.environ.get(self.api_key_env) if self.api_key_env else None
        return Secret(value) if value and value.strip() else None

    def connect(self) -> tuple[str, Secret]:
        """Address and key for a request; starts the built-in model, and refuses to go on without a key that is needed."""
        if self.name == BUILTIN:
            address = shared_model().address()
            return address.base_url, Secret(address.key)
        key = self.key()
        if key is None and self.api_key_env:
            raise AuthenticationFailed(
                f"{self.name} needs a key: set the environment variable {self.api_key_env}, or choose the built-in model"
            )
        if key is not None and not key.fits_a_header:
            raise AuthenticationFailed(
                f"the key for {self.name} holds a blank, a line break or other characters than ASCII: {_where_the_key_is(self)}"
            )
        return self.base_url, key or Secret(_NO_KEY)

    def http_options(self, seconds: float) -> dict[str, Any]:
        """How requests travel there: no redirect takes the key elsewhere, and no proxy stands between this machine and itself."""
        return {"follow_redirects": False, "trust_env": not self.is_local, "timeout": seconds, "verify": _certificates()}


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates to trust, read once: reading them takes longer than all else that a request needs."""
    return httpx2.create_ssl_context()


def custom_endpoint(
    base_url: str, *, name: str = "", key: str | None = None, api_key_env: str | None = None, about: str = ""
) -> Endpoint:
    """An endpoint at an address: ``http(s)://host[:port]/v1``, also with ``/chat/completions`` behind it."""
    address = plain_address(base_url)
    if problem := form_problem(address):
        raise InvalidInput(f"address: {problem}")
    given = Secret(key) if key and key.strip() else None
    return Endpoint(name or urlsplit(address).netloc, address, api_key_env, about=about or address, given_key=given)


def plain_address(base_url: str) -> str:
    """An endpoint's address up to ``/v1``, however it was given."""
    return base_url.strip().rstrip("/").removesuffix("/chat/completions")


def unreachable(endpoint: Endpoint) -> EndpointUnreachable:
    """The error for an endpoint at whose address nothing answers."""
    return EndpointUnreachable(
        f"nothing answers at {endpoint.base_url or endpoint.name}: start the server there, or check the address and the network"
    )


def key_refused(endpoint: Endpoint) -> AuthenticationFailed:
    """The error for a key that the endpoint does not take; its own words may quote the key, and are not repeated."""
    if endpoint.key() is None and not endpoint.api_key_env:
        return AuthenticationFailed(
            f"{endpoint.name} wants a key, and none was given: set one up for {endpoint.base_url}, "
            "in OPENAI_BASE_URL and OPENAI_API_KEY or in the file of EVALUATOR_ENDPOINTS"
        )
    where = _where_the_key_is(endpoint)
    return AuthenticationFailed(f"{endpoint.name} refused the key: {where}, and whether the key may use this model")


def _where_the_key_is(endpoint: Endpoint) -> str:
    return f"check the environment variable {endpoint.api_key_env}" if endpoint.api_key_env else "check the key that was given"
