"""What the answers do, in a real browser: from the button to the input on which two of them part."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from evaluator_core.store import Store
from tests.browser.conftest import settle
from tests.browser.steps import serious_barriers
from tests.runs import make_run
from tests.served import Dashboard

pytestmark = pytest.mark.slow

CODES = [
    "def grade(points):\n    if points > 50:\n        return 'pass'\n    return 'fail'",
    "def grade(points):\n    if points >= 50:\n        return 'pass'\n    return 'fail'",
    "def grade(points):\n    return 'pass' if points > 50 else 'fail'",
    "def grade(points):\n    result = 'fail'\n    if points > 50:\n        result = 'pass'\n    return result",
]


def test_a_stored_run_shows_who_looks_alike_and_differs_and_on_what(page: Page, dashboard: Dashboard) -> None:
    run = make_run(CODES, question="Write grade(points): pass above 50, else fail.", model="planted")
    name = Store(dashboard.results).save(run).name
    page.goto(f"{dashboard.url}/?result={name}")
    page.get_by_role("textbox", name="Calls of your own").fill("grade(50)\ngrade(51) == 'pass'\ngrade(3)")
    page.get_by_role("button", name="Run the answers").click()
    expect(page.get_by_text("Similar code, different behaviour: 1 of 6 pairs")).to_be_visible(timeout=90_000)
    settle(page)
    # The dangerous pair is the first of the list, and is shown at once with its diff.
    section = page.locator(".st-key-behaviour-pair")
    assert section.get_by_role("listitem").first.inner_text().startswith("● Similar code, different behaviour")
    chosen = section.get_by_role("combobox", name="Pair")
    expect(chosen).to_have_value(re.compile("Answers 1 and 2 · similar code, different behaviour"))
    witness = section.locator(".witness").inner_text()
    found = re.search(r"They part on (grade\(.*?\))\nAnswer 1: ('\w+') · Answer 2: ('\w+')", witness)
    assert found, witness
    # The two answers, written in this file, are asked the same without any sandbox.
    first, second = (_native(code, found[1]) for code in CODES[:2])
    assert (first, second) == (found[2], found[3])
    assert first != second
    expect(page.get_by_text("3 of 4 answers do the same")).to_be_visible()
    expect(page.get_by_text("100.0 % of the answers meet the expected result")).to_be_visible()

    # By keyboard another pair, then a click on the one dot of the dangerous region brings it back.
    chosen.press("ArrowDown")
    chosen.press("ArrowDown")
    chosen.press("Enter")
    settle(page)
    expect(chosen).not_to_have_value(re.compile("Answers 1 and 2 "))
    click_orange_dot(page, ".st-key-quadrant-" + re.sub(r"[^\w-]", "-", name))
    expect(chosen).to_have_value(re.compile("Answers 1 and 2 · similar code, different behaviour"))
    expect(section.locator(".witness")).to_contain_text(found[1])

    expect(page.locator(".st-key-pair .witness")).to_contain_text("They part on")
    page.get_by_role("radio", name="Behaviour", exact=True).click()
    page.get_by_role("radio", name="By behaviour").click()
    settle(page)
    page.get_by_text("Every input, and what each group gave").click()
    page.get_by_text("Every answer, and its group").click()
    expect(page.get_by_text("No answer was seen to reach out")).to_be_visible()
    settle(page)
    assert serious_barriers(page) == set()
    stored = Store(dashboard.results).load(name)
    assert stored.behaviour is not None
    assert stored.behaviour.metrics.behaviour_agreement_percent == 50.0
    assert stored.score.metrics == run.score.metrics

    page.reload()
    expect(page.get_by_text("Similar code, different behaviour: 1 of 6 pairs")).to_be_visible()

    other = Store(dashboard.results).save(make_run(CODES[:3], question="Other.", model="planted")).name
    page.goto(f"{dashboard.url}/compare?runs={name},{other}")
    expect(page.get_by_text("The answers of B were not run")).to_be_visible()
    row = page.get_by_role("row").filter(has_text="Behaviour agreement")
    expect(row).to_have_text("Behaviour agreement50.0 %–")


def click_orange_dot(page: Page, chart: str) -> None:
    """Click in the middle of the orange dots on a chart's canvas; the names of the regions, in its lowest part, do not count."""
    canvas = page.locator(f"{chart} canvas")
    canvas.scroll_into_view_if_needed()
    x, y = canvas.evaluate(_FIND_ORANGE)
    canvas.click(position={"x": x, "y": y})
    settle(page)


_FIND_ORANGE = """canvas => {
  const {width, height} = canvas, data = canvas.getContext("2d").getImageData(0, 0, width, Math.floor(height * 0.6)).data;
  let count = 0, x = 0, y = 0;
  for (let place = 0; place < data.length; place += 4) {
    if (data[place] < 180 || data[place] - data[place + 2] < 100) continue;
    count += 1; x += (place / 4) % width; y += Math.floor(place / 4 / width);
  }
  const scale = canvas.clientWidth / width;
  return [x / count * scale, y / count * scale];
}"""


def _native(code: str, call: str) -> str:
    names: dict[str, object] = {}
    exec(code, names)
    return repr(eval(call, names))


def test_a_rare_dangerous_answer_is_told_in_a_sentence(page: Page, dashboard: Dashboard) -> None:
    codes = [*CODES, "def grade(points):\n    return eval(\"'pass' if points > 50 else 'fail'\")"]
    name = Store(dashboard.results).save(make_run(codes, model="planted")).name
    page.goto(f"{dashboard.url}/?result={name}")
    expect(page.get_by_text("1 of 5 answers runs text as code: eval(")).to_be_visible()
    expect(page.get_by_text("Which answer reaches for what")).to_be_visible()


def test_calls_that_cannot_be_used_are_told(page: Page, dashboard: Dashboard) -> None:
    name = Store(dashboard.results).save(make_run(CODES, model="planted")).name
    page.goto(f"{dashboard.url}/?result={name}")
    page.get_by_role("textbox", name="Calls of your own").fill("grade(open('/etc/passwd'))")
    page.get_by_role("button", name="Run the answers").click()
    expect(page.get_by_role("alert").filter(has_text="grade(open")).to_be_visible()


def test_the_built_in_models_answers_are_run_with_the_run(page: Page, dashboard: Dashboard) -> None:
    page.goto(dashboard.url)
    settle(page)
    page.get_by_label("Prompt", exact=True).fill("Write a Python function add(a, b) that returns a + b. add(1, 2) == 3")
    page.get_by_role("spinbutton", name="Answers").fill("2")
    page.get_by_text("Run the answers, too").click()
    settle(page)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("heading", name="Result").wait_for(timeout=180_000)
    expect(page.get_by_role("heading", name="What the answers do")).to_be_visible()
    expect(page.get_by_role("button", name="Run the answers")).to_have_count(0)
    name = page.url.rpartition("result=")[2]
    assert Store(dashboard.results).load(name).behaviour is not None
