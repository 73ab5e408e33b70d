"""The models one can ask: the built-in one, and any endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

import openai

from evaluator_core import builtin_model
from evaluator_core.endpoint import BUILTIN, Endpoint, custom_endpoint, key_refused, unreachable
from evaluator_core.endpoint_file import read_endpoints
from evaluator_core.errors import AuthenticationFailed, EndpointUnreachable, InvalidInput, ModelNotFound
from evaluator_core.machine import usable_cores
from evaluator_core.secret import redact
from evaluator_core.settings import default_model

_LIST_SECONDS = 10.0

_BUILTIN_SLOTS = builtin_model.choose_slots(usable_cores())
_PRESETS = (
    Endpoint(BUILTIN, models=(builtin_model.NAME,), concurrency=_BUILTIN_SLOTS, about=builtin_model.ABOUT),
    Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", about="OpenAI, or what OPENAI_BASE_URL names"),
    Endpoint("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", about="OpenRouter: models of many makers"),
    Endpoint("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", about="Anthropic's OpenAI-compatible endpoint"),
    Endpoint("ollama", "http://localhost:11434/v1", concurrency=2, about="Ollama on this machine"),
    Endpoint("lmstudio", "http://localhost:1234/v1", concurrency=2, about="LM Studio on this machine"),
    Endpoint("llamacpp", "http://localhost:8080/v1", concurrency=2, about="llama.cpp's server on this machine"),
    Endpoint("vllm", "http://localhost:8001/v1", about="vLLM on this machine, started with --port 8001: 8000 is the dashboard's"),
)


def endpoints(*, exposed: bool = False) -> dict[str, Endpoint]:
    """All endpoints by name: the presets, then those of ``EVALUATOR_ENDPOINTS``, which may replace a preset.

    A server that is ``exposed`` offers only what its owner set up: no server that may happen to run beside it.
    """
    known = {preset.name: preset for preset in _PRESETS if preset.api_key_env or preset.name == BUILTIN or not exposed}
    if base_url := os.environ.get("OPENAI_BASE_URL"):
        # A server of one's own behind OpenAI's variable often wants no key.
        key_env = "OPENAI_API_KEY" if os.environ.get("OPENAI_API_KEY") else None
        try:
            known["openai"] = custom_endpoint(base_url, name="openai", api_key_env=key_env, about=f"OPENAI_BASE_URL: {base_url}")
        except InvalidInput as error:
            raise InvalidInput(f"OPENAI_BASE_URL: {error}") from error
    if file := os.environ.get("EVALUATOR_ENDPOINTS"):
        known |= {endpoint.name: endpoint for endpoint in read_endpoints(Path(file))}
    return known


def resolve_model(model: str | None = None, endpoint: str | None = None, *, exposed: bool = False) -> tuple[Endpoint, str]:
    """The endpoint and the model's name there, from a name alone, ``endpoint/model``, or both given apart.

    Without either it is the model of ``EVALUATOR_MODEL``, else the built-in one. A name alone belongs to the endpoint that
    lists it, else to ``openai`` when that is set up.
    """
    known = endpoints(exposed=exposed)
    if endpoint:
        if endpoint not in known:
            raise InvalidInput(
                f"endpoint: {endpoint[:80]!r} is not known{_nearest(endpoint, known)}; there are {', '.join(known)}"
            )
        return known[endpoint], _model_of(known[endpoint], model)
    model = model or default_model()
    if not model:
        return known[BUILTIN], builtin_model.NAME
    if model in known:
        return known[model], _model_of(known[model], None)
    first, _, rest = model.partition("/")
    if rest and first in known:
        return known[first], _model_of(known[first], rest)
    for candidate in known.values():
        if model in candidate.models:
            return candidate, model
    if "OPENAI_BASE_URL" in os.environ or known["openai"].key():
        return known["openai"], model
    names = [*known, *(name for candidate in known.values() for name in candidate.models)]
    raise ModelNotFound(
        f"no endpoint lists the model {model[:80]!r}{_nearest(model, names)}; name it as endpoint/model "
        f"({', '.join(known)}), or set OPENAI_API_KEY to ask OpenAI for it"
    )


def _model_of(endpoint: Endpoint, model: str | None) -> str:
    if endpoint.name == BUILTIN and model not in (None, "", builtin_model.NAME):
        raise ModelNotFound(f"the built-in model is {builtin_model.NAME}; there is no {str(model)[:80]!r} beside it")
    if model:
        return model
    if endpoint.models:
        return endpoint.models[0]
    raise InvalidInput(f"model: name one of {endpoint.name}'s models, as {endpoint.name}/model")


def _nearest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), n=3, cutoff=0.5)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def list_models(endpoint: Endpoint) -> tuple[str, ...]:
    """The names of the endpoint's models, as it tells them now; for the built-in model without starting it."""
    if endpoint.name == BUILTIN:
        return endpoint.models
    base_url, key = endpoint.connect()
    try:
        http = openai.DefaultHttpxClient(**endpoint.http_options(_LIST_SECONDS))
        with openai.OpenAI(base_url=base_url, api_key=key.reveal(), max_retries=0, http_client=http) as client:
            return tuple(sorted(model.id for model in client.models.list()))
    except openai.APIConnectionError as error:
        raise unreachable(endpoint) from error
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        raise key_refused(endpoint) from error
    except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
        raise EndpointUnreachable(f"{endpoint.name} does not list its models: {redact(str(error), key)[:200]}") from error


def model_unknown(endpoint: Endpoint, model: str) -> ModelNotFound:
    """The error for a model that the endpoint does not have, with the nearest names that it does have."""
    try:
        names = list(list_models(endpoint))
    except (EndpointUnreachable, AuthenticationFailed):
        names = []
    shown = f"; it has {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
    if not names:
        shown = f", and lists none: check the name, and whether {endpoint.base_url} is the address up to /v1"
    return ModelNotFound(f"{endpoint.name} has no model {model[:80]!r}{_nearest(model, names)}{shown}")
