"""The sandbox, really running: what hostile answers get, and that the same answers give the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator_core.behaviour.compiled import load_module, read_trusted, write_private
from evaluator_core.behaviour.records import Input, Kind, Outcome, Source, Status, Step
from evaluator_core.behaviour.sandbox import Job, Sandbox
from evaluator_core.errors import AssetUnavailable, SandboxUnavailable
from tests.hostile import HOSTILE, SECRET

HONEST = "def f(x):\n    return x + 41"
ONE = (Input("f(1)", Source.USER, (Step("f", "(1,)"),)),)


def calls(*arguments: str) -> tuple[Input, ...]:
    return tuple(Input(f"f{text}", Source.USER, (Step("f", text),)) for text in arguments)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    os.environ["PLANTED_SECRET"] = SECRET
    with_two = Sandbox(workers=1)
    yield with_two
    with_two.close()
    del os.environ["PLANTED_SECRET"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_are_contained(name: str, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, contained = HOSTILE[name]
    monkeypatch.chdir(tmp_path)
    hostile, honest = sandbox.run([Job(0, code), Job(1, HONEST)], ONE)
    assert honest.outcomes == (Outcome(Kind.VALUE, "42"),)
    assert SECRET not in repr(hostile)
    assert "root:" not in repr(hostile)
    assert list(tmp_path.iterdir()) == []
    assert not Path("/tmp/escaped.txt").exists()
    assert not Path("/tmp/escaped").exists()
    found = hostile.outcomes[0].kind if hostile.status is Status.RAN else "not_run"
    if name == "lists the root" and found == "value":
        assert hostile.outcomes[0].text == '["list", []]'
        found = "empty"
    assert found in contained, hostile


def test_what_it_returns_is_told_with_its_types(sandbox: Sandbox) -> None:
    code = textwrap.dedent("""
        from collections import Counter, namedtuple
        from dataclasses import dataclass
        from decimal import Decimal
        P = namedtuple("P", "a b")
        @dataclass
        class D:
            a: int
            _hidden: int = 3
        def f(x):
            return [None, True, 1, 1.0, float("nan"), "é", b"x", (1,), {2, 1}, {"b": 1, "a": 2},
                    Counter("aa"), P(1, 2), D(1), Decimal("1.50"), 2j, range(3), (n for n in "ab"), print]
    """)
    (trial,) = sandbox.run([Job(0, code)], ONE)
    assert json.loads(trial.outcomes[0].text)[1] == [
        None, True, 1, ["float", "1.0"], ["float", "nan"], "é", ["bytes", "78"], ["tuple", [1]], ["set", [1, 2]],
        ["dict", [["a", 2], ["b", 1]]], ["dict", [["a", 2]]], ["tuple", [1, 2]], ["object", "D", [["a", 1]]],
        ["value", "Decimal", "Decimal('1.50')"], ["complex", "0.0", "2.0"], ["range", 0, 3, 1], ["iterator", ["a", "b"]],
        ["object", "builtin_function_or_method", []],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("def f(x):\n    x.append(2)", '["changed", ["tuple", [["list", [1, 2]]]]]'),
        ("def f(x):\n    print('hi')", '["printed", "hi\\u000a"]'),
        ("def f(x):\n    x.append(2)\n    return 7", "7"),
        ("def f(x):\n    pass", "null"),
    ],
    ids=["changes its argument", "prints", "returns and changes", "nothing"],
)
def test_a_call_without_a_result_is_told_by_what_it_did(code: str, text: str, sandbox: Sandbox) -> None:
    (trial,) = sandbox.run([Job(0, code)], calls("([1],)"))
    assert trial.outcomes == (Outcome(Kind.VALUE, text),)


def test_the_calls_after_a_late_one_still_run(sandbox: Sandbox) -> None:
    code = "def f(x):\n    while x == 2: pass\n    return x"
    (trial,) = sandbox.run([Job(0, code)], calls("(1,)", "(2,)", "(3,)"))
    assert [outcome.kind for outcome in trial.outcomes] == [Kind.VALUE, Kind.TIMEOUT, Kind.VALUE]


def test_after_a_few_deaths_the_rest_is_skipped(sandbox: Sandbox) -> None:
    code = "import os\ndef f(x):\n    os._exit(3)"
    (trial,) = sandbox.run([Job(0, code)], calls(*(f"({n},)" for n in range(5))))
    assert [outcome.kind for outcome in trial.outcomes] == [Kind.EXITED] * 3 + [Kind.SKIPPED] * 2


@pytest.mark.parametrize(
    ("code", "status", "detail"),
    [
        ("def g(): pass", Status.NOT_LOADING, "does not define f"),
        ("def f(", Status.NOT_LOADING, "SyntaxError"),
        ("1/0", Status.NOT_LOADING, "ZeroDivisionError"),
        ("import numpy\ndef f(x): return 1", Status.UNSUPPORTED, "no module numpy"),
        ("def f(x):\n    import requests\n    return 1", Status.UNSUPPORTED, "no module requests"),
    ],
    ids=["undefined", "syntax", "raises", "missing module", "missing module in the call"],
)
def test_an_answer_that_cannot_run_says_why(code: str, status: Status, detail: str, sandbox: Sandbox) -> None:
    (trial,) = sandbox.run([Job(0, code)], ONE)
    assert (trial.status, trial.detail, trial.outcomes) == (status, detail, ())


def test_whole_programs_and_methods(sandbox: Sandbox) -> None:
    program = "n = int(input())\nif __name__ == '__main__':\n    print(n * 2)  \n"
    (trial,) = sandbox.run([Job(0, program)], (Input("21", Source.USER, stdin="21\n"), Input("x", Source.USER, stdin="x\n")))
    assert trial.outcomes == (Outcome(Kind.VALUE, '["printed", "42"]'), Outcome(Kind.RAISED, '"ValueError"'))
    account = "class A:\n    def __init__(self, n):\n        self.n = n\n    def take(self, k):\n        return self.n - k"
    steps = (Step("A", "(5,)"), Step("take", "()", "{'k': 2}"))
    (trial,) = sandbox.run([Job(0, account)], (Input("A(5).take(k=2)", Source.USER, steps),))
    assert trial.outcomes == (Outcome(Kind.VALUE, "3"),)


def test_twice_in_any_order_on_one_or_two_workers_the_bytes_are_the_same(sandbox: Sandbox) -> None:
    codes = [
        "def f(x):\n    return {str(n): hash(str(n)) for n in range(x)}",
        "import random\ndef f(x):\n    return [random.random() for _ in range(x)]",
        "import time, os\ndef f(x):\n    return time.time(), time.perf_counter(), os.urandom(x), id(f) > 0",
        "def f(x):\n    return set('hello world') if x else 1 / x",
        "def f(x):\n    return list(set('hello world'))",
    ]
    jobs, inputs = [Job(index, code) for index, code in enumerate(codes)], calls("(3,)", "(0,)")
    first = sandbox.run(jobs, inputs)
    two = Sandbox(workers=2)
    try:
        assert sandbox.run(jobs, inputs) == first
        assert two.run(jobs[::-1], inputs)[::-1] == first
    finally:
        two.close()


def test_a_worker_goes_with_its_parent() -> None:
    code = """
        import subprocess, sys
        from evaluator_core.behaviour.records import Input, Source, Step
        from evaluator_core.behaviour.sandbox import Job, Sandbox
        box = Sandbox(1)
        box.run([Job(0, "def f(): return 1")], (Input("f()", Source.USER, (Step("f"),)),))
        worker = box._idle.get()
        print(worker._child.pid, flush=True)
        sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
        # The worker holds the other end of its parent's output open for nobody: wait until the system has let it go.
        while Path(f"/proc/{pid}").exists() and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
            os.sched_yield()


