"""What the environment sets, read when it is needed, so that a test or a shell can change it.

``VARIABLES`` is the only list of these variables: the README follows it, and a test says so.
"""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path

from evaluator_core.errors import InvalidInput
from evaluator_core.secret import Secret

DEFAULT_RESULTS_DIR = "results"
DEFAULT_BEHAVIOUR_SECONDS = 600

VARIABLES: dict[str, str] = {
    "EVALUATOR_RESULTS_DIR": "where runs are stored",
    "EVALUATOR_CACHE_DIR": "where downloads such as the built-in model are kept",
    "EVALUATOR_ENDPOINTS": "a TOML file of more endpoints",
    "EVALUATOR_MODEL": "the model of requests that name none",
    "OPENAI_API_KEY": "OpenAI's key, as the openai package reads it",
    "OPENAI_BASE_URL": "another address than OpenAI's, as the openai package reads it",
    "OPENROUTER_API_KEY": "OpenRouter's key",
    "ANTHROPIC_API_KEY": "Anthropic's key",
    "EVALUATOR_API_TOKEN": "what the routes want as a bearer, and the pages at sign-in",
    "EVALUATOR_ALLOWED_HOSTS": "the names under which the server is reached, with commas between them",
    "EVALUATOR_MAX_BODY_BYTES": "longest body of a request",
    "EVALUATOR_MAX_SAMPLES": "most answers of one run",
    "EVALUATOR_MAX_TOKENS": "largest max_tokens of a run",
    "EVALUATOR_RUNS_AT_ONCE": "runs at the same time",
    "EVALUATOR_RUNS_WAITING": "runs that may wait for their turn",
    "EVALUATOR_REQUESTS_PER_MINUTE": "requests to the routes that one client may make in a minute",
    "EVALUATOR_BEHAVIOUR_SECONDS": "longest time for running the answers of one run in the sandbox",
}
"""Every variable that the program reads, and what it is for."""


def results_dir() -> Path:
    """Where runs are stored: ``EVALUATOR_RESULTS_DIR``, or ``results`` in the current folder."""
    return Path(os.environ.get("EVALUATOR_RESULTS_DIR") or DEFAULT_RESULTS_DIR)


def default_model() -> str | None:
    """The model of requests that name none; ``None`` for the built-in one."""
    return os.environ.get("EVALUATOR_MODEL") or None


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the server guards itself, and how much it takes on."""

    token: Secret | None = None
    """What a client must show; ``None`` lets everybody in."""
    allowed_hosts: tuple[str, ...] = ()
    """The names under which the server is reached, in lower case; empty for any."""
    exposed: bool = False
    """Whether others than this machine's users can reach it."""
    max_body_bytes: int = 10_000_000
    """Longest body of a request."""
    max_samples: int = 500
    """Most answers of one run."""
    max_tokens: int = 32_768
    """Largest ``max_tokens`` of a run."""
    runs_at_once: int = 4
    """Runs at the same time."""
    runs_waiting: int = 100
    """Runs that may wait for their turn; the next one is refused."""
    requests_per_minute: int = 120
    """Requests to the routes that one client may make in a minute."""
    behaviour_seconds: int = DEFAULT_BEHAVIOUR_SECONDS
    """Longest time for running the answers of one run in the sandbox."""


_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
NUMBERS = {
    "EVALUATOR_MAX_BODY_BYTES": ("max_body_bytes", 1000),
    "EVALUATOR_MAX_SAMPLES": ("max_samples", 2),
    "EVALUATOR_MAX_TOKENS": ("max_tokens", 1),
    "EVALUATOR_RUNS_AT_ONCE": ("runs_at_once", 1),
    "EVALUATOR_RUNS_WAITING": ("runs_waiting", 0),
    "EVALUATOR_REQUESTS_PER_MINUTE": ("requests_per_minute", 1),
    "EVALUATOR_BEHAVIOUR_SECONDS": ("behaviour_seconds", 1),
}
"""The limits by variable: the field that each sets, and its least value."""


def server_settings(listen_address: str | None) -> ServerSettings:
    """The settings of a server that listens at an address; every variable that cannot be used is named in one error.

    A server is exposed when it listens beyond loopback, or when it is reached under a name that is not this machine's own:
    then a proxy stands before it.
    """
    problems, numbers = [], {}
    for variable, (field, _) in NUMBERS.items():
        try:
            number = _number(variable)
        except InvalidInput as error:
            problems.append(str(error))
            continue
        if number is not None:
            numbers[field] = number
    token = Secret(os.environ.get("EVALUATOR_API_TOKEN", ""))
    if token and not token.reveal().isascii():
        problems.append("EVALUATOR_API_TOKEN: it holds other characters than ASCII, which no header can carry")
    if problems:
        raise InvalidInput("; ".join(problems))
    names = os.environ.get("EVALUATOR_ALLOWED_HOSTS", "").split(",")
    hosts = tuple(name.strip().strip("[]").lower() for name in names if name.strip())
    beyond = not is_loopback(listen_address)
    return ServerSettings(
        token=token or None,
        allowed_hosts=hosts or (() if beyond else _LOOPBACK_NAMES),
        exposed=beyond or any(not is_loopback(name) for name in hosts),
        **numbers,
    )


def behaviour_seconds() -> int:
    """Longest time for running the answers of one run in the sandbox: a limit of the terminal and of the library, too."""
    return _number("EVALUATOR_BEHAVIOUR_SECONDS") or DEFAULT_BEHAVIOUR_SECONDS


def _number(variable: str) -> int | None:
    """The whole number that a variable sets; ``None`` when it is not set."""
    text, least = os.environ.get(variable, "").strip(), NUMBERS[variable][1]
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) < 13 and int(text) >= least:
        return int(text)
    raise InvalidInput(f"{variable}: {text[:40]!r} is not a whole number from {least} on")


def is_loopback(host: str | None) -> bool:
    """Whether a name or address means this machine alone."""
    if host is None:
        return False
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
