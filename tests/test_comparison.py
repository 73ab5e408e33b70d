"""Two runs, and the same prompts twice: one rule for interval, test and words, and no more false alarms than it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator_core import score
from evaluator_core.comparison import (
    LEAST,
    Comparison,
    Difference,
    compare_means,
    compare_over_prompts,
    compare_runs,
    compare_shares,
)
from evaluator_core.intervals import pseudo_values
from evaluator_core.permutation import deal, flip, limit, p_value
from evaluator_core.types import Score
from tests.runs import ALIKE, BUILTIN, LOOP
from tests.test_statistics import draws, matrices, population

OTHER = "```python\nclass Queue:\n    def take(self, count, step=2):\n        while count:\n            count -= step\n```"
EMPTY = "I would rather not."


def known(found: Comparison) -> Difference:
    assert found.confidence is not None
    return found.confidence


def steady(count: int) -> Score:
    return score([LOOP] * count)


def mixed(count: int) -> Score:
    return score([[LOOP, BUILTIN, OTHER, EMPTY][place % 4] for place in range(count)])


def test_says_which_is_more_consistent_whichever_comes_first() -> None:
    found = compare_runs(steady(10), mixed(12), ("gpt", "smol"))
    difference = known(found)
    assert difference.is_real
    assert difference.low > 0
    expected = f"(difference {difference.points:.0f} points, 95 % interval {difference.low:.0f} to {difference.high:.0f})"
    assert found.sentence == f"gpt is more consistent than smol {expected}"
    assert found.needed is None
    swapped = compare_runs(mixed(12), steady(10), ("smol", "gpt"))
    assert swapped.sentence == found.sentence
    assert known(swapped) == Difference(-difference.points, -difference.high, -difference.low, difference.p_value)


def test_says_how_many_samples_would_tell_them_apart() -> None:
    found = compare_runs(score([LOOP, LOOP, LOOP, BUILTIN, ALIKE]), score([LOOP, LOOP, LOOP, LOOP, ALIKE]))
    assert found.needed is not None
    assert found.needed > 5
    assert found.sentence == f"these 5 samples cannot tell them apart; about {found.needed} each would"
    unequal = compare_runs(score([LOOP, LOOP, LOOP, BUILTIN, ALIKE]), score([LOOP, LOOP, LOOP, LOOP, ALIKE, LOOP]))
    assert unequal.sentence.startswith("these 5 and 6 samples cannot tell them apart; about ")


def test_says_when_no_number_of_samples_is_worth_naming() -> None:
    found = compare_runs(score([LOOP, BUILTIN, OTHER, LOOP, EMPTY]), score([LOOP, BUILTIN, OTHER, LOOP, EMPTY]))
    assert found.sentence == "these 5 samples cannot tell them apart; 1,000 each might not either"
    assert known(found).points == 0.0


def test_two_perfect_runs_may_still_differ() -> None:
    found = compare_runs(steady(10), steady(10))
    assert found.sentence == "both are perfectly consistent in these 10 samples; up to 13 points may still part them"
    assert known(found).low < 0 < known(found).high


def test_too_few_samples_are_not_compared() -> None:
    assert compare_runs(steady(3), steady(8)).sentence == "not enough samples to compare: each needs 4, and A has 3"
    found = compare_runs(steady(3), steady(2))
    assert found.sentence == "not enough samples to compare: each needs 4, and A has 3 and B has 2"
    assert found.confidence is None
    assert found.agreement is None


def test_agreement_is_compared_at_one_threshold_only() -> None:
    replies = [LOOP, BUILTIN, ALIKE, LOOP, LOOP]
    assert compare_runs(score(replies), score(replies)).agreement is not None
    assert compare_runs(score(replies), score(replies, threshold=0.5)).agreement is None


def test_languages_that_differ_are_compared_by_text() -> None:
    codes = ["total = sum(values)", "total = 0", "print(total)", "total = sum(values)"]
    found = compare_runs(score(codes, language="python"), score(codes, language="ruby"))
    assert found.by_text
    assert known(found).points == 0.0


def test_few_samples_are_dealt_in_every_way() -> None:
    """A slow oracle: all 70 ways to deal eight pseudo-values, each by its own arithmetic."""
    first, second = draws(population([0.7, 0.2, 0.1], 0.5), 4, 2, seed=4)
    values = np.concatenate([pseudo_values(first), pseudo_values(second)])
    ratios = []
    ways, complete = deal(4, 4)
    assert complete
    assert len(ways) == 70
    for way in ways:
        groups = [values[way == 1], values[way == 0]]
        unseen = [4 * ((group.mean() - 0.6) ** 2 + 0.01) / 25 for group in groups]
        error = np.sqrt(sum(group.var(ddof=1) / 4 + extra for group, extra in zip(groups, unseen, strict=True)))
        ratios.append(abs(groups[0].mean() - groups[1].mean()) / error)
    observed = next(place for place, way in enumerate(ways) if way.tolist() == [1] * 4 + [0] * 4)
    reach = max(LEAST, sorted(ratios, reverse=True)[3])
    points = values[:4].mean() - values[4:].mean()
    error = abs(points) / ratios[observed]
    difference, _ = compare_means(first, second)
    assert difference.low == pytest.approx(100 * (points - reach * error), abs=0.11)
    assert difference.high == pytest.approx(100 * (points + reach * error), abs=0.11)


@settings(deadline=None)
@given(matrices(least=4), matrices(least=4), st.randoms(use_true_random=False))
def test_one_rule_for_any_two_runs(first: np.ndarray, second: np.ndarray, random: object) -> None:
    difference, needed = compare_means(first, second)
    assert difference.low <= difference.points <= difference.high
    assert difference.low < difference.high
    assert difference.p_value is not None
    if difference.is_real:
        assert difference.p_value <= 0.05
        assert needed is None
    if difference.p_value > 0.05:
        assert not difference.is_real
    swapped, _ = compare_means(second, first)
    assert (swapped.points, swapped.low, swapped.high) == (-difference.points, -difference.high, -difference.low)
    order = np.arange(len(first))
    random.shuffle(order)  # type: ignore[attr-defined]
    again, _ = compare_means(first[np.ix_(order, order)], second)
    assert (again.low, again.high) == pytest.approx((difference.low, difference.high), abs=0.11)
    shares = compare_shares((first >= 0.85).astype(float), (second >= 0.85).astype(float))
    assert -100 <= shares.low <= shares.points <= shares.high <= 100
    assert shares.low < shares.high


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (population([0.5, 0.3] + [0.02] * 10, 0.6), population([0.5, 0.3] + [0.02] * 10, 0.6)),
        # Two different distributions of one consistency: 0.34 and its square root.
        (population([0.5, 0.3] + [0.02] * 10, 0.6), population([0.58] + [0.01] * 42, 0.6)),
    ],
    ids=["the same population", "other programs, as consistent"],
)
def test_false_alarms_are_about_one_in_twenty(one: np.ndarray, other: np.ndarray) -> None:
    assert one.mean() == pytest.approx(other.mean(), abs=0.003)
    pairs = zip(draws(one, 10, 600, seed=1), draws(other, 10, 600, seed=2), strict=True)
    alarms = np.mean([compare_means(first, second)[0].is_real for first, second in pairs])
    assert 0.015 <= alarms <= 0.085


def test_a_real_difference_is_found_more_often_with_more_samples() -> None:
    one, other = population([0.85] + [0.01] * 15, 0.5), population([0.5] + [0.01] * 50, 0.5)
    power = []
    for size in (5, 10, 40):
        pairs = zip(draws(one, size, 200, seed=3), draws(other, size, 200, seed=4), strict=True)
        power.append(np.mean([compare_means(first, second)[0].low > 0 for first, second in pairs]))
    assert power == sorted(power)
    assert power[-1] > 0.9


def test_the_same_prompts_are_paired() -> None:
    found = compare_over_prompts([70, 80, 90, 60, 71, 75], [60, 71, 78, 50, 62, 64], ("warm", "cold"))
    assert known(found).points == pytest.approx(10.2)
    assert found.sentence.startswith("warm is more consistent than cold over 6 prompts (difference 10 points, 95 % interval ")
    reverse = compare_over_prompts([60, 71, 78, 50, 62, 64], [70, 80, 90, 60, 71, 75], ("cold", "warm"))
    assert reverse.sentence == found.sentence


def test_prompts_that_cannot_tell_say_how_many_would() -> None:
    found = compare_over_prompts([70, 80, 90, 60, 70, 75, None], [60, 91, 78, 70, 62, 64, 10])
    assert found.needed is not None
    assert found.sentence == f"these 6 prompts cannot tell them apart; about {found.needed} would"
    same = compare_over_prompts([70.0] * 8, [70.0] * 8)
    assert same.sentence == "these 8 prompts cannot tell them apart; 1,000 might not either"
    assert known(same).low < 0 < known(same).high
    few = compare_over_prompts([70, None, 80], [60, 50, 91])
    assert few.sentence == "not enough prompts to compare: 6 are needed, and there are 2"
    with pytest.raises(ValueError, match="zip"):
        compare_over_prompts([70.0], [60.0, 61.0])


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), min_size=6, max_size=14))
def test_one_rule_for_any_prompts(pairs: list[tuple[float, float]]) -> None:
    found = compare_over_prompts([one for one, _ in pairs], [other for _, other in pairs])
    difference = known(found)
    assert difference.low <= difference.points <= difference.high
    assert difference.p_value is not None
    assert ("more consistent" in found.sentence) == difference.is_real
    assert not difference.is_real or difference.p_value <= 0.05


def test_false_alarms_over_prompts_are_about_one_in_twenty() -> None:
    rng = np.random.default_rng(0)
    values = rng.exponential(10, (600, 2, 8))  # skewed, as confidence near 100 is
    alarms = [known(compare_over_prompts(one.tolist(), other.tolist())).is_real for one, other in values]
    assert 0.005 <= np.mean(alarms) <= 0.07


def test_the_limit_and_the_share_beyond_it_say_the_same() -> None:
    ratios = np.arange(1.0, 101.0)
    assert limit(ratios) == 95.0
    assert p_value(96.0, ratios) == 0.05
    assert p_value(95.0, ratios) == 0.06
    signs, complete = flip(3)
    assert complete
    assert sorted(map(tuple, signs.tolist())) == sorted({tuple(row) for row in signs.tolist()})
    ways, complete = deal(20, 30)
    assert not complete
    assert (ways.sum(axis=1) == 20).all()
    assert (ways == deal(20, 30)[0]).all()
