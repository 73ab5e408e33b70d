"""The form of the Evaluate page: what to ask, whom, how often, and how."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.gallery import GALLERY
from dashboard.runtime import settings
from dashboard.words import notice
from evaluator_core import builtin_model
from evaluator_core.endpoint import BUILTIN, Endpoint, custom_endpoint
from evaluator_core.endpoints import endpoints, list_models
from evaluator_core.errors import EvaluatorError
from evaluator_core.languages import AUTO, LANGUAGES, find_language
from evaluator_core.plan import DEFAULT_SYSTEM_PROMPT, MAX_SAMPLES, Plan, make_plan
from evaluator_core.types import DEFAULT_THRESHOLD

ANOTHER = "Another address …"

_DEFAULTS: dict[str, Any] = {
    "prompt": GALLERY[0].prompt,
    "endpoint": BUILTIN,
    "n_samples": 5,
    "threshold": DEFAULT_THRESHOLD,
    "temperature": 0.7,
    "max_tokens": None,
    "language": "python",
    "system_prompt": DEFAULT_SYSTEM_PROMPT,
    "seed": None,
    "concurrency": None,
    "behaviour": False,
    "address": "",
    "address_key": "",
    "address_model": "",
}


def ask_for_plan() -> Plan | None:
    """Draw the form; a plan when Run was pressed and everything in it is good."""
    # Kept apart from the widgets, what was typed survives a visit to another page. Each widget names its default besides: when
    # the page is drawn twice in quick succession, the browser may see the second drawing only, which has no other value to show.
    draft = st.session_state.setdefault("draft", dict(_DEFAULTS))
    for name, value in draft.items():
        st.session_state.setdefault(f"form-{name}", value)
    _gallery()
    st.text_area("Prompt", _DEFAULTS["prompt"], key="form-prompt", height=130, help="The same text is sent for every answer.")
    left, middle, right = st.columns([3, 1, 2])
    with left:
        model = _model()
        if answer := st.session_state.pop("connection", None):
            notice("info", answer)
    middle.number_input(
        "Answers",
        2,
        min(MAX_SAMPLES, settings().max_samples),
        _DEFAULTS["n_samples"],
        key="form-n_samples",
        help="How often to ask. Five give a first idea; twenty tell more.",
    )
    right.slider(
        "Threshold",
        0.0,
        1.0,
        _DEFAULTS["threshold"],
        step=0.01,
        key="form-threshold",
        help="From which similarity on two answers count as agreeing. It can be moved afterwards.",
    )
    st.toggle(
        "Run the answers, too",
        _DEFAULTS["behaviour"],
        key="form-behaviour",
        help="Python only: runs the programs on the same inputs in a sandbox, and groups them by what they return.",
    )
    with st.expander("More"):
        _more()
    pressed = st.button("Run", type="primary", icon=":material/play_arrow:", key="run")
    for name in draft:
        draft[name] = st.session_state[f"form-{name}"]
    if not pressed:
        return None
    values = {
        name: draft[name]
        for name in (
            "prompt",
            "n_samples",
            "threshold",
            "temperature",
            "max_tokens",
            "language",
            "system_prompt",
            "seed",
            "behaviour",
        )
    }
    if draft["concurrency"]:
        values["concurrency"] = draft["concurrency"]
    try:
        if draft["endpoint"] == ANOTHER:
            endpoint = custom_endpoint(draft["address"], key=draft["address_key"])
            return make_plan(values | {"model": model}, endpoint=endpoint, server=settings())
        return make_plan(values | {"model": model, "endpoint": draft["endpoint"]}, server=settings())
    except EvaluatorError as error:
        for problem in str(error).split("; "):
            notice("error", problem)
        return None


def _gallery() -> None:
    def take() -> None:
        chosen = next((ready for ready in GALLERY if ready.name == st.session_state["gallery"]), None)
        if chosen:
            st.session_state["form-prompt"], st.session_state["form-language"] = chosen.prompt, chosen.language

    st.pills("Ready prompts", [ready.name for ready in GALLERY], key="gallery", on_change=take)


def _model() -> str | None:
    """Draw the choice of endpoint and model; the model's name."""
    try:
        known = endpoints(exposed=settings().exposed)
    except EvaluatorError as error:
        notice("error", str(error))
        known = {}
    # Where others can reach the server, a visitor's address could lead anywhere in its network.
    choices = [*known] if settings().exposed else [*known, ANOTHER]
    if st.session_state["form-endpoint"] not in choices:
        st.session_state["form-endpoint"] = choices[0]
    name = st.selectbox(
        "Model from",
        choices,
        key="form-endpoint",
        format_func=lambda choice: _label(choice, known),
        help="Where the model runs: within this program, at an endpoint that was set up, or at another address.",
    )
    if name == ANOTHER:
        return _another_address()
    endpoint = known[name]
    if name == BUILTIN:
        st.caption(builtin_model.ABOUT)
        return builtin_model.NAME
    if endpoint.api_key_env and not endpoint.key():
        notice("warning", f"{name} needs a key: set the environment variable {endpoint.api_key_env} and start the server again.")
    listed = st.session_state.setdefault("listed", {})
    options = list(listed.get(name, endpoint.models))
    model = st.selectbox(
        "Model", options, key=f"model-{name}", index=None, accept_new_options=True, placeholder="Choose, or type a name"
    )
    if st.button("List its models", key=f"list-{name}", icon=":material/refresh:"):
        _try_listing(endpoint, name)
    return model


