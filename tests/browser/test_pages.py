"""History and the other pages, in a real browser: from a row to its run, two visitors, both themes, no barrier."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from evaluator_core.metrics import LABELS
from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.browser.steps import choose_openai, download, serious_barriers, wait_for_result
from tests.model_server import ModelServer
from tests.runs import CREATED_AT, make_run
from tests.served import Dashboard

pytestmark = pytest.mark.slow

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
        expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
        page.context.close()


def test_damaged_lines_are_counted_and_shown(browser: Browser, tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path)
    Store(dashboard.results).save(make_run(question="whole"))
    with (dashboard.results / "summary.csv").open("a") as file:
        file.write("<img src=x>,not a row\n")
    with dashboard:
        page = browser.new_page()
        page.goto(f"{dashboard.url}/history")
        expect(page.get_by_text("1 line of summary.csv is damaged")).to_be_visible()
        expect(page.get_by_text("1 of 1 runs")).to_be_visible()
        page.context.close()


def test_two_visitors_have_forms_of_their_own_and_one_history(
    browser: Browser, dashboard: Dashboard, server: ModelServer
) -> None:
    first, second = (browser.new_context(viewport={"width": 1280, "height": 1000}).new_page() for _ in range(2))
    visitors = ((first, "visit of the first"), (second, "visit of the second"))
    for page, prompt in visitors:
        page.goto(dashboard.url)
        settle(page)
        page.get_by_label("Prompt", exact=True).fill(prompt)
        page.get_by_label("Prompt", exact=True).blur()
        settle(page)
    for page, prompt in visitors:
        expect(page.get_by_label("Prompt", exact=True)).to_have_value(prompt)
        choose_openai(page)
        settle(page)
        page.get_by_role("button", name="Run", exact=True).click()
    for page, prompt in visitors:
        wait_for_result(page)
        expect(page.get_by_role("region", name="Prompt")).to_have_text(prompt)
    for page, _ in visitors:
        page.goto(f"{dashboard.url}/history")
        page.get_by_label("Prompt contains").fill("visit of the")
        page.get_by_label("Prompt contains").press("Enter")
        expect(page.get_by_text(re.compile(r"^2 of \d+ runs$"))).to_be_visible()
        page.context.close()


def test_days_filter_the_history_and_what_is_shown_can_be_downloaded(browser: Browser, tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path)
    store = Store(dashboard.results)
    for days in range(5):
        store.save(make_run(question=f"day {days}", created_at=CREATED_AT + timedelta(days=days)))
    with dashboard:
        page = browser.new_context(viewport={"width": 1280, "height": 1000}).new_page()
        page.goto(f"{dashboard.url}/history")
        settle(page)
        for label, day in (("From", 19), ("To", 21)):
            page.get_by_label(label, exact=True).locator("[contenteditable]").first.click()
            page.keyboard.type(f"202509{day}")
            page.keyboard.press("Escape")
            settle(page)
        expect(page.get_by_text("3 of 5 runs")).to_be_visible()
        rows = list(csv.DictReader(io.StringIO(download(page, "Download what is shown (CSV)").decode())))
        assert sorted(row["question"] for row in rows) == ["day 1", "day 2", "day 3"]
        page.context.close()


def test_a_click_on_a_point_of_a_trend_opens_its_run_and_back_leads_back(
    page: Page, dashboard: Dashboard, stored: list[str]
) -> None:
    page.goto(f"{dashboard.url}/history")
    settle(page)
    page.get_by_label("Prompt contains").fill("question 1")
    page.get_by_label("Prompt contains").press("Enter")
    expect(page.get_by_text(re.compile(r"^1 of \d+ runs$"))).to_be_visible()
    settle(page)
    chart = page.locator("[data-testid=stVegaLiteChart] canvas").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    x, y, middle = box["x"], box["y"], int(box["width"] / 2)
    places = ((x + across, y + down) for down in range(60, 130, 4) for across in range(middle - 60, middle + 60, 4))
    for place in places:  # there is one point, in the middle; the hand shows when the mouse is on it
        page.mouse.move(*place)
        if chart.evaluate("canvas => getComputedStyle(canvas).cursor") == "pointer":
            page.mouse.click(*place)
            break
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    assert page.url.endswith(f"result={stored[1]}")
    page.go_back()
    expect(page.get_by_role("heading", name="Trends")).to_be_visible()
    settle(page)
    expect(page.get_by_role("heading", name="Trends")).to_be_visible()


def test_a_stored_run_of_one_answer_is_shown_without_numbers(page: Page, dashboard: Dashboard, stored: list[str]) -> None:
    written = json.loads((dashboard.results / stored[0]).read_text())
    for name in ("outputs", "conversation_history"):
        written[name] = written[name][:1]
    alone = written | {"pairwise": [], "n_samples": 1, **dict.fromkeys(LABELS)}
    (dashboard.results / "eval_2024-01-01_00-00-00.json").write_text(json.dumps(alone))
    page.goto(f"{dashboard.url}/?result=eval_2024-01-01_00-00-00.json")
    expect(page.get_by_text("nothing to compare with fewer than two answers")).to_be_visible()
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_replies_without_code_are_not_called_the_same_code(page: Page, dashboard: Dashboard) -> None:
    name = Store(dashboard.results).save(make_run(["I would rather not."] * 2, question="refused", model="stored-model")).name
    page.goto(f"{dashboard.url}/?result={name}")
    expect(page.locator(".st-key-pair")).to_contain_text("Neither reply holds code")


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(color_scheme=request.param, viewport={"width": 1280, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("path", [*PAGES, "/?result={0}", "/compare?runs={0},{1}", "/?job=nobody"])
def test_no_serious_barrier_on_any_page(themed: Page, dashboard: Dashboard, stored: list[str], path: str) -> None:
    themed.goto(dashboard.url + path.format(*stored))
    settle(themed)
    themed.get_by_role("heading").first.wait_for()
    assert serious_barriers(themed) == set()


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


def test_the_two_latest_runs_are_a_click_away(page: Page, dashboard: Dashboard, stored: list[str]) -> None:
    page.goto(f"{dashboard.url}/compare")
    page.get_by_role("button", name="Take the two latest runs").click()
    expect(page.get_by_role("heading", name="The three numbers")).to_be_visible()
    assert page.url.count("eval_") == 2


def test_several_rows_of_the_history_are_compared(page: Page, dashboard: Dashboard, stored: list[str]) -> None:
    choose_rows(page, dashboard, "question", 2)
    page.get_by_role("button", name="Compare the chosen runs").click()
    expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="The three numbers")).to_be_visible()
    expect(page.get_by_text("Two runs against each other")).to_be_visible()
