"""From typing to a result, in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.model_server import ANSWERS, KEY, Answer, ModelServer, completion, replay
from tests.served import Dashboard

pytestmark = pytest.mark.xdist_group("browser")


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
    page.get_by_role("button", name="Run").click()


def wait_for_result(page: Page) -> str:
    """Wait for the result's view; the name in the address."""
    expect(page.get_by_role("heading", name="Result")).to_be_visible()
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    settle(page)
    return page.url.partition("result=")[2]


def download(page: Page, label: str) -> bytes:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(label)}$")).click()
    return Path(waiting.value.path()).read_bytes()


def test_a_run_from_typing_to_every_download(page: Page, dashboard: Dashboard, browser: Browser, tmp_path: Path) -> None:
    start_run(page, dashboard)
    name = wait_for_result(page)
    run = Store(dashboard.results).load(name)
    metrics = run.score.metrics
    cards = page.locator(".st-key-cards")
    for value in (metrics.agreement_percent, metrics.confidence_percent, metrics.normalized_confidence_percent):
        expect(cards).to_contain_text(f"{value:.1f} %")
    expect(page.get_by_text("Consistency is not correctness")).to_be_visible()

    stored = json.loads(download(page, "JSON"))
    assert stored["confidence_percent"] == metrics.confidence_percent
    assert len(list(csv.DictReader(io.StringIO(download(page, "Pairs (CSV)").decode())))) == 6
    (row,) = csv.DictReader(io.StringIO(download(page, "Summary row (CSV)").decode()))
    assert float(row["confidence_percent"]) == metrics.confidence_percent
    with zipfile.ZipFile(io.BytesIO(download(page, "Answers (zip)"))) as archive:
        assert archive.read("sample_00.py").decode().strip() == run.score.samples[0].code

    report = tmp_path / "report.html"
    report.write_bytes(download(page, "Report (HTML)"))
    offline = browser.new_context(offline=True).new_page()
    asked: list[str] = []
    offline.on("request", lambda request: asked.append(request.url))
    offline.goto(report.as_uri())
    assert f"{metrics.confidence_percent:.1f}" in offline.locator("body").inner_text()
    assert asked == [report.as_uri()]
    offline.context.close()


def test_the_built_in_model_needs_no_key(page: Page, dashboard: Dashboard) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_role("spinbutton", name="Answers").fill("2")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("spinbutton", name="Max tokens").fill("24")
    page.get_by_role("spinbutton", name="Max tokens").press("Tab")
    settle(page)
    page.get_by_role("button", name="Run").click()
    page.get_by_role("heading", name="Result").wait_for(timeout=120_000)
    wait_for_result(page)
    expect(page.get_by_text("smollm2-135m").first).to_be_visible()


def test_a_click_on_a_cell_opens_that_pair_and_the_lists_do_the_same(page: Page, dashboard: Dashboard) -> None:
    start_run(page, dashboard)
    run = Store(dashboard.results).load(wait_for_result(page))
    chart = page.locator("[data-testid=stVegaLiteChart] canvas").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    pair = page.locator(".st-key-pair")
    # The lowest row is the last answer; its cells run along the bottom of the square.
    cells = json.loads(
        page.evaluate(
            """() => { const el = document.querySelector('[data-testid=stVegaLiteChart] canvas');
            const r = el.getBoundingClientRect(); return JSON.stringify({w: r.width, h: r.height}); }"""
        )
    )
    page.mouse.click(box["x"] + cells["w"] * 0.9, box["y"] + cells["h"] * 0.05)
    expect(pair.get_by_role("combobox", name="Second answer")).to_have_value("Answer 4")
    expect(pair.get_by_role("combobox", name="First answer")).to_have_value("Answer 1")
    expect(pair).to_contain_text(f"{run.score.hybrid[0, 3]:.3f}")

    second = pair.get_by_role("combobox", name="Second answer")
    second.focus()
    second.press("ArrowDown")
    page.get_by_role("option", name="Answer 3").click()
    expect(pair).to_contain_text(f"{run.score.hybrid[0, 2]:.3f}")


def test_the_threshold_changes_agreement_without_asking_again(page: Page, dashboard: Dashboard, server: ModelServer) -> None:
    start_run(page, dashboard)
    wait_for_result(page)
    asked = len(server.requests)
    slider = page.get_by_role("slider", name="Threshold")
    slider.focus()
    for _ in range(85):
        slider.press("ArrowLeft")
    expect(page.get_by_text("At 0.00, agreement is 100.0 %")).to_be_visible()
    assert len(server.requests) == asked == 4


