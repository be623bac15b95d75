"""Which mark a student's attempts make, by the exam's policy."""

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exams.counting import AttemptResult, find_mark
from exams.models import CountingAttempt

TEN = Decimal(10)
POLICIES = list(CountingAttempt)


def results(*scores: str | None, state: str = "graded") -> list[AttemptResult]:
    """Return results out of 10, numbered from 1; None is a failure."""
    return [
        AttemptResult(number, state if score else "failed", score and Decimal(score), TEN)  # type: ignore[arg-type]
        for number, score in enumerate(scores, 1)
    ]


@pytest.mark.parametrize(
    ("policy", "scores", "mark"),
    [
        ("best", ["4", "7.5", "6"], "7.5"),
        ("last", ["4", "7.5", "6"], "6"),
        ("average", ["4", "7.5", "6"], "5.833"),
        ("average", ["1", "2", "2"], "1.667"),
        ("average", ["0.0005", "0.0006"], "0.001"),
        ("best", ["0"], "0"),
        ("best", ["4", None], "4"),
        ("average", ["4", None], "4"),
        ("last", ["4", None], None),
        ("best", [None], None),
        ("best", [], None),
        ("last", [], None),
        ("average", [], None),
    ],
)
def test_the_policy_says_what_the_attempts_make(
    policy: str, scores: list[str | None], mark: str | None
) -> None:
    assert find_mark(policy, results(*scores), out_of=TEN) == (None if mark is None else Decimal(mark))


@pytest.mark.parametrize("policy", POLICIES)
def test_what_waits_for_a_person_makes_no_mark(policy: str) -> None:
    assert find_mark(policy, results("5", state="needs_marking"), out_of=TEN) is None


@pytest.mark.parametrize("policy", POLICIES)
def test_a_result_out_of_nothing_makes_no_mark(policy: str) -> None:
    nothing = [AttemptResult(1, "graded", Decimal(0), Decimal(0))]
    assert find_mark(policy, nothing, out_of=TEN) is None


def test_results_of_two_revisions_are_compared_by_their_share() -> None:
    older = AttemptResult(1, "graded", Decimal(9), Decimal(20))
    newer = AttemptResult(2, "graded", Decimal(4), Decimal(8))
    assert find_mark("best", [older, newer], out_of=Decimal(8)) == Decimal(4)


points = st.decimals(min_value=0, max_value=10, places=3)


@given(scores=st.lists(points, min_size=1, max_size=6), seed=st.randoms(use_true_random=False))
def test_the_order_of_the_results_does_not_matter(scores: list[Decimal], seed: Random) -> None:
    in_order = [AttemptResult(number, "graded", score, TEN) for number, score in enumerate(scores, 1)]
    shuffled = in_order.copy()
    seed.shuffle(shuffled)
    for policy in POLICIES:
        assert find_mark(policy, in_order, out_of=TEN) == find_mark(policy, shuffled, out_of=TEN)


@given(
    scores=st.lists(points, min_size=1, max_size=6),
    out_of=st.decimals(min_value="0.001", max_value=999, places=3),
)
def test_a_mark_is_never_outside_its_column_and_never_finer_than_a_thousandth(
    scores: list[Decimal], out_of: Decimal
) -> None:
    taken = [AttemptResult(number, "graded", score, TEN) for number, score in enumerate(scores, 1)]
    marks = {policy: find_mark(policy, taken, out_of=out_of) for policy in POLICIES}
    for mark in marks.values():
        assert mark is not None
        assert 0 <= mark <= out_of
        assert mark == round(mark, 3)
        assert mark <= (marks[CountingAttempt.BEST] or 0)


@given(score=points)
def test_a_single_result_in_a_column_of_its_own_maximum_is_posted_exactly(score: Decimal) -> None:
    for policy in POLICIES:
        assert find_mark(policy, [AttemptResult(1, "graded", score, TEN)], out_of=TEN) == score