def test_a_worker_that_dies_is_replaced(sandbox: Sandbox) -> None:
    sandbox.run([Job(0, HONEST)], ONE)
    worker = sandbox._idle.get()
    assert worker._child is not None
    worker._child.kill()
    worker._child.wait()
    sandbox._idle.put(worker)
    assert sandbox.run([Job(0, HONEST)], ONE)[0].outcomes == (Outcome(Kind.VALUE, "42"),)


def test_without_wasmtime_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wasmtime.py").write_text("raise ImportError('no wheel for this system')")
    monkeypatch.syspath_prepend(str(tmp_path))
    box = Sandbox(1)
    with pytest.raises(SandboxUnavailable, match="no wheel for this system"):
        box.run([Job(0, HONEST)], ONE)
    box.close()


def test_without_the_interpreter_the_command_to_fetch_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALUATOR_CACHE_DIR", str(tmp_path))
    with pytest.raises(AssetUnavailable, match=r"python -m evaluator_core\.assets"):
        Sandbox(1).run([Job(0, HONEST)], ONE)


EMPTY_MODULE = b"\0asm\1\0\0\0"


def test_compiled_code_of_another_processor_is_made_anew(tmp_path: Path) -> None:
    wasm, folder = tmp_path / "empty.wasm", tmp_path / "compiled"
    wasm.write_bytes(EMPTY_MODULE)
    load_module(wasm, folder)
    (path,) = folder.glob("*.module")
    whole = path.read_bytes()
    write_private(path, b"whole, and not for this machine")
    load_module(wasm, folder)
    assert path.read_bytes() == whole


def test_compiled_code_is_loaded_only_when_it_is_ours_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "module"
    assert read_trusted(path) is None
    write_private(path, b"native code")
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_trusted(path) == b"native code"
    path.chmod(0o644)  # as in an image, where it is made by one user and read by another
    assert read_trusted(path) == b"native code"
    path.chmod(0o620)
    assert read_trusted(path) is None
    path.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert read_trusted(link) is None
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert read_trusted(path) is None
