"""From typing to a result, in a real browser."""

from __future__ import annotations

import csv
import io
import json
import re
import threading
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from evaluator_core.insights import order_by_likeness
from evaluator_core.metrics import LABELS
from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.browser.steps import download, serious_barriers, start_run, wait_for_result
from tests.model_server import ANSWERS, KEY, Answer, ModelServer, completion, replay
from tests.runs import ALIKE, BUILTIN, CREATED_AT, LOOP, make_run
from tests.served import Dashboard

pytestmark = pytest.mark.slow


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
    (row,) = csv.DictReader(io.StringIO(download(page, "Summary row (CSV)").decode()))
    shown = [float(number) for number in re.findall(r"^([\d.]+) %$", cards.inner_text(), re.MULTILINE)]
    assert [stored[name] for name in LABELS] == [float(row[name]) for name in LABELS] == shown
    pairs = [*csv.DictReader(io.StringIO(download(page, "Pairs (CSV)").decode()))]
    assert [(int(pair["i"]), int(pair["j"])) for pair in pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for pair in pairs:
        assert float(pair["hybrid_similarity"]) == run.score.hybrid[int(pair["i"]), int(pair["j"])]
    with zipfile.ZipFile(io.BytesIO(download(page, "Answers (zip)"))) as archive:
        for number, sample in enumerate(run.score.samples):
            assert archive.read(f"sample_{number:02}.py").decode().strip() == sample.code

    report = tmp_path / "report.html"
    report.write_bytes(download(page, "Report (HTML)"))
    offline = browser.new_context(offline=True).new_page()
    asked: list[str] = []
    offline.on("request", lambda request: asked.append(request.url))
    offline.goto(report.as_uri())
    for value in shown:
        expect(offline.locator(".cards")).to_contain_text(f"{value:.1f} %")
    assert offline.locator("svg rect title").count() == 16
    assert run.score.samples[0].code.splitlines()[0] in offline.locator("article").first.inner_text()
    assert asked == [report.as_uri()]
    offline.context.close()


def test_a_first_run_with_the_built_in_model_from_typing_to_download(page: Page, dashboard: Dashboard) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_label("Prompt", exact=True).fill("Write a Python function that doubles a number.")
    page.get_by_role("spinbutton", name="Answers").fill("2")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("spinbutton", name="Max tokens").fill("24")
    page.get_by_role("spinbutton", name="Max tokens").press("Tab")
    settle(page)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="Result").wait_for(timeout=120_000)
    wait_for_result(page)
    expect(page.get_by_text("smollm2-135m").first).to_be_visible()
    stored = json.loads(download(page, "JSON"))
    assert (stored["model"], stored["question"]) == ("smollm2-135m", "Write a Python function that doubles a number.")
    assert len(stored["outputs"]) == 2


@pytest.mark.parametrize("grouped", [False, True])
def test_a_click_on_a_cell_opens_that_pair(page: Page, dashboard: Dashboard, grouped: bool) -> None:
    start_run(page, dashboard, answers=6)
    run = Store(dashboard.results).load(wait_for_result(page))
    chart = page.locator("[data-testid=stVegaLiteChart] canvas").first
    order: Sequence[int] = range(6)
    if grouped:
        order = order_by_likeness(run.score.hybrid)
        chart.evaluate("canvas => canvas.dataset.drawn = 'before'")
        page.get_by_role("radio", name="By likeness").click()
        expect(page.locator("canvas[data-drawn=before]")).to_have_count(0)  # another order is another canvas
        settle(page)
    chart.scroll_into_view_if_needed()
    pair, tooltip = page.locator(".st-key-pair"), page.locator("#vg-tooltip-element")
    opened: list[tuple[int, int]] = []
    for across, down in ((0.95, 0.05), (0.4, 0.5), (0.7, 0.3)):
        box = chart.bounding_box()
        assert box is not None
        place = box["x"] + across * box["width"], box["y"] + down * box["height"]
        page.mouse.move(place[0] - 2, place[1])
        page.mouse.move(*place)
        # The tooltip tells which cell is under the mouse.
        expect(tooltip).to_contain_text("Similarity")
        told = dict(re.findall(r"(First|Second)\D*(\d+)", tooltip.inner_text()))
        first, second = int(told["First"]), int(told["Second"])
        page.mouse.click(*place)
        expect(pair.get_by_role("combobox", name="First answer")).to_have_value(f"Answer {first}")
        expect(pair.get_by_role("combobox", name="Second answer")).to_have_value(f"Answer {second}")
        expect(pair).to_contain_text(f"hybrid {run.score.hybrid[first - 1, second - 1]:.3f}")
        settle(page)
        opened.append((first, second))
    assert len(set(opened)) == 3
    assert opened[0] == (order[0] + 1, order[-1] + 1)  # the corner at the top right


def test_a_pair_is_opened_by_keyboard_alone(page: Page, dashboard: Dashboard) -> None:
    start_run(page, dashboard)
    run = Store(dashboard.results).load(wait_for_result(page))
    pair = page.locator(".st-key-pair")
    for name, answer in (("First answer", "Answer 2"), ("Second answer", "Answer 3")):
        box = pair.get_by_role("combobox", name=name)
        for _ in range(100):
            page.keyboard.press("Tab")
            if box.evaluate("element => element === document.activeElement"):
                break
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Control+a")
        page.keyboard.type(answer)
        page.keyboard.press("Enter")
        expect(box).to_have_value(answer)
    expect(pair).to_contain_text(f"hybrid {run.score.hybrid[1, 2]:.3f}")
    expect(pair.get_by_role("columnheader", name="Answer 2").or_(pair.get_by_text("character by character"))).to_be_visible()


