"""The matrices: in range, symmetric, one for itself, and equal to what a slow and simple method finds."""

from __future__ import annotations

import random
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import score
from evaluator_core.languages import find_language
from evaluator_core.similarity import LONG, Similarities, compare, similarity_matrix
from evaluator_core.syntax import read_syntax
from evaluator_core.types import Matrix, Weights
from tests.programs import PROGRAMS

# Few letters, so that texts have something in common; any character beside them, surrogates included.
texts = st.text("ab(\n", max_size=30) | st.text(st.characters(exclude_categories=[]), max_size=30)
many_texts = st.lists(texts, max_size=7)


@st.composite
def codes_and_kinds(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Codes with a sequence of kinds each: as from a grammar, equal codes have equal kinds."""
    codes = draw(many_texts)
    kinds = {code: draw(st.text("xyz", max_size=15)) for code in codes}
    return codes, [kinds[code] for code in codes]


def common_subsequence(first: str, second: str) -> int:
    """The length of the longest common subsequence, by the textbook."""
    row = [0] * (len(second) + 1)
    for character in first:
        above_left = 0
        for column, other in enumerate(second, 1):
            above = row[column]
            row[column] = above_left + 1 if character == other else max(above, row[column - 1])
            above_left = above
    return row[-1]


def slow_similarity(first: str, second: str) -> float:
    if not first and not second:
        return 1.0
    return 2 * common_subsequence(first, second) / (len(first) + len(second))


def slow_matrix(sequences: list[str]) -> Matrix:
    return np.array([[slow_similarity(first, second) for second in sequences] for first in sequences], dtype=np.float64)


def assert_sound(matrix: Matrix | None, size: int) -> None:
    assert matrix is not None
    assert matrix.dtype == np.float64
    assert matrix.shape == (size, size)
    assert ((matrix >= 0.0) & (matrix <= 1.0)).all()
    assert (matrix == matrix.T).all()
    assert (matrix.diagonal() == 1.0).all()


def matrices(result: Similarities) -> list[Matrix]:
    assert result.structure is not None
    return [result.structure, result.text, result.hybrid]


@settings(deadline=None)
@given(many_texts)
def test_similarity_of_texts_is_that_of_the_slow_method(sequences: list[str]) -> None:
    matrix = similarity_matrix(sequences)
    assert_sound(matrix, len(sequences))
    if sequences:
        np.testing.assert_allclose(matrix, slow_matrix(sequences), rtol=0, atol=1e-12)


@settings(deadline=None)
@given(codes_and_kinds())
def test_every_view_is_that_of_the_slow_method(given_codes: tuple[list[str], list[str]]) -> None:
    codes, kinds = given_codes
    result = compare(codes, kinds, Weights())
    assert result.structure is not None
    for i, j in product(range(len(codes)), repeat=2):
        if i == j or (codes[i] and codes[i] == codes[j]):
            text = structure = 1.0
        elif not codes[i] or not codes[j]:
            text = structure = 0.0
        else:
            text = slow_similarity(codes[i], codes[j])
            structure = slow_similarity(kinds[i], kinds[j]) if kinds[i] and kinds[j] else 0.0
        assert result.text[i, j] == pytest.approx(text, abs=1e-12)
        assert result.structure[i, j] == pytest.approx(structure, abs=1e-12)


@settings(deadline=None)
@given(codes_and_kinds())
def test_every_view_is_in_range_symmetric_and_one_for_itself(given_codes: tuple[list[str], list[str]]) -> None:
    codes, kinds = given_codes
    for matrix in matrices(compare(codes, kinds, Weights())):
        assert_sound(matrix, len(codes))


@settings(deadline=None)
@given(codes_and_kinds())
def test_equal_codes_are_exactly_one_and_only_they_are_one_in_text(given_codes: tuple[list[str], list[str]]) -> None:
    codes, kinds = given_codes
    result = compare(codes, kinds, Weights())
    for i, first in enumerate(codes):
        for j, second in enumerate(codes):
            if i != j and first:
                assert (result.text[i, j] == 1.0) == (first == second)
                if first == second:
                    assert [matrix[i, j] for matrix in matrices(result)] == [1.0, 1.0, 1.0]


@settings(deadline=None)
@given(codes_and_kinds(), st.randoms(use_true_random=False))
def test_another_order_of_the_samples_only_reorders_the_matrices(
    given_codes: tuple[list[str], list[str]], chance: random.Random
) -> None:
    codes, kinds = given_codes
    order = list(range(len(codes)))
    chance.shuffle(order)
    plain = matrices(compare(codes, kinds, Weights()))
    shuffled = matrices(compare([codes[k] for k in order], [kinds[k] for k in order], Weights()))
    for matrix, other in zip(plain, shuffled, strict=True):
        assert (matrix[np.ix_(order, order)] == other).all()


@settings(deadline=None)
@given(codes_and_kinds())
def test_hybrid_is_seven_tenths_structure_and_three_tenths_text(given_codes: tuple[list[str], list[str]]) -> None:
    codes, kinds = given_codes
    structure, text, hybrid = matrices(compare(codes, kinds, Weights()))
    assert (hybrid == 0.7 * structure + 0.3 * text).all()


@settings(deadline=None)
@given(many_texts)
def test_without_a_grammar_hybrid_is_text(codes: list[str]) -> None:
    result = compare(codes, None, Weights(structure=0.0, text=1.0))
    assert result.structure is None
    assert (result.hybrid == result.text).all()


def test_score_compares_text_as_the_slow_method_does() -> None:
    codes = [program.code for program in PROGRAMS[:4]]
    result = score([f"```lua\n{code}\n```" for code in codes], language="lua")
    assert [sample.code for sample in result.samples] == codes
    np.testing.assert_allclose(result.text, slow_matrix(codes), rtol=0, atol=1e-12)


def test_score_compares_structure_as_the_slow_method_does() -> None:
    python = find_language("python")
    assert python is not None
    program = next(program for program in PROGRAMS if program.language == "python")
    codes = [program.code, program.with_another_comparison, program.with_or_for_and, "def f(x):\n    return x", "x = 1"]
    kinds = [syntax.kinds for code in codes if (syntax := read_syntax(code, python))]
    result = score([f"```python\n{code}\n```" for code in codes])
    assert result.ast is not None
    np.testing.assert_allclose(result.ast, slow_matrix(kinds), rtol=0, atol=1e-12)
    assert (result.hybrid == 0.7 * result.ast + 0.3 * result.text).all()


def test_empty_codes_are_unlike_every_other_and_each_other() -> None:
    result = score(["I cannot.", "```python\nx = 1\n```", "", "```python\nx = 1\n```"])
    assert [sample.code for sample in result.samples] == ["", "x = 1", "", "x = 1"]
    expected = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1]]
    assert result.ast is not None
    assert result.ast.tolist() == result.text.tolist() == result.hybrid.tolist() == expected
    assert any("2 of 4 answers hold no code" in note for note in result.notes)


def test_a_structure_that_was_not_read_is_like_that_of_an_equal_code_only() -> None:
    structure, text, _ = matrices(compare(["abc", "abd", "abc"], ["", "", ""], Weights()))
    assert structure.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert 0 < text[0, 1] < 1


@pytest.mark.parametrize("size", [0, 1])
def test_few_samples_have_small_matrices(size: int) -> None:
    for matrix in matrices(compare(["x"] * size, ["y"] * size, Weights())):
        assert_sound(matrix, size)


def long_text(seed: int, alphabet: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    """Some 60,000 characters in lines, the same for the same seed."""
    chance = random.Random(seed)
    text = "\n".join("".join(chance.choices(alphabet, k=30)) for _ in range(2_000))
    assert len(text) > LONG
    return text


def test_long_texts() -> None:
    text = long_text(1)
    lines = text.split("\n")
    one_line_changed = "\n".join([*lines[:900], "something else", *lines[901:]])
    matrix = similarity_matrix([text, one_line_changed, long_text(2), text, "short", ""])
    assert_sound(matrix, 6)
    assert matrix[0, 3] == 1.0
    assert 0.9 < matrix[0, 1] < 1.0
    assert matrix[0, 2] < 0.3
    assert matrix[0, 4] == matrix[0, 5] == 0.0


def test_a_long_text_with_two_parts_exchanged_is_close_to_it_but_not_equal() -> None:
    first, second = ("\n".join(f"    {name}_{k} = {k}" for k in range(2_000)) for name in ("left", "right"))
    glue = "\n\n\ndef function"
    matrix = similarity_matrix([glue + first + glue + second + glue, glue + second + glue + first + glue])
    assert 0.9 < matrix[0, 1] < 1.0


def test_long_replies_are_scored_and_the_reader_is_told() -> None:
    code = "\n".join(f"def function_{number}(a):\n    return a + {number}\n" for number in range(800))
    assert len(code) > LONG
    result = score([code, code, code.replace("function_5(", "other(")])
    assert result.ast is not None
    assert result.hybrid[0, 1] == 1.0
    assert 0.9 < result.hybrid[0, 2] < 1.0
    assert any("3 of 3 answers are over 20,000 characters" in note for note in result.notes)


def test_two_thousand_samples_make_no_objects_for_their_pairs() -> None:
    size = 2_000
    codes = [f"def f(a):\n    return a + {number}" for number in range(size)]
    kinds = [f"abc{chr(256 + number % 50)}{chr(256 + number % 7)}" for number in range(size)]
    tracemalloc.start()
    try:
        result = compare(codes, kinds, Weights())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    for matrix in matrices(result):
        assert_sound(matrix, size)
    assert peak < 300 * 1024 * 1024  # a matrix is 32 MB; two million pairs as objects would be more than all of it
