"""The frame around every page: title, navigation, and what an error looks like."""

from __future__ import annotations

import streamlit as st

from dashboard.navigation import pages
from dashboard.runtime import settings, sign_in_providers
from dashboard.server import OPEN_TO_ALL
from dashboard.style import dress
from dashboard.words import notice
from evaluator_core.errors import EvaluatorError
from evaluator_core.sign_in import OUT_PATH


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="AI Evaluator Agent", page_icon="🎯", layout="wide")
    dress()
    providers = sign_in_providers()
    if providers and not st.user.is_logged_in:
        ask_to_sign_in(providers)
        return
    page = st.navigation(list(pages().values()), position="top")
    if settings().exposed and not settings().token and not providers:
        notice("warning", OPEN_TO_ALL)
    try:
        page.run()
    except EvaluatorError as error:
        notice("error", str(error))  # whatever a page does not handle itself is still said in words
    if providers:
        st.button("Sign out", on_click=st.logout, key="sign-out", type="tertiary")
    elif settings().token:
        st.html(f'<a href="{OUT_PATH}" target="_self">Sign out</a>')


def ask_to_sign_in(providers: tuple[str | None, ...]) -> None:
    """A button for each OpenID Connect provider, and nothing else: no page has run."""
    st.title("AI Evaluator Agent")
    st.markdown("Sign in to go on.")
    for provider in providers:
        label = "Sign in" if provider is None else f"Sign in with {provider}"
        st.button(label, on_click=st.login, args=[provider] if provider else [], key=f"sign-in-{provider}", type="primary")


if __name__ == "__main__":
    main()
