"""The safety profile: what answers reach for, by syntax, in every language with a grammar."""

from __future__ import annotations

import pytest

from evaluator_core.capabilities import Capability, profile

CASES = [
    ("python", "import requests\nrequests.get('x')", "network"),
    ("python", "def f(p):\n    return open(p).read()", "files"),
    ("python", "import os\nos.system('ls')", "processes"),
    ("python", "def f(x):\n    return eval(x)", "eval"),
    ("python", "m = __import__('os')", "dynamic_import"),
    ("python", "import pickle\npickle.loads(b'')", "deserialization"),
    ("python", "q = f\"SELECT * FROM users WHERE id = {x}\"", "sql"),
    ("javascript", "const fs = require('fs');", "files"),
    ("javascript", "eval(x);", "eval"),
    ("typescript", "const r = fetch(u);", "network"),
    ("go", 'package main\nimport "os/exec"\nfunc f() { exec.Command("ls") }', "processes"),
    ("rust", "fn f() { std::fs::File::open(\"x\"); }", "files"),
    ("java", "class A { void f() throws Exception { Runtime.getRuntime().exec(\"ls\"); } }", "processes"),
    ("c", "int f(void) { return system(\"ls\"); }", "processes"),
    ("cpp", "#include <fstream>\nint f() { return 1; }", "files"),
    ("csharp", "class A { void F() { System.IO.File.ReadAllText(\"x\"); } }", "files"),
    ("php", "function f($x) { return unserialize($x); }", "deserialization"),
    ("kotlin", "fun f() { java.io.File(\"x\").readText() }", "files"),
    ("swift", "func f() { let m = FileManager.default.contents(atPath: \"x\") }", "files"),
    ("scala", "object A { def f() = scala.io.Source.fromFile(\"x\") }", "files"),
    ("ruby", "def f(x)\n  eval(x)\nend", "eval"),
    ("bash", "curl http://x", "network"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "code", "capability"), CASES, ids=[f"{case[0]} {case[2]}" for case in CASES])
def test_what_an_answer_reaches_for_is_found(language: str, code: str, capability: str) -> None:
    found = profile([code], language)
    assert found is not None
    assert found.counts()[Capability(capability)] == 1, found


def test_names_in_comments_and_texts_are_not_calls() -> None:
    found = profile(["# eval(x)\ndef f():\n    '''open(x)'''\n    return 'os.system(1)'\n"], "python")
    assert found is not None
    assert not any(found.counts().values())


def test_a_rare_one_is_told_first_in_a_sentence() -> None:
    found = profile(["open('x')"] * 9 + ["open(eval('x'))"], "python")
    assert found is not None
    assert found.sentences()[0].startswith("1 of 10 answers runs text as code: eval")
    assert profile(["x"], "dart") is None
