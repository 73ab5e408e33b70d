"""Pictures of every page in both themes: ``python -m tests.browser.screenshots FOLDER``, or ``make screenshots``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from evaluator_core import evaluate
from evaluator_core.store import Store
from tests.browser import chromium
from tests.browser.conftest import settle
from tests.served import Dashboard

PROMPT = "Write a Python function is_palindrome(text) that ignores case, spaces and punctuation."
RUNS, ANSWERS = 3, 8
WIDTHS = {"": 1280, "-narrow": 400}
_TALLEST, _LOOKS = 6000, 8


def main(folder: Path) -> None:
    """Make some real runs with the built-in model, then take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        dashboard = Dashboard(Path(place))
        store = Store(dashboard.results)
        saved = [
            evaluate(PROMPT, n_samples=ANSWERS, seed=100 * seed, max_tokens=200, behaviour=True, store=store)
            for seed in range(RUNS)
        ]
        names = [Path(evaluation.saved_file).name for evaluation in saved]
        addresses = {
            "evaluate": "/",
            "result": f"/?result={names[-1]}",
            "history": "/history",
            "compare": f"/compare?runs={','.join(names[:2])}",
            "guide": "/guide",
        }
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=list(chromium.FLAGS))
        with dashboard:
            for name, address in addresses.items():
                for theme in ("light", "dark"):
                    for suffix, width in WIDTHS.items():
                        _take(browser, f"{dashboard.url}{address}", theme, width, folder / f"{name}-{theme}{suffix}.png")
        browser.close()


def _take(browser: Browser, url: str, theme: str, width: int, file: Path) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(url)
    settle(page)
    page.get_by_role("heading").first.wait_for()
    height = 0
    for _ in range(_LOOKS):  # charts are drawn anew after a change of size, and nothing tells when: look until nothing moves
        settle(page, milliseconds=800)
        found = int(page.evaluate("() => document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight"))
        if found == height:
            break
        height = found
        page.set_viewport_size({"width": width, "height": min(_TALLEST, max(900, height + 60))})
    page.screenshot(path=file)
    context.close()
    print(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
