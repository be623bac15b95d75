"""What holds for every paper and whatever is handed in: grading is total, exact, and blind to order."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from uuid_utils.compat import uuid7

from exams.canonical import canonical_answers, read_answers
from exams.errors import Malformed
from exams.grading import Grade, grade, read_key
from exams.paper import Frozen, OptionDraft, QuestionDraft, find_problems, freeze
from tests.factories.papers import ALL_KINDS, a_question, right_answer

points = st.decimals("0.001", "9999.999", places=3)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.decimals(allow_nan=False)
    | st.floats()
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


@st.composite
def weighted_choices(draw: st.DrawFn) -> QuestionDraft:
    """A multiple choice question whose right choices share 100 % as evenly as five decimals can, as real files do."""
    right, wrong = draw(st.integers(1, 9)), draw(st.integers(0, 5))
    even = (Decimal(100) / right).quantize(Decimal("0.00001"))
    worths = [even] * right + draw(
        st.lists(st.decimals(-100, 0, places=5), min_size=wrong + 1, max_size=wrong + 1)
    )
    options = [OptionDraft(id=uuid7(), text=f"Choice {n}", fraction=worth) for n, worth in enumerate(worths)]
    return QuestionDraft(
        id=uuid7(),
        kind="multiple_choice",
        text="Which?",
        options=tuple(draw(st.permutations(options))),
        points=draw(points),
    )


questions = st.one_of(
    st.builds(lambda kind, worth: a_question(kind, points=worth), st.sampled_from(ALL_KINDS), points),
    weighted_choices(),
)
papers = st.lists(questions, min_size=1, max_size=6).map(freeze)


@st.composite
def sittings(draw: st.DrawFn) -> tuple[Frozen, dict[str, Any]]:
    """A paper with answers, each of them right, made of the paper's own ids, or anything at all."""
    paper = draw(papers)
    answers = {
        name: draw(plausible(entry) | anything) for name, entry in paper.key.items() if draw(st.booleans())
    }
    return paper, answers | draw(st.dictionaries(st.text(max_size=5), anything, max_size=2))


def plausible(entry: dict[str, Any]) -> st.SearchStrategy[Any]:
    match entry["kind"]:
        case "multiple_choice":
            return st.lists(st.sampled_from([*entry["fractions"]]))
        case "matching":
            return st.dictionaries(
                st.sampled_from([*entry["pairs"]]), st.sampled_from([*entry["pairs"].values()])
            )
        case "numeric":
            return st.decimals(0, 5, places=3) | st.decimals(0, 5, places=3).map(str)
    return st.just(right_answer(entry))


def graded(paper: Frozen, answers: dict[str, Any]) -> Grade:
    return grade(read_key(paper.key), answers)


@given(questions)
def test_questions_drawn_here_could_be_published(question: QuestionDraft) -> None:
    assert find_problems([question]) == []


@given(sittings())
def test_grading_answers_whatever_it_is_asked(sitting: tuple[Frozen, dict[str, Any]]) -> None:
    paper, answers = sitting

    found = graded(paper, answers)

    assert list(found.questions) == list(paper.key)
    assert found.max_points == paper.max_points
    assert 0 <= found.score <= found.max_points
    assert all(0 <= question.points <= question.max_points for question in found.questions.values())
    assert {type(found.score), *(type(question.points) for question in found.questions.values())} == {Decimal}
    assert found.score == found.score.quantize(Decimal("0.001"))
    assert found.state == (
        "needs_marking" if any(q.state == "needs_marking" for q in found.questions.values()) else "graded"
    )


@given(sittings(), st.randoms())
def test_grading_is_blind_to_every_order(sitting: tuple[Frozen, dict[str, Any]], random: Any) -> None:
    paper, answers = sitting
    key = {
        name: {part: shuffle(inner, random) for part, inner in entry.items()}
        for name, entry in paper.key.items()
    }

    assert grade(read_key(shuffle(key, random)), shuffle(answers, random)) == graded(paper, answers)


def shuffle(value: Any, random: Any) -> Any:
    """Shuffle an object or a list, but not what is inside."""
    if isinstance(value, dict):
        return dict(random.sample(list(value.items()), len(value)))
    return random.sample(value, len(value)) if isinstance(value, list) else value


@given(sittings())
def test_canonical_text_earns_what_the_answers_earn(sitting: tuple[Frozen, dict[str, Any]]) -> None:
    """Grading sees only what the receipt's digest is of, so writing answers canonically must not change a mark."""
    paper, answers = sitting
    plain = {name: value for name, value in answers.items() if is_an_answer(value)}

    stored = read_answers(canonical_answers(plain))

    assert points_of(graded(paper, stored)) == points_of(graded(paper, plain))


def points_of(found: Grade) -> list[Decimal]:
    return [question.points for question in found.questions.values()]


def is_an_answer(value: Any) -> bool:
    try:
        canonical_answers({"q": value})
    except Malformed:
        return False
    return not isinstance(value, float)


@given(papers)
def test_right_answers_earn_full_marks_exactly(paper: Frozen) -> None:
    found = graded(paper, {name: right_answer(entry) for name, entry in paper.key.items()})

    waiting = sum(q.max_points for q in found.questions.values() if q.state == "needs_marking")
    assert found.score == found.max_points - waiting


@given(weighted_choices(), st.data())
def test_one_more_right_tick_never_costs_and_a_wrong_one_never_pays(
    question: QuestionDraft, data: st.DataObject
) -> None:
    paper = freeze([question])
    ((name, entry),) = paper.key.items()
    ticked = data.draw(st.lists(st.sampled_from([*entry["fractions"]]), unique=True))
    extra = data.draw(st.sampled_from([*entry["fractions"]]))

    before, after = (graded(paper, {name: ticks}).score for ticks in (ticked, [*ticked, extra]))

    assert after >= before if Decimal(entry["fractions"][extra]) > 0 else after <= before


@given(papers)
def test_paper_shows_nothing_of_the_key(paper: Frozen) -> None:
    allowed = {"id", "kind", "text", "text_format", "points", "choices", "prompts"}

    assert all(set(entry) <= allowed for entry in paper.paper)
    assert all(set(choice) == {"id", "text"} for entry in paper.paper for choice in entry.get("choices", []))
