"""Extraction and scoring hold on any text at all: random, hostile, huge, and real."""

from __future__ import annotations

import ast
import gzip
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import score
from evaluator_core.extract import extract_code

DATA = Path(__file__).parents[2] / "shared" / "data"
LANGUAGES = ("python", "javascript", "sql", "bash", "lua")
MEGABYTE = 1_000_000

any_text = st.text(st.characters(exclude_categories=[]))
# Pieces of which replies are made, in any order: far likelier than random characters to reach the odd corners.
_PIECES = """```python|```|~~~|````js|   ```|<think>|</think>|</s>|def f():|    return 1|x = 1|class A:|print(x)|(|"|{.python}
function f() {|}|SELECT a FROM b;|for x in y:|1. x = 1|2. y = 2|3. z = 3|Here it is:|It works.|# why"""
pieces = st.lists(
    st.sampled_from(
        [*re.split("[|\n]", _PIECES), "<|im_end|>", "", " ", "\t", "\r", "\r\n", "\ufeff", "\0", "\ud800", "\x0c", "\u2028"]
    )
)
reply_like = st.builds(lambda parts, glue: glue.join(parts), pieces, st.sampled_from(["\n", "\r\n", "\r", " ", ""]))
prose = st.lists(st.text(st.sampled_from("abcdefghij ABC,.!?'-äé界"), max_size=60), max_size=6).map("\n".join)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(deadline=None)
@given(reply=any_text | reply_like, prompt=st.just("") | reply_like)
def test_any_text_gives_the_same_code_each_time(language: str, reply: str, prompt: str) -> None:
    found = extract_code(reply, language, prompt=prompt)
    assert extract_code(reply, language, prompt=prompt) == found
    assert "\r" not in found.code
    if found.code:
        lines = found.code.split("\n")
        assert lines[0].strip(" \t")
        assert lines[-1].strip(" \t")


@settings(deadline=None)
@given(replies=st.lists(any_text | reply_like, max_size=4), language=st.sampled_from([*LANGUAGES, "auto"]))
def test_any_replies_can_be_scored(replies: list[str], language: str) -> None:
    result = score(replies, language=language)
    assert_sound(result.hybrid, len(replies))
    assert (result.confidence_percent is None) == (len(replies) < 2)


@pytest.mark.parametrize("mark", ["```", "~~~~"])
@settings(deadline=None)
@given(before=prose, after=prose)
def test_prose_around_a_fence_changes_nothing(mark: str, before: str, after: str) -> None:
    code = "def add(a, b):\n    return a + b"
    assert extract_code(f"{before}\n{mark}python\n{code}\n{mark}\n{after}", "python").code == code


def assert_sound(matrix: np.typing.NDArray[np.float64], size: int) -> None:
    assert matrix.shape == (size, size)
    assert np.isfinite(matrix).all()
    assert ((matrix >= 0) & (matrix <= 1)).all()
    assert (matrix == matrix.T).all()
    assert (matrix.diagonal() == 1).all()


def five_megabytes_of(text: str) -> str:
    return text * (5 * MEGABYTE // len(text) + 1)


FUNCTION = "def f(a):\n    return a + 1\n\n\n"
HARD = {
    "deep brackets": "(" * 10_000 + "1" + ")" * 10_000,
    "deep brackets in a function": "def f():\n    return " + "(" * 10_000 + "1" + ")" * 10_000,
    "deep brackets in a fence": "```python\nx = " + "[" * 10_000 + "1" + "]" * 10_000 + "\n```",
    "unclosed brackets": "[" * 10_000,
    "unclosed brackets in a function": "def f():\n    return " + "([{" * 3_334,
    "unclosed brackets in a fence": "```python\nx = " + "(" * 10_000,
    "deep blocks": "\n".join(" " * depth + "if x:" for depth in range(400)),
    "much code": five_megabytes_of(FUNCTION),
    "much code in a fence": "```python\n" + five_megabytes_of(FUNCTION) + "```",
    "much prose": five_megabytes_of("The quick brown fox jumps over the lazy dog.\n"),
    "much prose in one line": five_megabytes_of("The quick brown fox jumps over the lazy dog. "),
    "newlines": "\n" * 5 * MEGABYTE,
    "backticks": "`" * 5 * MEGABYTE,
    "lines of backticks": five_megabytes_of("```\n"),
    "surrogates": "\udc80\ud800" * 1_000,
    "surrogates in code": '```python\ndef f():\n    return "\ud800\udfff"\n```',
    "NUL": "\0" * 10_000,
    "NUL in code": '```python\ndef f():\n    return "\0"\n```',
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_input_is_scored_with_numbers_in_range(text: str) -> None:
    result = score([text, text, "def f(): pass"])
    for matrix in (result.ast, result.text, result.hybrid):
        assert matrix is not None
        assert_sound(matrix, 3)
    assert result.samples[0].code == result.samples[1].code
    assert result.hybrid[0, 1] == (1.0 if result.samples[0].code else 0.0)
    assert all(
        number is not None and 0 <= number <= 100
        for number in (result.agreement_percent, result.confidence_percent, result.normalized_confidence_percent)
    )


SLOW = {
    "end marks without end": "x = 1\n" + "</s>" * 100_000,
    "end marks on lines": "x = 1\n" + "<|im_end|>\n" * 50_000,
    "numbers of numbers": "\n".join(f"{line}. " * 2_000 + "x" for line in (1, 2, 3, 4)),
    "one long declaration": "let " + "a " * 100_000,
    "one long import": "use " + "a" * 150_000,
    "blanks behind a call": "f()" + " " * 100_000 + "x",
    "many broken beginnings": "def f(:\n\n" * 11_000,
    "many broken calls": "print((1)\nHello there\n" * 4_500,
    "many fences": "```python\nx = (\n```\n" * 10_000,
}


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", SLOW.values(), ids=SLOW.keys())
def test_no_text_takes_time_that_grows_with_its_square(text: str) -> None:
    extract_code(text, "python")


def longest_fence(reply: str) -> str:
    """The plain rule that extraction is held against: the longest fenced block, else the whole reply."""
    return max(re.findall(r"```[^\n]*\n(.*?)(?:```|\Z)", reply, re.DOTALL), key=len, default=reply)


def parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return True


@pytest.mark.skipif(not DATA.exists(), reason=f"the real replies are not on this machine: {DATA}")
def test_real_replies_give_code_that_parses() -> None:
    with gzip.open(DATA / "chat_replies.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    asked = [(record["prompt"], reply) for record in records if record["language"] == "python" for reply in record["outputs"]]
    extracted = [code for prompt, reply in asked if (code := extract_code(reply, "python", prompt=prompt).code)]
    plain = [code for _, reply in asked if (code := longest_fence(reply)).strip()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in the codes
        good, plain_good = (sum(map(parses, codes)) for codes in (extracted, plain))
    print(f"\nOf {len(asked)} real Python replies,")
    for rule, codes, whole in (("extract_code", extracted, good), ("longest fence", plain, plain_good)):
        print(f"{rule}: {len(codes)} codes, {whole / len(codes):.2%} of which parse ({whole / len(asked):.2%} of all replies)")
    assert good / len(extracted) >= 0.96
    assert good / len(extracted) > plain_good / len(plain)
    assert good > plain_good  # not bought by giving up on the hard ones
