"""The browser of the browser tests: where it is, and how it gets there. ``python -m tests.browser.chromium`` installs one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def find() -> str | None:
    """The path of a Chromium: of the system, or of Playwright's own."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install() -> None:
    """Install one: by apt where that is there and we may, else by Playwright."""
    if shutil.which("apt-get") and (os.geteuid() == 0 or shutil.which("sudo")):
        before = [] if os.geteuid() == 0 else ["sudo", "-n"]
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*before, "apt-get", "update", "-qq"], env=environment, check=False)
        done = subprocess.run(
            [*before, "apt-get", "install", "-y", "-qq", "chromium"], env=environment, stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode == 0:
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if find() is None:
        install()
    print(f"Chromium: {find()}")
