"""Who may see the pages: by the server's token, and by an OpenID Connect provider; in a real browser, in fresh processes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, expect

from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.browser.steps import serious_barriers
from tests.oidc_provider import CLIENT, SECRET, Provider
from tests.runs import make_run
from tests.served import ROOT, Dashboard

pytestmark = pytest.mark.slow

TOKEN = "open-sesame-42"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_token_opens_the_page_that_was_asked_for(browser: Browser, tmp_path: Path, theme: str) -> None:
    with Dashboard(tmp_path, EVALUATOR_API_TOKEN=TOKEN) as dashboard:
        Store(dashboard.results).save(make_run(question="behind the door"))
        context = browser.new_context(color_scheme="dark" if theme == "dark" else "light", viewport={"width": 400, "height": 800})
        page = context.new_page()
        page.goto(f"{dashboard.url}/history")  # the first that this process hears of
        expect(page.get_by_label("Token")).to_be_focused()
        assert serious_barriers(page) == set()
        assert "behind the door" not in page.content()
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not the token")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="History")).to_be_visible()
        expect(page.get_by_text("1 of 1 runs")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="History")).to_be_visible()
        page.get_by_role("link", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        context.close()


def test_an_open_server_warns_on_every_page_and_offers_no_other_address(browser: Browser, tmp_path: Path) -> None:
    with Dashboard(tmp_path, EVALUATOR_ALLOWED_HOSTS="127.0.0.1,evaluator.example") as dashboard:
        page = browser.new_page()
        page.goto(f"{dashboard.url}/guide")
        expect(page.get_by_text("Anyone who can reach this server can use it")).to_be_visible()
        page.goto(dashboard.url)
        expect(page.get_by_text("Anyone who can reach this server can use it")).to_be_visible()
        page.get_by_role("combobox", name="Model from").click()
        expect(page.get_by_role("option", name="Built-in")).to_be_visible()
        expect(page.get_by_role("option", name="Another address")).to_have_count(0)
        expect(page.get_by_role("option", name="ollama")).to_have_count(0)
        page.context.close()


def test_a_provider_signs_in(browser: Browser, tmp_path: Path) -> None:
    """Streamlit reads its secrets beside the program: this one runs on a copy of it."""
    program = tmp_path / "program"
    for folder in ("evaluator_core", "dashboard", "pages", ".streamlit"):
        shutil.copytree(ROOT / folder, program / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", program)
    with Provider() as provider:
        dashboard = Dashboard(tmp_path)
        dashboard.program = program
        (program / ".streamlit" / "secrets.toml").write_text(
            f'[auth]\nredirect_uri = "{dashboard.url}/oauth2callback"\ncookie_secret = "{"c" * 40}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
            f'server_metadata_url = "{provider.url}/.well-known/openid-configuration"\n'
        )
        with dashboard:
            Store(dashboard.results).save(make_run(question="behind the door"))
            page = browser.new_page()
            page.goto(f"{dashboard.url}/history")
            settle(page)
            assert "behind the door" not in page.content()
            expect(page.get_by_role("heading", name="History")).to_have_count(0)
            # Whoever guards the pages does not mean to leave the routes open beside them.
            assert requests.get(f"{dashboard.url}/results", timeout=30).status_code == 401
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
            assert provider.signed_in == 1
            page.goto(f"{dashboard.url}/history")
            expect(page.get_by_role("heading", name="History")).to_be_visible()
            page.context.close()
