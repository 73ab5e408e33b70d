"""The server under load: fifty clients evaluate at once, and a visitor opens a page meanwhile."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import psutil
import requests
from playwright.sync_api import Browser, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from evaluator_core.store import Store
from tests.browser import chromium
from tests.browser.conftest import settle
from tests.model_server import KEY, ModelServer
from tests.runs import make_run
from tests.served import Dashboard, run_clients

CLIENTS, EACH, ROUNDS = 50, 4, 3


def main() -> None:
    print(f"The server: {ROUNDS} times {CLIENTS} clients x {EACH} evaluations of N=5 on a replaying model, and one visitor\n")
    settings = {"EVALUATOR_RUNS_WAITING": "500", "EVALUATOR_REQUESTS_PER_MINUTE": "1000000", "EVALUATOR_MODEL": "openai/replayed"}
    with tempfile.TemporaryDirectory() as place, ModelServer(latency=0.2) as models, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        settings |= {"OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": KEY}
        with Dashboard(Path(place), **settings) as dashboard:
            Store(dashboard.results).save(make_run())
            process = psutil.Process(dashboard.process.pid)
            _guide(browser, dashboard)
            _served(dashboard, "history")  # the first visitor waits for what only this page imports
            calm = min(_guide(browser, dashboard) for _ in range(3))
            for number in range(1, ROUNDS + 1):
                started = time.perf_counter()
                clients = run_clients(dashboard.url, CLIENTS, EACH)
                waits, served = [], []
                while not all(client.done() for client in clients):
                    waits.append(_guide(browser, dashboard))
                    served += [_served(dashboard, page) for page in ("guide", "history", "")]
                answers = sum(len(client.result()) for client in clients)
                seconds = time.perf_counter() - started
                memory = process.memory_info().rss / 1e6
                print(
                    f"round {number}: {answers} answers in {seconds:.1f} s; the Guide in {sorted(waits)[len(waits) // 2]:.2f} s, "
                    f"{max(waits):.2f} s at worst, {calm:.2f} s without load; of a page, the server's part in "
                    f"{sorted(served)[len(served) // 2]:.2f} s, {max(served):.2f} s at worst; memory {memory:.0f} MB"
                )
            rows = Store(dashboard.results).summary()
            print(f"{len(rows.rows)} rows, {len(rows.damaged)} damaged")
        browser.close()


def _guide(browser: Browser, dashboard: Dashboard) -> float:
    """Seconds until the page is drawn, in a browser that has the program's files but no session."""
    page = browser.contexts[0].new_page() if browser.contexts else browser.new_context().new_page()
    started = time.perf_counter()
    page.goto(f"{dashboard.url}/guide")
    page.get_by_role("heading", name="From a terminal or a script").wait_for()
    settle(page, milliseconds=0)
    seconds = time.perf_counter() - started
    page.close()
    return seconds


def _served(dashboard: Dashboard, page: str) -> float:
    """Seconds until the server has sent all of a page: without a browser, which draws on the same cores."""
    started = time.perf_counter()
    requests.get(f"{dashboard.url}/{page}", timeout=60)
    address = f"ws://127.0.0.1:{dashboard.port}/_stcore/stream"
    with connect(address, origin=Origin(dashboard.url), subprotocols=[Subprotocol("streamlit")], max_size=None) as session:
        ask, told = BackMsg(), ForwardMsg()
        ask.rerun_script.page_name = page
        session.send(ask.SerializeToString())
        while told.WhichOneof("type") != "script_finished":
            told.ParseFromString(bytes(session.recv(decode=False)))
    return time.perf_counter() - started
