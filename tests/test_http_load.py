"""The server under load, killed, told to end, and two of them on one folder; all on loopback, all for real."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from evaluator_core.store import Store
from tests.model_server import KEY, Answer, ModelServer, completion, replay
from tests.served import ROOT, Dashboard, run_clients, sandbox_workers, until

pytestmark = pytest.mark.slow

CLIENTS, EACH = 50, 4
JSON = dict[str, str | int]
ROOM = {"EVALUATOR_RUNS_WAITING": "500", "EVALUATOR_REQUESTS_PER_MINUTE": "100000", "EVALUATOR_MODEL": "openai/replayed"}


def settings_for(models: ModelServer) -> dict[str, str]:
    return ROOM | {"OPENAI_BASE_URL": models.base_url, "OPENAI_API_KEY": KEY}


def marked(number: int, body: dict[str, Any]) -> Answer:
    """An answer that tells which prompt it belongs to."""
    return completion(f"```python\n# {body['messages'][-1]['content']}\ndef f(x):\n    return x + {number % 3}\n```")


def test_fifty_clients_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    with ModelServer(marked, latency=0.02) as models, Dashboard(tmp_path, **settings_for(models)) as dashboard:
        answers = [answer for client in run_clients(dashboard.url, CLIENTS, EACH) for answer in client.result()]

    store = Store(dashboard.results)
    rows = store.summary()
    assert rows.damaged == ()
    assert len(rows.rows) == len(store.names()) == len(answers) == CLIENTS * EACH
    assert len({answer["saved_file"] for answer in answers}) == CLIENTS * EACH
    assert {row.question for row in rows.rows} == {f"prompt {a}-{b}" for a in range(CLIENTS) for b in range(EACH)}
    for answer in answers:
        run = store.load(Path(answer["saved_file"]).name)
        assert run.question == answer["question"]
        assert all(f"# {run.question}\n" in sample.code for sample in run.score.samples)
    assert Counter(len(store.load(name).score.samples) for name in store.names()) == {5: CLIENTS * EACH}


def test_a_server_killed_under_load_has_lost_no_answer(tmp_path: Path) -> None:
    def numbered(number: int, body: dict[str, Any]) -> Answer:
        prompt = body["messages"][-1]["content"]
        return completion(f"```python\ndef f(x):\n    return {number}  # {prompt}\n```")

    with ModelServer(numbered, latency=0.05) as models:
        dashboard = Dashboard(tmp_path, **settings_for(models))
        dashboard.start()

        clients = run_clients(dashboard.url, CLIENTS, EACH)
        models.wait_for_answers(300)
        dashboard.kill()
        assert any(client.exception() for client in clients)
        asked = len(models.requests)

        store = Store.open(dashboard.results)
        unfinished = [store.unfinished(name) for name in store.interrupted()]
        kept = sum(len(store.load(name).score.samples) for name in store.names()) + sum(len(one.replies) for one in unfinished)
        # What was sent and had not been read when the process was killed is all that may be missing.
        assert kept >= asked - 4 * 5
        assert unfinished
        assert store.summary().damaged == ()

        with dashboard:
            for one in unfinished:
                command = [sys.executable, "-m", "evaluator_core", "--resume", one.run_id, "--json"]
                environment = dashboard.environment
                assert subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode == 0
            total = requests.get(f"{dashboard.url}/results", timeout=30).json()["total"]
        assert total == len(store.names()) == len(store.summary().rows)
        assert store.interrupted() == ()
        assert len(models.requests) - asked <= 5 * len(unfinished) - sum(len(one.replies) for one in unfinished)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_answers_who_waits_keeps_journals_and_leaves_no_child(tmp_path: Path, number: signal.Signals) -> None:
    opened = threading.Event()

    def held(count: int, body: dict[str, Any]) -> Answer:
        if count >= 2:
            opened.wait(60)
        return replay(count, body)

    with ModelServer(held) as models:
        with Dashboard(tmp_path, **settings_for(models)) as dashboard:
            built_in: JSON = {"prompt": "x", "model": "builtin", "n_samples": 2, "max_tokens": 4}
            assert requests.post(f"{dashboard.url}/evaluate", json=built_in, timeout=120).status_code == 200
            children = psutil.Process(dashboard.process.pid).children(recursive=True)
            assert children
            store = Store(dashboard.results)
            answers = []
            body: JSON = {"prompt": "held", "n_samples": 4, "concurrency": 4}
            url = f"{dashboard.url}/evaluate"
            client = threading.Thread(target=lambda: answers.append(requests.post(url, json=body, timeout=60)))
            client.start()
            journals = dashboard.results / "unfinished"
            until(lambda: any(len(store.unfinished(path.stem).replies) == 2 for path in journals.glob("*.jsonl")))
            dashboard.process.send_signal(number)
            dashboard.process.wait(10)
            client.join()
        opened.set()
        assert answers[0].status_code == 503
        assert "are kept" in answers[0].json()["error"]["message"]
        assert psutil.wait_procs(children, timeout=5)[1] == []
        assert len(store.unfinished(store.interrupted()[0]).replies) == 2


def endless(number: int, body: dict[str, Any]) -> Answer:
    """An answer that never returns, unlike any other: each is run by itself, and takes seconds."""
    return completion(f"```python\ndef f(x):\n    while True:\n        x = {number}\n```")


def workers_of(dashboard: Dashboard) -> list[psutil.Process]:
    return sandbox_workers(psutil.Process(dashboard.process.pid))


@pytest.mark.parametrize("end", ["the client goes", "the server is told to end"])
def test_answers_that_are_being_run_are_ended_too(tmp_path: Path, end: str) -> None:
    with ModelServer(endless) as models, Dashboard(tmp_path, **settings_for(models)) as dashboard:
        store = Store(dashboard.results)
        body = json.dumps({"prompt": "Write f(x), so that f(1) is 2 and f(2) is 3.", "n_samples": 40, "behaviour": True})
        with socket.create_connection(("127.0.0.1", dashboard.port), timeout=30) as raw:
            raw.sendall(
                "POST /evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            until(lambda: bool(workers_of(dashboard)))
            children = workers_of(dashboard)
            if end == "the server is told to end":
                dashboard.process.terminate()
                assert raw.recv(100).split(b" ")[1] == b"503"
                assert dashboard.process.wait(10) == -signal.SIGTERM  # and not 1, by the last resort
        until(lambda: "cancelled with 40 of 40 answers" in dashboard.said())
        assert psutil.wait_procs(children, timeout=5)[1] == []
        (kept,) = store.interrupted()
        assert len(store.unfinished(kept).replies) == 40
        assert store.names() == ()


def test_two_servers_share_one_folder(tmp_path: Path) -> None:
    with ModelServer() as models:
        first = Dashboard(tmp_path / "a", **settings_for(models))
        second = Dashboard(tmp_path / "b", **settings_for(models))
        second.share(first)
        with first, second, ThreadPoolExecutor(8) as pool:
            urls = [dashboard.url for dashboard in (first, second) for _ in range(20)]
            bodies: list[JSON] = [{"prompt": f"number {number}", "n_samples": 3} for number in range(len(urls))]
            answers = list(pool.map(lambda url, body: requests.post(f"{url}/evaluate", json=body, timeout=60), urls, bodies))
            assert {answer.status_code for answer in answers} == {200}
            totals = [requests.get(f"{dashboard.url}/results", timeout=30).json()["total"] for dashboard in (first, second)]
        assert totals == [40, 40]
        assert len({answer.json()["saved_file"] for answer in answers}) == 40
        assert Store(first.results).summary().damaged == ()


def test_a_folder_that_cannot_be_written_is_told_at_the_start(tmp_path: Path) -> None:
    in_the_way = tmp_path / "results"
    in_the_way.write_text("a file")
    dashboard = Dashboard(tmp_path)
    with pytest.raises(AssertionError):
        dashboard.start()
    assert dashboard.process.wait() != 0
    assert "The server cannot start" in dashboard.said()
    assert "EVALUATOR_RESULTS_DIR" in dashboard.said()
    assert "Traceback" not in dashboard.said()


def test_a_setting_that_cannot_be_used_is_told_at_the_start(tmp_path: Path) -> None:
    dashboard = Dashboard(tmp_path, EVALUATOR_MAX_SAMPLES="lots")
    with pytest.raises(AssertionError):
        dashboard.start()
    assert "EVALUATOR_MAX_SAMPLES: 'lots' is not a whole number" in dashboard.said()
    assert "Traceback" not in dashboard.said()