def _another_address() -> str:
    st.text_input(
        "Address",
        key="form-address",
        placeholder="http://localhost:11434/v1",
        help="Of any server that speaks OpenAI's chat completions, up to /v1.",
    )
    st.text_input(
        "Key", key="form-address_key", type="password", help="Kept in this browser session only, and sent to this address only."
    )
    options = list(st.session_state.setdefault("listed", {}).get(ANOTHER, ()))
    if options:
        st.selectbox("Its models", options, key="address_choice", index=None, on_change=_take_listed)
    st.text_input("Model", key="form-address_model")
    if st.button("Test connection", key="test-connection", icon=":material/cable:"):
        try:
            _try_listing(custom_endpoint(st.session_state["form-address"], key=st.session_state["form-address_key"]), ANOTHER)
        except EvaluatorError as error:
            notice("error", str(error))
    # Run may be pressed before the browser has heard that the choice filled in the name.
    return str(st.session_state["form-address_model"] or st.session_state.get("address_choice") or "")


def _take_listed() -> None:
    st.session_state["form-address_model"] = st.session_state["address_choice"] or ""


def _try_listing(endpoint: Endpoint, name: str) -> None:
    with st.spinner(f"Asking {endpoint.name} …"):
        try:
            models = list_models(endpoint)
        except EvaluatorError as error:
            notice("error", str(error))
            return
    st.session_state["listed"][name] = models
    st.session_state["connection"] = f"It answers, and lists {len(models)} models."
    st.rerun()


def _label(choice: str, known: dict[str, Endpoint]) -> str:
    if choice not in known:
        return choice
    endpoint = known[choice]
    if choice == BUILTIN:
        return f"Built-in: {builtin_model.NAME}, no key needed"
    missing = " (no key set)" if endpoint.api_key_env and not endpoint.key() else ""
    return f"{choice}{missing}"


def _more() -> None:
    one, two, three = st.columns(3)
    one.number_input(
        "Temperature",
        0.0,
        2.0,
        _DEFAULTS["temperature"],
        step=0.1,
        key="form-temperature",
        help="How freely the model chooses its words; 0 is the least.",
    )
    two.number_input(
        "Max tokens",
        1,
        settings().max_tokens,
        None,
        key="form-max_tokens",
        placeholder="the endpoint's own",
        help="The longest answer, in tokens: pieces of words, of about four characters each.",
    )
    languages = [AUTO, *(language.name for language in LANGUAGES)]
    three.selectbox(
        "Language",
        languages,
        languages.index(_DEFAULTS["language"]),
        key="form-language",
        format_func=_language_label,
        help="The language to read the answers as.",
    )
    four, five = st.columns(2)
    four.number_input(
        "Seed",
        0,
        2**31 - 1 - MAX_SAMPLES,
        None,
        key="form-seed",
        placeholder="none",
        help="Answer k is asked for with seed + k, where the endpoint takes seeds.",
    )
    five.number_input(
        "Requests at a time",
        1,
        256,
        None,
        key="form-concurrency",
        placeholder="the endpoint's own",
        help="How many answers are asked for at once. More is quicker, until the endpoint slows down or refuses.",
    )
    st.text_area(
        "System prompt",
        _DEFAULTS["system_prompt"],
        key="form-system_prompt",
        height=90,
        help="What the model is told before the prompt.",
    )


def _language_label(name: str) -> str:
    language = find_language(name)
    return language.label if language else "Tell from the answers"
