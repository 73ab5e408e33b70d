"""How quick the pages are, measured in a real browser on real answers where there are some."""

from __future__ import annotations

import shutil
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.memory import functions_of
from evaluator_core import score
from evaluator_core.store import SUMMARY, Store
from evaluator_core.summary import HEADER, SummaryRow, format_row
from evaluator_core.types import Run, RunSettings
from tests.browser import chromium
from tests.browser.conftest import settle
from tests.served import Dashboard

ROWS = 20_000
REPETITIONS = 3


def main() -> None:
    print("Pages, in a browser; seconds from the click or the address to what was asked for, best of three\n")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        dashboard = Dashboard(Path(place))
        names = {count: _stored_run(Store(dashboard.results), count) for count in (100, 200)}
        with dashboard:
            _line("a click on the heatmap to the diff, N=100", 0.3, _click_to_diff(browser, dashboard, names[100]))
            for count, aim in ((100, 2.0), (200, 4.0)):
                _line(
                    f"a saved run of N={count}, ready",
                    aim,
                    _ready(browser, f"{dashboard.url}/?result={names[count]}", "Downloads"),
                )
        shutil.rmtree(dashboard.results)
        _long_history(dashboard.results)
        with Dashboard(Path(place)) as fresh:
            cold = _ready(browser, f"{fresh.url}/history", "Trends", times=1)
            _line(f"History with {ROWS:,} rows, cold", 5.0, cold)
            _line(f"History with {ROWS:,} rows, warm", 2.0, _ready(browser, f"{fresh.url}/history", "Trends"))
        browser.close()


def _line(what: str, aim: float, seconds: float) -> None:
    print(f"{what:<48}{seconds:>7.2f} s   aim {aim:g} s, {'reached' if seconds <= aim else 'missed'}")


def _stored_run(store: Store, count: int) -> str:
    answers = functions_of("real", count) or functions_of("generated", count) or []
    run = Run(datetime.now().astimezone(), "bench", "answers", f"{count} functions", RunSettings(count), score(answers))
    return store.save(run).name


def _ready(browser: Browser, url: str, last_heading: str, times: int = REPETITIONS) -> float:
    """Seconds until the last part of the page is there and a chart is drawn; with ``times=1`` in an empty browser."""
    best = float("inf")
    context = browser.new_context(viewport={"width": 1280, "height": 1000})
    if times > 1:
        context.new_page().goto(url)
    for _ in range(times):
        page = context.new_page()
        started = time.perf_counter()
        page.goto(url)
        page.get_by_role("heading", name=last_heading).wait_for()
        page.locator("[data-testid=stVegaLiteChart] canvas").first.wait_for()
        settle(page, milliseconds=0)
        best = min(best, time.perf_counter() - started)
        page.close()
    context.close()
    return best


def _click_to_diff(browser: Browser, dashboard: Dashboard, name: str) -> float:
    page: Page = browser.new_page(viewport={"width": 1280, "height": 1400})
    page.goto(f"{dashboard.url}/?result={name}")
    page.get_by_role("heading", name="Downloads").wait_for()
    chart = page.locator("[data-testid=stVegaLiteChart] canvas").first
    chart.scroll_into_view_if_needed()
    settle(page)
    box = chart.bounding_box()
    assert box is not None
    pair = page.locator(".st-key-pair")
    best = float("inf")
    for step in range(1, 6):
        before = pair.inner_text()
        # A hand moves to the cell first; without a move, a chart that was drawn anew does not see the click.
        place = box["x"] + box["width"] * (0.3 + 0.1 * step), box["y"] + box["height"] * 0.1 * step
        page.mouse.move(*place, steps=5)
        started = time.perf_counter()
        page.mouse.click(*place)
        page.wait_for_function("text => document.querySelector('.st-key-pair').innerText !== text", arg=before)
        best = min(best, time.perf_counter() - started)
        settle(page)
    page.context.close()
    return best


def _long_history(folder: Path) -> None:
    folder.mkdir(parents=True)
    start = datetime(2025, 1, 1)
    with (folder / SUMMARY).open("w", encoding="utf-8") as file:
        file.write(HEADER)
        for number in range(ROWS):
            moment = (start + timedelta(minutes=20 * number)).strftime("%Y-%m-%d_%H-%M-%S")
            value = round(60 + 30 * ((number * 37) % 100) / 100, 1)
            question = f"Write function number {number % 40}, and say nothing else."
            file.write(
                format_row(
                    SummaryRow(moment, f"model-{number % 5}", question, value, value, value, 5, f"results/eval_{moment}.json")
                )
            )
