"""A dashboard in a process of its own, and a page of a real browser that watches what it fetches."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser import chromium
from tests.model_server import KEY, ModelServer, replay
from tests.served import Dashboard


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: Playwright keeps an event loop in this thread, which other tests would notice."""
    path = chromium.find()
    assert path, "no Chromium was found; install one with: python -m tests.browser.chromium"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(chromium.FLAGS))
        yield running
        running.close()


@pytest.fixture(scope="session")
def models() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Iterator[Dashboard]:
    """One dashboard for all tests, with the replaying server as the endpoint ``openai``."""
    with Dashboard(tmp_path_factory.mktemp("dashboard"), OPENAI_BASE_URL=models.base_url, OPENAI_API_KEY=KEY) as running:
        yield running


@pytest.fixture
def server(models: ModelServer) -> ModelServer:
    """The replaying server behind the dashboard, well-behaved at the start of each test."""
    models.script, models.latency = replay, 0.0
    models.requests.clear()
    return models


@pytest.fixture
def page(browser: Browser, dashboard: Dashboard, server: ModelServer) -> Iterator[Page]:
    """A page that has asked nobody but the dashboard when the test ends."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, accept_downloads=True)
    context.set_default_timeout(30_000)
    opened = context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    context.close()
    outside = [url for url in asked if not url.startswith((dashboard.url, dashboard.url.replace("http", "ws"), "data:", "blob:"))]
    assert outside == []


expect.set_options(timeout=30_000)  # machines are shared: what must come may come late

_CALM = """milliseconds => {
  const app = document.querySelector("[data-testid=stApp]");
  const calm = app && app.dataset.testConnectionState === "CONNECTED" && app.dataset.testScriptState === "notRunning"
    && !document.querySelector("[data-stale=true], [data-testid=stSkeleton]")
    && !document.getAnimations().some(one => one instanceof CSSTransition && one.playState === "running");
  if (!calm) { window.calmSince = undefined; return false; }
  window.calmSince ??= performance.now();
  return performance.now() - window.calmSince >= milliseconds;
}"""


def settle(page: Page, milliseconds: int = 200) -> None:
    """Wait until the page has been drawn and nothing runs. One calm moment is not enough: a rerun may be on its way."""
    page.evaluate("window.calmSince = undefined")  # the calm before the last click says nothing about what it set off
    page.wait_for_function(_CALM, arg=milliseconds)
