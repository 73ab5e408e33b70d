"""What a score shows beyond its numbers, held against loops that anyone can read."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import score
from evaluator_core.insights import (
    agreement_at,
    agreement_curve,
    identical_groups,
    mean_similarities,
    odd_one_out,
    order_by_likeness,
    typical_answer,
)
from evaluator_core.metrics import measure
from evaluator_core.types import Matrix, Reply, Sample, Score, Weights
from tests.runs import ALIKE, BUILTIN, LOOP, detailed_run, make_run

CODE = "```python\n{}\n```"
SIMILARITIES = st.floats(0, 1) | st.integers(0, 20).map(lambda step: step / 20)


@st.composite
def matrices(draw: st.DrawFn, least: int = 0, most: int = 8) -> Matrix:
    size = draw(st.integers(least, most))
    matrix = np.eye(size)
    for i in range(size):
        for j in range(i):
            matrix[i, j] = matrix[j, i] = draw(SIMILARITIES)
    return matrix


def score_of(hybrid: Matrix, codes: Sequence[str] | None = None, ast: Matrix | None = None) -> Score:
    """A score with these similarities, whatever the codes."""
    codes = [f"code {row}" for row in range(len(hybrid))] if codes is None else codes
    samples = tuple(Sample(Reply(index, code), code, None) for index, code in enumerate(codes))
    return Score(samples, "python", 0.85, Weights(), ast, hybrid, hybrid, measure(hybrid, 0.85))


def exact_means(hybrid: Matrix) -> list[Fraction]:
    """The mean similarity of each answer to the others, without any rounding."""
    size = len(hybrid)
    return [sum((Fraction(float(hybrid[i, j])) for j in range(size) if j != i), Fraction()) / (size - 1) for i in range(size)]


@given(matrices(least=2))
def test_the_typical_answer_has_the_highest_mean(hybrid: Matrix) -> None:
    means = exact_means(hybrid)
    found = typical_answer(score_of(hybrid))
    assert found is not None
    assert found.mean_similarity == pytest.approx(float(max(means)), abs=2e-12)
    assert float(means[found.row]) == pytest.approx(float(max(means)), abs=2e-12)
    assert found.row <= means.index(max(means))  # the first of equals, whatever the last bit says
    assert -1e-12 <= found.mean_similarity <= 1 + 1e-12


@given(matrices(least=3))
def test_the_odd_one_out_has_the_lowest_mean(hybrid: Matrix) -> None:
    means = exact_means(hybrid)
    found = odd_one_out(score_of(hybrid))
    if found is None:
        assert max(means) - min(means) < Fraction(2, 10**9)
        return
    assert max(means) - min(means) > Fraction(1, 2 * 10**9)
    assert found.mean_similarity == pytest.approx(float(min(means)), abs=2e-12)
    assert float(means[found.row]) == pytest.approx(float(min(means)), abs=2e-12)


@given(st.integers(2, 40), SIMILARITIES)
def test_among_equals_the_first_is_typical_and_none_is_odd(size: int, likeness: float) -> None:
    hybrid = np.full((size, size), likeness)
    np.fill_diagonal(hybrid, 1.0)
    found = typical_answer(score_of(hybrid))
    assert found is not None
    assert found.row == 0
    assert odd_one_out(score_of(hybrid)) is None


@given(matrices())
def test_mean_similarities_are_those_of_a_loop(hybrid: Matrix) -> None:
    means = mean_similarities(hybrid)
    if len(hybrid) < 2:
        assert means is None
    else:
        assert means is not None
        assert means.tolist() == pytest.approx([float(mean) for mean in exact_means(hybrid)], abs=2e-12)


def test_too_few_answers_have_neither() -> None:
    none, one, two = (make_run([LOOP, BUILTIN][:count]).score for count in range(3))
    for few in (none, one):
        assert typical_answer(few) is None
        assert odd_one_out(few) is None
        assert agreement_at(few.hybrid, 0.5) is None
        assert agreement_curve(few.hybrid) == ()
    assert typical_answer(two) is not None
    assert odd_one_out(two) is None


def test_an_answer_without_code_is_the_odd_one() -> None:
    found = odd_one_out(make_run([BUILTIN, "I would rather not.", ALIKE]).score)
    assert found is not None
    assert (found.row, found.mean_similarity) == (1, 0.0)


def test_rows_are_places_and_not_indices() -> None:
    answers = detailed_run().score
    assert [sample.index for sample in answers.samples] == [0, 2, 4]
    odd = odd_one_out(answers)
    assert odd is not None
    assert odd.row == 1
    assert identical_groups(answers) == ((0,), (2,))


def test_renamed_programs_are_one_group_and_the_largest_comes_first() -> None:
    assert identical_groups(make_run([LOOP, BUILTIN, "No.", ALIKE]).score) == ((1, 3), (0,))
    loops = [LOOP.replace("total", name) for name in ("s", "acc", "result")]
    assert identical_groups(make_run([BUILTIN, *loops, ALIKE]).score) == ((1, 2, 3), (0, 4))
    assert identical_groups(make_run([LOOP, BUILTIN]).score) == ((0,), (1,))


def test_without_a_grammar_only_the_same_text_counts() -> None:
    same, other = CODE.replace("python", "").format("PRINT 1"), CODE.replace("python", "").format("PRINT 2")
    answers = score([other, same, same], language="no such language")
    assert answers.ast is None
    assert identical_groups(answers) == ((1, 2), (0,))


@pytest.mark.parametrize("texts", [[], ["No."], ["No.", "Nor I."]])
def test_without_code_there_are_no_groups(texts: list[str]) -> None:
    assert identical_groups(make_run(texts).score) == ()


@settings(deadline=None)
@given(st.lists(st.sampled_from(["", "x = 1", "y = 2", "x = y", "print(x)", "print( z )", "x +", "# only"]), max_size=12))
def test_groups_part_the_answers_with_code(codes: list[str]) -> None:
    answers = score([CODE.format(code) if code else "No." for code in codes])
    groups = identical_groups(answers)
    assert sorted(row for group in groups for row in group) == [row for row, sample in enumerate(answers.samples) if sample.code]
    assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)
    assert all(group == tuple(sorted(group)) for group in groups)
    assert answers.ast is not None
    family = {row: number for number, group in enumerate(groups) for row in group}
    for i in family:
        for j in family:
            assert (family[i] == family[j]) == bool(answers.ast[i, j] == 1.0)


@given(st.lists(st.integers(0, 4), max_size=15))
def test_groups_are_the_families_that_were_planted(families: list[int]) -> None:
    kinds = np.array(families)
    alike = np.where(kinds[:, None] == kinds[None, :], 1.0, 0.999999)
    codes = ["" if kind == 0 else "code" for kind in families]
    wanted = [tuple(row for row, kind in enumerate(families) if kind == chosen) for chosen in range(1, 5)]
    expected = tuple(sorted((group for group in wanted if group), key=lambda group: (-len(group), group[0])))
    unlike = np.eye(len(families))
    assert identical_groups(score_of(unlike, codes, ast=alike)) == expected
    assert identical_groups(score_of(alike, codes, ast=None)) == expected


@given(matrices(least=2))
def test_the_curve_is_the_agreement_at_every_threshold(hybrid: Matrix) -> None:
    curve = agreement_curve(hybrid)
    assert [threshold for threshold, _ in curve] == pytest.approx([step / 100 for step in range(101)], abs=2e-12)
    for threshold, percent in curve:
        measured = measure(hybrid, threshold).agreement_percent
        assert measured == pytest.approx(percent, abs=0.05 + 1e-9)  # the metric has one decimal
        assert agreement_at(hybrid, threshold) == measured
    percents = [percent for _, percent in curve]
    assert percents[0] == 100.0
    assert percents == sorted(percents, reverse=True)


@given(matrices(least=2), st.floats(0, 1))
def test_agreement_at_a_threshold_is_counted_by_a_loop(hybrid: Matrix, threshold: float) -> None:
    pairs = [float(hybrid[i, j]) for i in range(len(hybrid)) for j in range(i)]
    reached = sum(pair >= threshold - 1e-9 for pair in pairs)
    assert agreement_at(hybrid, threshold) == pytest.approx(100 * reached / len(pairs), abs=0.05 + 1e-9)


@pytest.mark.parametrize("step", range(101))
def test_a_pair_on_the_threshold_agrees_in_the_curve_too(step: int) -> None:
    hybrid = np.array([[1.0, step / 100], [step / 100, 1.0]])
    assert agreement_curve(hybrid)[step][1] == 100.0
    assert [percent for _, percent in agreement_curve(hybrid)[step + 1 :]] == [0.0] * (100 - step)


def test_the_run_s_own_threshold_gives_the_run_s_own_agreement() -> None:
    answers = make_run().score
    assert agreement_at(answers.hybrid, answers.threshold) == answers.agreement_percent
    assert len(agreement_curve(answers.hybrid, steps=7)) == 8


@given(matrices())
def test_the_order_is_a_permutation_and_always_the_same(hybrid: Matrix) -> None:
    before = hybrid.copy()
    order = order_by_likeness(hybrid)
    assert sorted(order) == list(range(len(hybrid)))
    assert order == order_by_likeness(before)
    assert np.array_equal(hybrid, before)
    assert all(type(row) is int for row in order)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_up_to_two_answers_keep_their_order(size: int) -> None:
    assert order_by_likeness(np.eye(size)) == tuple(range(size))


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=30), st.integers(0, 2**32 - 1))
def test_planted_families_stand_side_by_side(families: list[int], seed: int) -> None:
    assert_side_by_side(families, seed)


@pytest.mark.timeout(30)
@pytest.mark.parametrize("size", [200, 201, 300])
def test_three_hundred_answers_are_ordered_too(size: int) -> None:
    assert_side_by_side([random.Random(size).randrange(6) for _ in range(size)], seed=size)
    equal = np.ones((size, size))
    assert sorted(order_by_likeness(equal)) == list(range(size))


def assert_side_by_side(families: Sequence[int], seed: int) -> None:
    """Pairs within a family are 0.7 to 1 alike, all others 0 to 0.4: each family must be one stretch of the order."""
    noise = np.triu(np.random.default_rng(seed).random((len(families), len(families))), 1)
    kinds = np.array(families)
    hybrid = np.where(kinds[:, None] == kinds[None, :], 0.7 + 0.3 * (noise + noise.T), 0.4 * (noise + noise.T))
    np.fill_diagonal(hybrid, 1.0)
    in_order = [families[row] for row in order_by_likeness(hybrid)]
    stretches = 1 + sum(one != other for one, other in pairwise(in_order))
    assert stretches == len(set(families))
