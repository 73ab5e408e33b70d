"""The entry: ``streamlit run app.py`` serves the pages and the routes on port 8000."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard import router, server
from dashboard.words import say_error

ROUTER = Path(__file__).parent / "dashboard" / "router.py"

if get_script_run_ctx(suppress_warning=True) is not None:
    router.main()  # run as a script, as Streamlit's own test tool does
else:
    server.prepare()
    # The main script lies in a folder without pages/: beside one, a page opened by its address would run without it.
    app = st.App(
        ROUTER,
        lifespan=server.lifespan,
        routes=server.routes(),
        middleware=server.middleware(),
        on_script_error=say_error,
    )
