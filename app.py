"""The entry: ``streamlit run app.py`` serves the pages on port 8000."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import router
from dashboard.runtime import close_runtime

ROUTER = Path(__file__).parent / "dashboard" / "router.py"


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """End what runs in the background together with the server; its journals stay."""
    yield
    close_runtime()


if get_script_run_ctx(suppress_warning=True) is not None:
    router.main()  # run as a script, as Streamlit's own test tool does
else:
    # The main script lies in a folder without pages/: beside one, a page opened by its address would run without it.
    app = st.App(ROUTER, lifespan=lifespan)
