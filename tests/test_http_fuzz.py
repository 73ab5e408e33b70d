"""Every route against its own description: whatever is sent, no fault of the server and no answer outside the description."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator_core.endpoints import endpoints
from evaluator_core.store import Store
from tests.model_server import KEY, ModelServer
from tests.runs import make_run
from tests.served import Dashboard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Iterator[Dashboard]:
    # As if beyond loopback: no made-up address is ever asked.
    settings = {"EVALUATOR_ALLOWED_HOSTS": "127.0.0.1,evaluator.example", "EVALUATOR_MAX_SAMPLES": "4"}
    settings |= {"EVALUATOR_REQUESTS_PER_MINUTE": "1000000", "EVALUATOR_MODEL": "openai/replayed"}
    settings["EVALUATOR_MAX_BODY_BYTES"] = "50000000"  # the fuzzer does not take 413 for a refusal
    settings |= {"OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": KEY}
    # Every endpoint of the description can be asked, here: one without a key would be a bad gateway, and no fault.
    folder = tmp_path_factory.mktemp("fuzzed")
    others = [name for name in endpoints(exposed=True) if name not in ("builtin", "openai")]
    (folder / "endpoints.toml").write_text(
        "".join(
            f'[[endpoint]]\nname = "{name}"\nbase_url = "{models.base_url}"\napi_key_env = "OPENAI_API_KEY"\n' for name in others
        )
    )
    settings["EVALUATOR_ENDPOINTS"] = str(folder / "endpoints.toml")
    served = Dashboard(folder, **settings)
    Store(served.results).save(make_run())  # the example of the description
    with served:
        yield served


def _short(text: str) -> str:
    """What the fuzzer said, without the megabytes that it may quote."""
    return "\n".join(line[:300] for line in text.splitlines())[-6000:]


def fuzz(dashboard: Dashboard, folder: Path, *options: str) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{dashboard.url}/openapi.json", "--max-examples", "60"]
    command += ["--seed", "1", "--suppress-health-check", "all", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, _short(done.stdout) + done.stderr[-2000:]


def test_no_request_makes_a_reading_route_fail_or_break_its_description(dashboard: Dashboard, tmp_path: Path) -> None:
    fuzz(dashboard, tmp_path, "--include-path-regex", "^/(score|results|openapi|models)", "--checks", "all")


def test_no_request_makes_an_evaluation_fail_or_break_its_description(
    dashboard: Dashboard, models: ModelServer, tmp_path: Path
) -> None:
    # Whether a model belongs to an endpoint cannot be said in a schema: such a request is valid there, and refused.
    rest = ("--exclude-checks", "positive_data_acceptance")
    fuzz(dashboard, tmp_path, "--include-path", "/evaluate", "--checks", "all", *rest)
    assert models.requests, "no request reached the model: the valid ones were not valid"
