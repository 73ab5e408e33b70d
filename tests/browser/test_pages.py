"""History and the other pages, in a real browser: from a row to its run, two visitors, both themes, no barrier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.runs import make_run
from tests.served import Dashboard

pytestmark = pytest.mark.xdist_group("pages")

PAGES = ["/", "/history", "/compare", "/guide"]


@pytest.fixture(scope="module")
def stored(dashboard: Dashboard) -> list[str]:
    """The names of a few runs in the dashboard's folder."""
    store = Store(dashboard.results)
    return [store.save(make_run(question=f"question {number}", model="stored-model")).name for number in range(3)]


def choose_rows(page: Page, dashboard: Dashboard, words: str, count: int) -> None:
    """Open the history, filter by words of the prompt, and tick the first rows."""
    page.goto(f"{dashboard.url}/history")
    settle(page)
    page.get_by_label("Prompt contains").fill(words)
    page.get_by_label("Prompt contains").press("Enter")
    expect(page.get_by_text(re.compile(r"^[13] of \d+ runs$"))).to_be_visible()
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.scroll_into_view_if_needed()
    for row in range(count):
        table.click(position={"x": 16, "y": 54 + 35 * row}, force=True)
        settle(page)


def test_from_a_row_of_the_history_to_its_run(page: Page, dashboard: Dashboard, stored: list[str]) -> None:
    choose_rows(page, dashboard, "question 1", 1)
    page.get_by_role("button", name="Open the chosen run").click()
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(page.get_by_label("Prompt", exact=True).or_(page.get_by_role("region", name="Prompt"))).to_contain_text("question 1")
    assert page.url.endswith(f"result={stored[1]}")


def test_an_empty_history_invites_to_the_first_run(browser: Browser, tmp_path: Path) -> None:
    with Dashboard(tmp_path) as empty:
        page = browser.new_page()
        page.goto(f"{empty.url}/history")
        page.get_by_role("button", name="Go to Evaluate").click()
        expect(page.get_by_role("button", name="Run")).to_be_visible()
        page.context.close()


def test_damaged_lines_are_counted_and_shown(browser: Browser, tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path)
    Store(dashboard.results).save(make_run(question="whole"))
    with (dashboard.results / "summary.csv").open("a") as file:
        file.write("<img src=x>,not a row\n")
    with dashboard:
        page = browser.new_page()
        page.goto(f"{dashboard.url}/history")
        expect(page.get_by_text("1 lines of summary.csv are damaged")).to_be_visible()
        expect(page.get_by_text("1 of 1 runs")).to_be_visible()
        page.context.close()


def test_two_visitors_have_forms_of_their_own_and_one_history(browser: Browser, dashboard: Dashboard, stored: list[str]) -> None:
    first, second = browser.new_page(), browser.new_page()
    for page, text in ((first, "from the first"), (second, "from the second")):
        page.goto(dashboard.url)
        settle(page)
        page.get_by_label("Prompt", exact=True).fill(text)
        page.get_by_label("Prompt", exact=True).blur()
        settle(page)
    expect(first.get_by_label("Prompt", exact=True)).to_have_value("from the first")
    expect(second.get_by_label("Prompt", exact=True)).to_have_value("from the second")
    for page in (first, second):
        page.goto(f"{dashboard.url}/history")
        expect(page.get_by_text(re.compile(r"of \d+ runs"))).to_be_visible()
        page.context.close()


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", [*PAGES, "/?result={0}", "/compare?runs={0},{1}"])
def test_no_serious_barrier_on_any_page(themed: Page, dashboard: Dashboard, stored: list[str], path: str) -> None:
    themed.goto(dashboard.url + path.format(*stored))
    settle(themed)
    themed.get_by_role("heading").first.wait_for()
    found = Axe().run(themed).response["violations"]
    serious = {
        (violation["id"], node["html"][:160])
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    }
    assert serious == set()


@pytest.mark.parametrize("path", [*PAGES, "/?result={0}", "/compare?runs={0},{1}"])
def test_nothing_is_cut_off_on_a_narrow_screen(browser: Browser, dashboard: Dashboard, stored: list[str], path: str) -> None:
    context = browser.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    page.goto(dashboard.url + path.format(*stored))
    settle(page)
    page.get_by_role("heading").first.wait_for()
    width = page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollWidth")
    assert width <= 400
    context.close()


def test_several_rows_of_the_history_are_compared(page: Page, dashboard: Dashboard, stored: list[str]) -> None:
    choose_rows(page, dashboard, "question", 2)
    page.get_by_role("button", name="Compare the chosen runs").click()
    expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="The three numbers")).to_be_visible()
    expect(page.get_by_text("Two runs against each other")).to_be_visible()
