"""What a visitor does on the pages, in the tests of several of them."""

from __future__ import annotations

import re
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import settle
from tests.served import Dashboard


def choose_openai(page: Page) -> None:
    """Choose the replaying server's model in the form."""
    page.get_by_role("combobox", name="Model from").click()
    page.get_by_role("option", name="openai").click()
    model = page.get_by_role("combobox", name="Model", exact=True)
    model.fill("replayed")
    page.get_by_role("option", name="replayed").first.click()


def start_run(page: Page, dashboard: Dashboard, answers: int = 4, prompt: str = "Write is_palindrome(text).") -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_label("Prompt", exact=True).fill(prompt)
    choose_openai(page)
    page.get_by_role("spinbutton", name="Answers").fill(str(answers))
    page.get_by_role("spinbutton", name="Answers").press("Tab")
    settle(page)
    page.get_by_role("button", name="Run", exact=True).click()


def wait_for_result(page: Page) -> str:
    """Wait for the result's view; the name in the address."""
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    settle(page)
    return page.url.partition("result=")[2]


def serious_barriers(page: Page) -> set[tuple[str, str]]:
    """What axe calls serious or critical, with the element it is about."""
    return {
        (violation["id"], node["html"][:160])
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    }


def download(page: Page, label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(label)}$")).click()
    return Path(waiting.value.path()).read_bytes()
