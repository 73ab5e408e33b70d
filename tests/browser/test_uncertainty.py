"""How sure the numbers are, in a real browser: intervals, real differences, drift, and more answers on demand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from evaluator_core.statistics import needed_for
from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.browser.steps import serious_barriers, start_run, wait_for_result
from tests.model_server import ModelServer
from tests.runs import ALIKE, BUILTIN, CREATED_AT, LOOP, make_run
from tests.served import Dashboard

pytestmark = pytest.mark.slow

WHILE = "def add(v):\n    s, i = 0, 0\n    while i < len(v):\n        s = s + v[i]\n        i += 1\n    return s"
REDUCE = "from functools import reduce\ndef add(v):\n    return reduce(lambda a, b: a + b, v, 0)"
STEADY, MIXED = [BUILTIN, ALIKE] * 5, [LOOP, BUILTIN, WHILE, REDUCE, "class A:\n    pass"] * 2


def store_runs(dashboard: Dashboard, histories: Sequence[Sequence[str]], model: str, question: str = "Add.") -> list[str]:
    """A run a day of these answers; the names of their files."""
    store = Store(dashboard.results)
    return [
        store.save(make_run(texts, model=model, question=question, created_at=CREATED_AT + timedelta(days=day))).name
        for day, texts in enumerate(histories)
    ]


def test_each_card_has_its_interval_and_what_it_means(page: Page, dashboard: Dashboard) -> None:
    (name,) = store_runs(dashboard, [[LOOP, BUILTIN, ALIKE, WHILE, BUILTIN]], "card")
    page.goto(f"{dashboard.url}/?result={name}")
    settle(page)
    run = Store(dashboard.results).load(name)
    half_width, needed = needed_for(run.score, "confidence_percent", 5.0)
    intervals = page.locator(".st-key-cards .interval")
    expect(intervals).to_have_count(3)
    for text in intervals.all_inner_texts():
        assert re.fullmatch(r"95 % interval \d+\.\d to \d+\.\d", text.strip()), text
    assert "95 of 100 intervals" in str(intervals.first.get_attribute("title"))
    sentence = (
        f"Confidence is known to ± {half_width:.1f} points; about {needed:,} answers in all would bring it to ± 5 (projected)."
    )
    expect(page.get_by_text(sentence)).to_be_visible()
    expect(page.get_by_text("The chance that the next answer is a program not seen yet")).to_be_visible()


def test_three_answers_have_no_made_up_interval(page: Page, dashboard: Dashboard) -> None:
    (name,) = store_runs(dashboard, [[LOOP, BUILTIN, ALIKE]], "few")
    page.goto(f"{dashboard.url}/?result={name}")
    expect(page.locator(".st-key-cards .interval").first).to_have_text("Not enough samples for an interval.")
    expect(page.get_by_text("With 3 answers there are not enough samples for an interval")).to_be_visible()


def test_a_finished_run_is_asked_for_more_and_keeps_its_old_numbers(
    page: Page, dashboard: Dashboard, server: ModelServer
) -> None:
    start_run(page, dashboard, answers=4)
    name = wait_for_result(page)
    old = Store(dashboard.results).load(name)
    page.get_by_text("Ask for more answers").click()
    page.get_by_role("spinbutton", name="How many more").fill("3")
    page.get_by_role("spinbutton", name="How many more").press("Tab")
    settle(page)
    page.get_by_role("button", name="Ask for 3 more").click()
    expect(page.get_by_text("Before more answers were asked for")).to_be_visible()
    assert wait_for_result(page) == name
    expect(page.get_by_text("7 answers").first).to_be_visible()
    assert len(server.requests) == 7
    run = Store(dashboard.results).load(name)
    assert [(version.n_samples, version.metrics) for version in run.versions] == [(4, old.score.metrics)]
    assert serious_barriers(page) == set()


def test_sampling_until_it_is_known_stops_by_itself(page: Page, dashboard: Dashboard, server: ModelServer) -> None:
    start_run(page, dashboard, answers=4, prompt="Write is_palindrome(text) until it is known.")
    name = wait_for_result(page)
    page.get_by_text("Ask for more answers").click()
    for label, value in (("To ± points", "12"), ("With at most so many answers in all", "30")):
        page.get_by_role("spinbutton", name=label).fill(value)
        page.get_by_role("spinbutton", name=label).press("Tab")
        settle(page)
    page.get_by_role("button", name="Ask until it is known to ± 12").click()
    expect(page.get_by_text("Before more answers were asked for")).to_be_visible(timeout=60_000)
    run = Store(dashboard.results).load(name)
    half_width, _ = needed_for(run.score, "confidence_percent", 12.0)
    assert half_width is not None
    assert half_width <= 12
    assert 4 < len(run.score.samples) == len(server.requests) < 30


def test_a_real_difference_is_told_from_noise(page: Page, dashboard: Dashboard) -> None:
    one, two = store_runs(dashboard, [STEADY, MIXED], "compared")
    page.goto(f"{dashboard.url}/compare?runs={one},{two}")
    told = page.get_by_text(
        re.compile(r"Run A is more consistent than Run B \(difference \d+ points, 95 % interval \d+ to \d+\)")
    )
    expect(told).to_be_visible()
    few = store_runs(dashboard, [[LOOP, BUILTIN, ALIKE, WHILE, BUILTIN], [LOOP, ALIKE, ALIKE, LOOP, REDUCE]], "noise")
    page.goto(f"{dashboard.url}/compare?runs={','.join(few)}")
    told = page.get_by_text(
        re.compile(r"these 5 samples cannot tell them apart; (about [\d,]+ each would|1,000 each might not either)")
    )
    expect(told).to_be_visible()


def test_a_change_and_an_odd_newest_run_are_told_and_steady_runs_are_not(page: Page, dashboard: Dashboard) -> None:
    store_runs(dashboard, [STEADY] * 8 + [MIXED] * 6, "drifting", "Changed.")
    store_runs(dashboard, [STEADY] * 8 + [MIXED], "odd", "Newest.")
    store_runs(dashboard, [STEADY, [*STEADY[:9], LOOP]] * 5, "steady", "Same.")
    page.goto(f"{dashboard.url}/history")
    settle(page)
    told = page.locator(".drift")
    changed = told.filter(has_text="drifting · Changed.")
    expect(changed).to_contain_text(re.compile(r"Confidence dropped by \d+ points at the run of 2025-09-26 11:20, from"))
    expect(told.filter(has_text="odd · Newest.")).to_contain_text(
        re.compile(r"The newest run, of 2025-09-26 11:20, is \d+ points below the 8 before it, more than they vary")
    )
    expect(told.filter(has_text="steady · Same.")).to_contain_text("No drift: the newest run is in line with the 9 before it")
    assert serious_barriers(page) == set()


def test_two_models_are_held_against_each_other_over_the_same_prompts(page: Page, dashboard: Dashboard) -> None:
    for number in range(8):
        store_runs(dashboard, [STEADY], "firm", f"Prompt {number}")
        store_runs(dashboard, [MIXED if number % 2 else MIXED[:8]], "loose", f"Prompt {number}")
    page.goto(f"{dashboard.url}/history")
    settle(page)
    # Those that were asked the most prompts are offered first.
    expect(page.get_by_role("combobox", name="First", exact=True)).to_have_value("firm")
    expect(page.get_by_role("combobox", name="Second", exact=True)).to_have_value("loose")
    expect(page.locator(".over-prompts")).to_have_text(
        re.compile(r"firm is more consistent than loose over 8 prompts \(difference \d+ points, 95 % interval \d+ to \d+\)\.")
    )
