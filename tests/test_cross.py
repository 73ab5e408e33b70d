"""Two runs against each other: the block is the one that the joined samples have in the corner of their matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import score
from evaluator_core.cross import common_language, cross_mean, cross_similarity, within_mean
from evaluator_core.similarity import LONG, compare, similarity_matrix
from evaluator_core.syntax import MAX_CODE
from evaluator_core.types import Metrics, Reply, Sample, Score, Weights
from tests.programs import PROGRAMS
from tests.rewriting import Program
from tests.runs import ALIKE, BUILTIN, LOOP, make_run

EMPTY = "I would rather not."
LONG_CODE = "".join(f"value_{number} = {number} * {number % 7}\n" for number in range(1200))
HUGE_CODE = "".join(f"name_{number} = [{number}, {number % 11}]\n" for number in range(5000))


def bare(codes: list[str], language: str = "dart") -> Score:
    """Codes as they are, without extraction, in a language that has no grammar."""
    samples = tuple(Sample(Reply(index, code), code, None) for index, code in enumerate(codes))
    similar = compare(codes, None, Weights(0.0, 1.0))
    no_numbers = Metrics(None, None, None)
    return Score(samples, language, 0.85, Weights(0.0, 1.0), None, similar.text, similar.hybrid, no_numbers)


def assert_corner(first: list[str], second: list[str], language: str) -> None:
    """Equal, to the last bit, to the block of the joined run."""
    block = cross_similarity(score(first, language=language), score(second, language=language))
    joined = score([*first, *second], language=language).hybrid
    assert block.dtype == np.float64
    assert block.shape == (len(first), len(second))
    assert (block == joined[: len(first), len(first) :]).all()


def test_is_the_corner_of_the_joined_run() -> None:
    assert_corner([LOOP, BUILTIN, EMPTY], [ALIKE, LOOP, EMPTY, "```python\ndef broken(:\n```"], "python")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.language)
def test_is_the_corner_in_every_language(program: Program) -> None:
    codes = (program.code, program.reformatted, program.code[: len(program.code) // 2])
    replies = [f"```{program.language}\n{code}\n```" for code in codes]
    assert_corner(replies[:1], replies, program.language)


def test_is_the_corner_for_long_codes() -> None:
    codes = [LONG_CODE, LONG_CODE.replace("value_1", "count_1"), HUGE_CODE, "value_1 = 1\n"]
    assert len(LONG_CODE) > LONG
    assert len(HUGE_CODE) > MAX_CODE
    fenced = [f"```python\n{code}```" for code in codes]
    assert_corner(fenced, [*fenced[::-1], LOOP], "python")


@settings(deadline=None)
@given(st.lists(st.text("ab(\n", max_size=20), max_size=5), st.lists(st.text("ab(\n", max_size=20), max_size=5))
def test_is_the_corner_for_any_text(first: list[str], second: list[str]) -> None:
    block = cross_similarity(bare(first), bare(second))
    assert block.shape == (len(first), len(second))
    expected = similarity_matrix([*first, *second])[: len(first), len(first) :]
    for row, one in enumerate(first):
        for column, other in enumerate(second):
            assert block[row, column] == (expected[row, column] if one and other else 0.0)
            assert (block[row, column] == 1.0) == (one == other != "")
    assert (cross_similarity(bare(second), bare(first)) == block.T).all()


def test_equal_codes_are_exactly_one_and_empty_ones_nothing() -> None:
    texts = [LOOP, EMPTY, BUILTIN, f"```python\n{LONG_CODE}```", f"```python\n{HUGE_CODE}```"]
    run = make_run(texts).score
    diagonal = np.diag(cross_similarity(run, run))
    assert diagonal.tolist() == [1.0, 0.0, 1.0, 1.0, 1.0]
    block = cross_similarity(run, run)
    assert (block[1] == 0.0).all()
    assert (block[:, 1] == 0.0).all()


def test_a_run_against_itself_is_its_own_matrix() -> None:
    run = make_run([LOOP, BUILTIN, ALIKE]).score
    assert (cross_similarity(run, run) == run.hybrid).all()


def test_different_languages_are_compared_by_text_alone() -> None:
    python, ruby = score([BUILTIN, LOOP], language="python"), score(["```ruby\ndef add(v)\n  v.sum\nend\n```"], language="ruby")
    assert common_language(python, ruby) is None
    codes = [sample.code for sample in (*python.samples, *ruby.samples)]
    assert (cross_similarity(python, ruby) == similarity_matrix(codes)[:2, 2:]).all()
    assert within_mean(python, ruby) == python.text[0, 1]
    assert within_mean(python, python) == python.hybrid[0, 1]
    assert within_mean(ruby, python) is None


def test_a_run_scored_without_structure_is_compared_by_text_alone() -> None:
    with_structure = score([BUILTIN, LOOP], language="python")
    codes = [sample.code for sample in with_structure.samples]
    assert (cross_similarity(with_structure, bare(codes, "python")) == with_structure.text).all()


def test_no_answers_make_no_mean() -> None:
    none, some = bare([]), bare(["a", "b"])
    assert cross_similarity(none, some).shape == (0, 2)
    assert cross_similarity(some, none).shape == (2, 0)
    assert cross_mean(cross_similarity(none, some)) is None
    assert cross_mean(np.array([[1.0, 0.5], [0.0, 0.5]])) == 0.5
