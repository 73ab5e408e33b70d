"""The pages, and the ways between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

_FOLDER = Path(__file__).parent.parent / "pages"


def pages() -> dict[str, Any]:
    """Every page by name, in the order of the navigation."""
    return {
        "evaluate": st.Page(_FOLDER / "evaluate.py", title="Evaluate", icon=":material/science:", default=True),
        "history": st.Page(_FOLDER / "history.py", title="History", icon=":material/timeline:"),
        "compare": st.Page(_FOLDER / "compare.py", title="Compare", icon=":material/compare_arrows:"),
        "guide": st.Page(_FOLDER / "guide.py", title="Guide", icon=":material/menu_book:"),
    }


def go_to(name: str, **address: str) -> NoReturn:
    """Leave for another page, with these words in its address."""
    st.switch_page(pages()[name], query_params=address)