def test_a_run_survives_a_refresh_and_another_page(page: Page, dashboard: Dashboard, server: ModelServer) -> None:
    server.latency = 1.5
    start_run(page, dashboard, answers=12)
    expect(page.get_by_text("to come")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Run")).to_be_visible()
    page.get_by_role("link", name="Guide").click()
    expect(page.get_by_role("heading", name="What is measured")).to_be_visible()
    page.go_back()
    wait_for_result(page)
    assert len(server.requests) == 12


def test_cancel_keeps_what_arrived_and_it_can_go_on(page: Page, dashboard: Dashboard, server: ModelServer) -> None:
    held: list[bool] = [True]

    def script(number: int, body: dict[str, Any]) -> Answer:
        return Answer(b"", hang=True) if number >= 3 and held[0] else replay(number, body)

    server.script = script
    start_run(page, dashboard, answers=6)
    expect(page.get_by_text("3 arrived, 0 failed, 3 to come")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled with 3 of 6 answers")).to_be_visible()
    held[0] = False
    before = len(server.requests)
    page.get_by_role("button", name="Go on: ask for the other 3").click()
    wait_for_result(page)
    assert len(server.requests) == before + 3


def test_what_is_wrong_with_the_form_is_said_in_words(page: Page, dashboard: Dashboard) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_label("Prompt", exact=True).fill("   ")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("alert").filter(has_text="prompt")).to_be_visible()
    page.goto(f"{dashboard.url}/?result=../../etc/passwd")
    expect(page.get_by_role("alert").filter(has_text="there is no result")).to_be_visible()
    page.goto(f"{dashboard.url}/?job=nobody")
    expect(page.get_by_role("alert").filter(has_text="there is no job")).to_be_visible()


HOSTILE = (
    "<script>document.title='owned'</script><img src=http://203.0.113.9/x.png onerror=\"document.title='owned'\">\n"
    "![](http://203.0.113.9/pixel.png) [click](javascript:alert(1)) </code></pre> \x1b[31m \u202edesrever\n"
)


def test_hostile_answers_do_nothing(page: Page, dashboard: Dashboard, server: ModelServer) -> None:
    code = f'def f():\n    return """{HOSTILE}"""\n'
    replies = [
        f"{HOSTILE}\n```python\n{code}```",
        f"```python\n{code}# more\n```",
        f"```python\n{ANSWERS[3]}\n```\n" + "x" * 200_000,
    ]
    server.script = lambda number, body: completion(replies[number % len(replies)])
    start_run(page, dashboard, answers=3, prompt=HOSTILE)
    wait_for_result(page)
    page.get_by_text("Answer 1 ·").click()
    page.get_by_text("Whole reply and conversation").first.click()
    settle(page)
    page.get_by_role("link", name="History").click()
    settle(page)
    assert page.title() != "owned"
    # That nothing was fetched from outside, the page's fixture checks.


def test_a_run_that_a_crash_of_the_server_cut_short_can_go_on(browser: Browser, server: ModelServer, tmp_path: Path) -> None:
    held: list[bool] = [True]

    def script(number: int, body: dict[str, Any]) -> Answer:
        return Answer(b"", hang=True) if number >= 2 and held[0] else replay(number, body)

    server.script = script
    dashboard = Dashboard(tmp_path, OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=KEY)
    page = browser.new_page()
    with dashboard:
        start_run(page, dashboard, answers=5)
        expect(page.get_by_text("2 arrived, 0 failed, 3 to come")).to_be_visible()
        dashboard.process.kill()
        dashboard.process.wait()
        held[0] = False
        dashboard.start()
        page.goto(dashboard.url)
        expect(page.get_by_text("2 of 5 answers")).to_be_visible()
        before = len(server.requests)
        page.get_by_role("button", name="Go on: ask for the other 3").click()
        wait_for_result(page)
        assert len(server.requests) == before + 3
        page.context.close()


def test_another_address_is_tried_and_used_with_a_key_for_this_session(
    page: Page, dashboard: Dashboard, server: ModelServer
) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_role("combobox", name="Model from").click()
    page.get_by_role("option", name="Another address").click()
    page.get_by_label("Address", exact=True).fill("http://127.0.0.1:1/v1")
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_role("alert").filter(has_text="nothing answers at")).to_be_visible()
    page.get_by_label("Address", exact=True).fill(server.base_url)
    page.get_by_label("Key", exact=True).click()
    page.keyboard.type(KEY)
    page.get_by_label("Model", exact=True).click()
    settle(page)
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("It answers, and lists 3 models.")).to_be_visible()
    page.get_by_role("combobox", name="Its models").click()
    page.get_by_role("option", name="replayed-large").click()
    expect(page.get_by_label("Model", exact=True)).to_have_value("replayed-large")
    settle(page)
    page.get_by_role("button", name="Run").click()
    name = wait_for_result(page)
    assert KEY not in (dashboard.results / name).read_text()
    assert server.requests[-1]["model"] == "replayed-large"


def test_the_form_shows_its_defaults_however_the_page_is_drawn(browser: Browser, dashboard: Dashboard) -> None:
    """A page that is drawn twice at the start once showed 2 answers instead of 5, in about every third browser."""
    for theme in ("light", "dark") * 4:
        context = browser.new_context(color_scheme="dark" if theme == "dark" else "light")
        page = context.new_page()
        page.goto(dashboard.url)
        settle(page)
        expect(page.get_by_role("spinbutton", name="Answers")).to_have_value("5")
        expect(page.get_by_label("Prompt", exact=True)).not_to_be_empty()
        context.close()
