"""The frame around every page: title, navigation, and what an error looks like."""

from __future__ import annotations

import streamlit as st

from dashboard.navigation import pages
from dashboard.words import notice
from evaluator_core.errors import EvaluatorError

# Streamlit writes white on the primary colour, which is light in the dark theme. The browser itself tells the themes apart:
# the server hears of the theme only after the first drawing.
_INK = """<style>
[data-testid="stMultiSelect"] span[title], [data-testid="stBaseButton-primary"]:enabled { color: light-dark(#ffffff, #04101c); }
</style>"""


def main() -> None:
    """Show the page that the address names."""
    st.set_page_config(page_title="AI Evaluator Agent", page_icon="🎯", layout="wide")
    st.html(_INK)
    page = st.navigation(list(pages().values()), position="top")
    try:
        page.run()
    except EvaluatorError as error:
        notice("error", str(error))  # whatever a page does not handle itself is still said in words


if __name__ == "__main__":
    main()
