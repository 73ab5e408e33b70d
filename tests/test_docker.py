"""The container, as far as it can be had without an engine: a linter, and every step taken in a plain folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from evaluator_core.settings import VARIABLES
from tests.dockerfile import Built, build, read_steps
from tests.served import ROOT

pytestmark = pytest.mark.slow


def test_the_linter_finds_nothing() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    done = subprocess.run([linter, "Dockerfile"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_the_steps_copy_is_sent_to_the_builder() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    steps = [rest.split()[:-1] for name, rest in read_steps((ROOT / "Dockerfile").read_text()) if name == "COPY"]
    copied = {word for words in steps if not words[0].startswith("--from") for word in words}
    assert {word for word in copied if word not in sent and word.partition("/")[0] not in sent} == set()


def test_every_setting_can_be_handed_to_the_composed_server() -> None:
    handed = set(re.findall(r"^      ([A-Z_]+):$", (ROOT / "compose.yaml").read_text(), re.MULTILINE))
    assert handed == set(VARIABLES) - {"EVALUATOR_RESULTS_DIR", "EVALUATOR_CACHE_DIR"}  # these two are places in the image


@pytest.fixture(scope="module")
def built() -> Iterator[Built]:
    """The image's folder, readable for every user as an image's is."""
    root = Path(tempfile.mkdtemp(prefix="image-"))
    root.chmod(0o755)
    try:
        yield build(ROOT, root)
    finally:
        shutil.rmtree(root)


class Container:
    """The image's command, run as its user."""

    def __init__(self, built: Built) -> None:
        self._built = built
        self._log = built.root / "log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = built.environment | {"HOME": built.here("/app")}
        self.folder = built.here(built.workdir)
        command = [*map(built.here, built.command), "--server.port", str(self.port)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                **built.rights,  # type: ignore[call-overload]
            )

    def wait_until_well(self) -> None:
        while True:
            assert self.process.poll() is None, self.said()
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.read() == b"ok":
                        return
            except OSError:
                continue

    def health(self) -> int:
        """What the image's health check says; 0 is well."""
        command = [word.replace(":8000", f":{self.port}") for word in self._built.health]
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, check=False)
        return done.returncode

    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


def test_the_steps_lead_to_a_server_that_evaluates_as_its_own_user(built: Built) -> None:
    assert built.user == "10001"
    container = Container(built)
    try:
        container.wait_until_well()
        assert container.health() == 0
        with (ROOT / "payload.json").open("rb") as payload:
            headers = {"Content-Type": "application/json"}
            answer = requests.post(f"{container.url}/evaluate", data=payload, headers=headers, timeout=300)
        assert answer.status_code == 200, answer.text + container.said()
        saved = Path(container.folder) / answer.json()["saved_file"]
        assert answer.json()["saved_file"].startswith("results/eval_")
        assert saved.stat().st_uid == (10001 if os.geteuid() == 0 else os.geteuid())
        run: dict[str, str | int] = {
            "prompt": "Write f(x), so that f(1) is 2.",
            "n_samples": 2,
            "max_tokens": 60,
            "behaviour": True,
        }
        answer = requests.post(f"{container.url}/evaluate", json=run, timeout=300)
        assert answer.status_code == 200, answer.text + container.said()
        assert "behaviour" in json.loads((Path(container.folder) / answer.json()["saved_file"]).read_text())
        assert "set EVALUATOR_API_TOKEN" in container.said()  # it listens beyond loopback, and nobody set a token
    finally:
        container.stop()
    assert container.health() != 0


def test_the_sandbox_is_compiled_in_the_image_and_its_user_can_load_it(built: Built) -> None:
    """Nothing can be written beside it: without that, each start of a worker would compile for seconds."""
    (module,) = Path(built.here("/app/cache/compiled")).glob("*.module")
    load = "import sys; from pathlib import Path; from evaluator_core.behaviour.compiled import read_trusted; "
    done = subprocess.run(
        [built.here("/app/.venv/bin/python"), "-c", f"{load}sys.exit(not read_trusted(Path({str(module)!r})))"],
        cwd=built.here(built.workdir),
        env=built.environment,
        capture_output=True,
        text=True,
        check=False,
        **built.rights,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, done.stderr


def test_a_results_folder_of_another_user_is_told_at_the_start(built: Built) -> None:
    results = Path(built.here("/app/results"))
    shutil.rmtree(results)
    if os.geteuid() == 0:
        results.mkdir(mode=0o755)
    else:
        results.write_text("in the way")  # whoever is not root cannot make another user's folder
    container = Container(built)
    try:
        assert container.process.wait(60) != 0
        assert "The server cannot start: results cannot be written" in container.said()
        assert "EVALUATOR_RESULTS_DIR" in container.said()
        assert "Traceback" not in container.said()
    finally:
        container.stop()