def test_the_change_since_the_last_run_of_the_same_prompt_is_shown(page: Page, dashboard: Dashboard) -> None:
    store = Store(dashboard.results)
    later = CREATED_AT + timedelta(hours=1)
    store.save(make_run((LOOP, BUILTIN, ALIKE), question="twice", model="m"))
    store.save(make_run((ALIKE, ALIKE, ALIKE), question="twice", model="another"))
    second = store.save(make_run((BUILTIN, ALIKE, ALIKE), question="twice", model="m", created_at=later)).name
    page.goto(f"{dashboard.url}/?result={second}")
    before, after = (make_run(texts).score.metrics for texts in ((LOOP, BUILTIN, ALIKE), (BUILTIN, ALIKE, ALIKE)))
    assert before.confidence_percent is not None
    assert after.confidence_percent is not None
    card = page.locator(".st-key-card-confidence_percent")
    expect(card).to_contain_text(f"{after.confidence_percent - before.confidence_percent:+.1f}")
    expect(card).to_contain_text("since the last run")


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
    assert serious_barriers(page) == set()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("cancelled with 3 of 6 answers")).to_be_visible()
    assert serious_barriers(page) == set()
    held[0] = False
    before = len(server.requests)
    page.get_by_role("button", name="Go on: ask for the other 3").click()
    wait_for_result(page)
    assert len(server.requests) == before + 3


def test_a_run_that_a_script_started_shows_its_progress_like_any_other(
    page: Page, dashboard: Dashboard, server: ModelServer
) -> None:
    opened = threading.Event()

    def script(number: int, body: dict[str, Any]) -> Answer:
        if number >= 3:
            opened.wait(60)
        return replay(number, body)

    server.script = script
    server.answered = 0
    body: dict[str, str | int] = {"prompt": "Asked by a script.", "model": "openai/replayed", "n_samples": 6}
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(requests.post, f"{dashboard.url}/evaluate", json=body, timeout=60)
        try:
            server.wait_for_answers(3)
            page.goto(dashboard.url)
            page.get_by_role("link", name="Asked by a script.").click()
            expect(page.get_by_text("3 arrived, 0 failed, 3 to come")).to_be_visible()
        finally:
            opened.set()
        assert asked.result().json()["saved_file"].endswith(wait_for_result(page))


def test_what_is_wrong_with_the_form_is_said_in_words(page: Page, dashboard: Dashboard) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_label("Prompt", exact=True).fill("   ")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="prompt")).to_be_visible()
    page.goto(f"{dashboard.url}/?result=../../etc/passwd")
    expect(page.get_by_role("alert").filter(has_text="there is no result")).to_be_visible()
    page.goto(f"{dashboard.url}/?job=nobody")
    expect(page.get_by_role("alert").filter(has_text="there is no job")).to_be_visible()


OWNED = "window.owned = true; document.title = 'owned'"
HOSTILE = (
    f'<script>{OWNED}</script><img src=http://203.0.113.9/x.png onerror="{OWNED}"><svg onload="{OWNED}">\n'
    "![](http://203.0.113.9/pixel.png) [click](javascript:alert(1)) </code></pre></textarea> \x1b[31m \u202edesrever\n"
)


def assert_contained(page: Page) -> None:
    """Nothing of the hostile text became more than text. That nothing was fetched, the page's fixture checks."""
    assert page.evaluate("window.owned") is None
    assert page.title() != "owned"
    assert page.locator("[src*='203.0.113.9'], [href*='203.0.113.9'], [href^='javascript'], [onerror], [onload]").count() == 0


def test_hostile_answers_do_nothing(page: Page, dashboard: Dashboard, server: ModelServer, tmp_path: Path) -> None:
    code = f'def f():\n    return """{HOSTILE}"""\n'
    replies = [
        f"{HOSTILE}\n```python\n{code}```",
        f"```python\n{code}# more\n```",
        f"```python\n{ANSWERS[3]}\n```\n" + "x" * 200_000,
    ]
    server.script = lambda number, body: completion(replies[number % len(replies)])
    names = []
    for _ in range(2):
        start_run(page, dashboard, answers=3, prompt=HOSTILE)
        names.append(wait_for_result(page))
        assert_contained(page)
    for number in (1, 3):
        page.get_by_text(f"Answer {number} ·").click()
        settle(page)
        page.get_by_text("Whole reply and conversation").last.click()
        settle(page)
    assert_contained(page)
    report = tmp_path / "report.html"
    report.write_bytes(download(page, "Report (HTML)"))
    for path in ("/", "/history", f"/compare?runs={','.join(names)}"):
        page.goto(dashboard.url + path)
        settle(page)
        assert_contained(page)
    page.get_by_role("link", name="Guide").click()
    expect(page.get_by_role("heading", name="What is measured")).to_be_visible()  # still usable
    opened = page.context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(report.as_uri())
    assert_contained(opened)
    assert asked == [report.as_uri()]


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
    page.get_by_role("button", name="Run", exact=True).click()
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
