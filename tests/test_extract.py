"""What counts as the code of a reply."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from evaluator_core.extract import extract_code
from tests.programs import PROGRAMS
from tests.rewriting import Program

ANSWER = "def add(a, b):\n    return a + b"
LONGER = "def add(a, b):\n    total = a\n    total += b\n    return total"
USAGE = "print(add(1, 2))\nprint(add(3, 4))\nprint(add(5, 6))\nprint(add(7, 8))\nprint(add(9, 10))"
JAVASCRIPT = "function add(a, b) {\n  const total = a + b;\n  console.log(total);\n  return total;\n}"
INSTALL, NUMBERS, ASSIGNMENTS = "pip install adder\n" * 20, "3\n" * 100, "x = 1\n" * 100
DOCUMENTED = 'def add(a, b):\n    """Add.\n\n    ```python\n    add(1, 2)\n    ```\n    """\n    return a + b'
UNIT_TESTS = (
    "import unittest\n\n\nclass TestAdd(unittest.TestCase):\n    def test_some(self):\n        self.assertEqual(add(1, 2), 3)\n\n"
    "    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n\n\nunittest.main()"
)
CHECKS = (
    "def test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n\n\ndef test_less():\n    assert add(-1, -2) == -3"
)
MAIN = "def main():\n    for a in range(9):\n        for b in range(9):\n            print(a, b, add(a, b))\n\n\nmain()"
HELPER = "def carry(a, b):\n    if a and b:\n        return 1\n    if a or b:\n        return 0\n    return None"
JAVASCRIPT_TESTS = (
    "describe('add', () => {\n  it('adds', () => {\n    const sum = add(1, 2);\n    expect(sum).toBe(3);\n  });\n});"
)
GO, GO_TEST = (
    "func add(a, b int) int {\n\treturn a + b\n}",
    "func TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}",
)
C, C_MAIN = (
    "int add(int a, int b) {\n  return a + b;\n}",
    'int main(void) {\n  printf("%d %d", add(1, 2), add(3, 4));\n  return 0;\n}',
)
QUESTION = "def add(a, b):\n    # Write this function.\n    raise NotImplementedError"


def fence(code: str, tag: str = "python", mark: str = "```") -> str:
    return f"{mark}{tag}\n{code}\n{mark}"


def indented(text: str, by: str) -> str:
    return "\n".join(by + line for line in text.split("\n"))


@dataclass(frozen=True)
class Case:
    name: str
    reply: str
    code: str = ANSWER
    language: str = "python"
    prompt: str = ""


FENCES = [
    Case("a fence alone", fence(ANSWER)),
    Case("prose before and after", f"Sure! Here it is:\n\n{fence(ANSWER)}\n\nIt returns the sum; a + b = b + a."),
    Case("prose right at the fence", f"Sure! Here it is:\n{fence(ANSWER)}\nIt returns the sum."),
    Case("blank lines inside", fence(f"\n\n{ANSWER}\n\n")),
    Case("no tag", fence(ANSWER, "")),
    Case("tag with a capital", fence(ANSWER, "Python")),
    Case("short tag", fence(ANSWER, "py")),
    Case("attribute tag", fence(ANSWER, "{.python}")),
    Case("attribute tag with more", fence(ANSWER, "{.python .numberLines}")),
    Case("blank before the tag", fence(ANSWER, " python")),
    Case("tag and a file name", fence(ANSWER, 'python title="add.py"')),
    Case("unknown tag", fence(ANSWER, "code")),
    Case("tildes", fence(ANSWER, mark="~~~")),
    Case("four backticks", fence(ANSWER, mark="````")),
    Case(
        "three backticks inside four",
        fence("def f():\n    return '''\n```\n'''", mark="````"),
        "def f():\n    return '''\n```\n'''",
    ),
    Case("tildes around backticks", fence("TEXT = '''\n```\nx\n```\n'''", mark="~~~"), "TEXT = '''\n```\nx\n```\n'''"),
    Case("a fence within a docstring", fence(DOCUMENTED), DOCUMENTED),
    Case("closed behind the last line", f"Here:\n```python\n{ANSWER}```\nIt returns the sum."),
    Case("opened behind a sentence", f"Here it is: ```\n{ANSWER}\n```\nIt returns the sum."),
    Case("not closed", f"Here:\n```python\n{ANSWER}"),
    Case("not closed, cut in the middle", f"```python\n{ANSWER}\n\ndef sub(a,", f"{ANSWER}\n\ndef sub(a,"),
    Case("inside a list item", f"1. Write it:\n\n{indented(fence(ANSWER), '   ')}\n\n2. Use it."),
    Case("inside a bullet, with a tab", f"- Write it:\n{indented(fence(ANSWER), chr(9))}\n"),
    Case("fence indented but its code is not", f"1. Write it:\n   ```python\n{ANSWER}\n   ```\n"),
    Case("code indented but its fence is not", fence(indented(ANSWER, "    "))),
    Case("usage after it", f"{fence(ANSWER)}\n\nUse it:\n\n{fence(USAGE)}"),
    Case("usage before it", f"To use it:\n\n{fence(USAGE)}\n\nThe function:\n\n{fence(ANSWER)}"),
    Case("tests after it", f"{fence(ANSWER)}\n\nTests:\n\n{fence(UNIT_TESTS)}"),
    Case("tests before it", f"{fence(CHECKS)}\n\nThen:\n\n{fence(ANSWER)}"),
    Case("a main program after it", f"{fence(ANSWER)}\n\nTry it:\n\n{fence(MAIN)}"),
    Case("nothing but a main program", fence(MAIN), MAIN),
    Case("tests in JavaScript", f"{fence(JAVASCRIPT, 'js')}\n{fence(JAVASCRIPT_TESTS, 'js')}", JAVASCRIPT, "javascript"),
    Case("a test in Go", f"{fence(GO, 'go')}\n{fence(GO_TEST, 'go')}", GO, "go"),
    Case("a main function in C", f"{fence(C, 'c')}\n{fence(C_MAIN, 'c')}", C, "c"),
    Case("a larger function that was not asked for", f"{fence(HELPER)}\n{fence(ANSWER)}", prompt="Write add(a, b)."),
    Case("tests that were asked for", f"{fence(ANSWER)}\n{fence(CHECKS)}", CHECKS, prompt="Write test_add and test_less."),
    Case("shell command before it", f"{fence('pip install adder', 'bash')}\n\n{fence(ANSWER)}"),
    Case("long shell commands, no tags", f"{fence(INSTALL, '')}\n\n{fence(ANSWER, '')}"),
    Case("output after it", f"{fence(ANSWER)}\n\nOutput:\n\n{fence(NUMBERS, '')}"),
    Case("tagged output after it", f"{fence(ANSWER)}\n\n{fence(ASSIGNMENTS, 'text')}"),
    Case("two answers: the larger", f"{fence(ANSWER)}\nOr, step by step:\n{fence(LONGER)}", LONGER),
    Case("a broken answer, then a whole one", f"{fence(LONGER + ' + (')}\nSorry, I mean:\n{fence(ANSWER)}"),
    Case("another language beside it", f"{fence(JAVASCRIPT, 'javascript')}\n\nIn Python:\n\n{fence(ANSWER)}"),
    Case("the other one of both", f"{fence(LONGER)}\n{fence(JAVASCRIPT, 'js')}", JAVASCRIPT, "javascript"),
    Case("a sibling's tag", fence(JAVASCRIPT, "typescript"), JAVASCRIPT, "javascript"),
    Case("a language without grammar", f"{fence(USAGE * 2)}\n{fence('local x = 1', 'lua')}", "local x = 1", "lua"),
    Case("a statement is an answer too", fence("print(sum(range(10)))"), "print(sum(range(10)))"),
    Case("inline code in the prose", f"Call `add(a, b)` as in `x = add(1, 2)`:\n{fence(ANSWER)}\nThen `print(x)`."),
]
AROUND = [
    Case("thoughts with code", f"<think>\nMaybe\n{fence(LONGER)}\nNo.\n</think>\n\n{fence(ANSWER)}"),
    Case("thoughts with bare code", f"<think>{LONGER}</think>{ANSWER}"),
    Case("thoughts in two parts", f"<think>a</think>\n\n<think>\n{fence(LONGER)}\n</think>\n{fence(ANSWER)}"),
    Case("prose right behind the thoughts", f"Maybe\n{fence(LONGER)}\n</think>Here it is:\n{fence(ANSWER)}"),
    Case("other words for thinking", f"<reasoning>\n{fence(LONGER)}\n</reasoning>\n{fence(ANSWER)}"),
    Case("thoughts that never end", f"<think>\nMaybe this:\n{fence(ANSWER)}\nBut then again", ""),
    Case("thoughts whose opening is missing", f"Maybe\n{fence(LONGER)}\n</think>\n\n{fence(ANSWER)}"),
    Case("only thoughts", f"<think>\n{fence(ANSWER)}\n</think>\n\nI cannot do it.", ""),
    Case("byte order mark", "\ufeff" + ANSWER),
    Case("byte order mark before a fence", "\ufeff" + fence(ANSWER)),
    Case("Windows line ends", f"Here:\n\n{fence(ANSWER)}\n\nDone.\n".replace("\n", "\r\n")),
    Case("old Mac line ends", f"Here:\n\n{fence(ANSWER)}\n\nDone.\n".replace("\n", "\r")),
    Case("Windows line ends, bare", ANSWER.replace("\n", "\r\n") + "\r\n"),
    Case("end mark after bare code", f"{ANSWER}</s>"),
    Case("two end marks after bare code", f"{ANSWER}\n<|im_end|>\n<|endoftext|>\n"),
    Case("end mark after a fence", f"{fence(ANSWER)}<|im_end|>"),
    Case("end mark in an unclosed fence", f"```python\n{ANSWER}\n</s>"),
    Case(
        "the prompt's fence repeated", f"You gave:\n{fence(QUESTION)}\nSo:\n{fence(ANSWER)}", prompt=f"Do it:\n{fence(QUESTION)}"
    ),
    Case("only the prompt's fence", f"You gave:\n{fence(QUESTION)}\nNice.", "", prompt=f"Do it:\r\n{fence(QUESTION, 'py')}"),
]
BARE = [
    Case("code alone", ANSWER),
    Case("prose around it", f"Here is the function you asked for:\n\n{ANSWER}\n\nIt returns the sum of both numbers."),
    Case("prose right before it", f"Here is the function you asked for:\n{ANSWER}\nIt returns the sum of both numbers."),
    Case("blank lines between functions", f"Sure:\n\n{ANSWER}\n\n\n{LONGER}\n\nThat is all.", f"{ANSWER}\n\n\n{LONGER}"),
    Case("numbered lines", "1. def add(a, b):\n2.     return a + b\n3. \n4. print(add(1, 2))", f"{ANSWER}\n\nprint(add(1, 2))"),
    Case("numbered with bars", "  1| def add(a, b):\n  2|     total = a + b\n  3|     return total",
         "def add(a, b):\n    total = a + b\n    return total"),
    Case("indented, with prose around it", f"Here it is:\n\n{indented(ANSWER, '    ')}\n\nIt returns the sum."),
    Case("one blank before the first word", f"\n\n {ANSWER}\n"),
    Case("all of it indented", indented(f"x = 1\n{ANSWER}", "    "), f"x = 1\n{ANSWER}"),
    Case("broken code alone", f"{ANSWER}\n\ndef sub(a, b:\n    return a - b", f"{ANSWER}\n\ndef sub(a, b:\n    return a - b"),
    Case("JavaScript in prose", f"Here you are:\n\n{JAVASCRIPT}\n\nEnjoy it.", JAVASCRIPT, "javascript"),
]  # fmt: skip
NO_CODE = [
    Case("empty", "", ""),
    Case("blanks", " \n\t\r\n \u00a0", ""),
    Case("a refusal", "I'm sorry, but I can't help with that. Is there something else?", ""),
    Case(
        "a refusal of several lines", "I'm sorry.\n\nI cannot write this:\n- it is unsafe\n- it is long\n\n1. First\n2. Then", ""
    ),
    Case("a refusal, no grammar", "I'm sorry, but I can't help with that.", "", "lua"),
    Case("a block of comments", fence("# first, read the numbers\n# then, add them up"), ""),
    Case("a block with a docstring", fence('"""Add two numbers."""'), ""),
    Case("an empty block", fence(""), ""),
    Case("a block of blanks", "```python\n   \n\t\n```", ""),
    Case("an opening at the very end", "Here it is:\n```python", ""),
    Case("a comment in another language", fence("// add them up\n/* here */", "js"), "", "javascript"),
]


@pytest.mark.parametrize("case", [*FENCES, *AROUND, *BARE, *NO_CODE], ids=lambda case: case.name)
def test_the_code_is(case: Case) -> None:
    assert extract_code(case.reply, case.language, prompt=case.prompt).code == case.code


PROSE = (
    "Sure, here is the program that you asked for.",
    "It goes through the values and adds them up.\nLet me know if you need more.",
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.language)
def test_bare_code_is_found_among_prose_in_every_language(program: Program) -> None:
    reply = f"{PROSE[0]}\n\n{program.code}\n\n{PROSE[1]}"
    assert extract_code(reply, program.language).code == program.code.strip("\n")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.language)
def test_fenced_code_is_found_among_prose_in_every_language(program: Program) -> None:
    reply = f"{PROSE[0]}\n\n{fence(program.code, program.language)}\n\n{PROSE[1]}"
    found = extract_code(reply, program.language)
    assert found.code == program.code.strip("\n")
    assert found.syntax is not None
    assert found.syntax.parses


def test_without_the_prompt_the_repeated_fence_may_win() -> None:
    """Why ``prompt`` is there: nothing else tells a question's code from an answer's."""
    reply = f"You gave:\n{fence(LONGER)}\nSo:\n{fence(ANSWER)}"
    assert extract_code(reply, "python").code == LONGER
    assert extract_code(reply, "python", prompt=fence(LONGER)).code == ANSWER
