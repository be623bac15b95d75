"""From drafts to paper and key: what students are shown, what they are not, and what is never frozen."""

import itertools
import json
from decimal import Decimal

import pytest

from exams.paper import QuestionDraft, find_problems, find_warnings, freeze, render_inline, render_text
from exams.paper.drafts import Kind
from exams.paper.weights import Tick, even_weights
from tests.factories.papers import ALL_KINDS, a_question, option, questions


def test_paper_entry_of_each_kind() -> None:
    frozen = freeze(questions())

    assert [
        (entry["kind"], sorted(entry.keys() - {"id", "kind", "text", "text_format", "points"}))
        for entry in frozen.paper
    ] == [
        ("single_choice", ["choices"]),
        ("multiple_choice", ["choices"]),
        ("true_false", []),
        ("numeric", []),
        ("short_text", []),
        ("matching", ["choices", "prompts"]),
        ("essay", []),
    ]
    assert frozen.max_points == Decimal(7)


def test_paper_and_key_are_plain_json() -> None:
    frozen = freeze(questions())

    assert json.loads(json.dumps([frozen.paper, frozen.key])) == [frozen.paper, frozen.key]


@pytest.mark.parametrize(
    ("points", "shown"), [("1", 1), ("1.000", 1), ("2.5", 2.5), ("0.125", 0.125), ("10", 10)]
)
def test_points_are_numbers_in_the_paper_and_exact_texts_in_the_key(points: str, shown: float) -> None:
    frozen = freeze([a_question("essay", points=Decimal(points))])
    (entry,) = frozen.paper

    assert (entry["points"], type(entry["points"])) == (shown, type(shown))
    assert Decimal(frozen.key[entry["id"]]["points"]) == Decimal(points)


def test_ids_in_the_paper_tell_nothing_about_the_rows() -> None:
    """Row ids are UUIDv7, so they count upwards in the order of writing; authors like to write the right answer first."""
    question = a_question("single_choice", *[option(str(n), 100 * (n == 0)) for n in range(20)])
    (entry,) = freeze([question]).paper
    ids = [choice["id"] for choice in entry["choices"]]

    assert ids != sorted(ids)
    assert not any(
        shown in row.id.hex or row.id.hex in shown for shown, row in zip(ids, question.options, strict=True)
    )
    assert [choice["text"] for choice in entry["choices"]] == [str(n) for n in range(20)]


def test_ids_in_the_paper_stay_the_same() -> None:
    drafts = questions()

    assert freeze(drafts) == freeze(drafts)


def test_matching_choices_are_shuffled_once_for_all_and_twins_are_one() -> None:
    pairs = {
        "Rome": "Italy",
        "Turin": "Italy",
        "Paris": "France",
        "Lyon": "France",
        "Bern": "Switzerland",
        "": "Spain",
    }
    question = a_question("matching", *[option(prompt, match_text=match) for prompt, match in pairs.items()])
    frozen = freeze([question])
    (entry,) = frozen.paper
    texts = {choice["id"]: choice["text"] for choice in entry["choices"]}

    assert sorted(texts.values()) == ["France", "Italy", "Spain", "Switzerland"]
    assert list(texts) == sorted(texts)
    key = frozen.key[entry["id"]]["pairs"]
    assert {prompt["text"]: texts[key[prompt["id"]]] for prompt in entry["prompts"]} == {
        prompt: match for prompt, match in pairs.items() if prompt
    }
    assert not set(key) & set(texts)


def test_html_is_cleaned_and_markdown_rendered() -> None:
    assert render_text("<h3 class=x>A</h3><img src=y><iframe></iframe>", "html") == ("<h3>A</h3>", "html")
    assert render_text("*a*\n\n<script>x</script>", "markdown") == (
        "<p><em>a</em></p>\n<p>&lt;script&gt;x&lt;/script&gt;</p>",
        "html",
    )
    assert render_text("a < b\n<i>", "plain") == ("a < b\n<i>", "plain")
    assert render_inline("**b** [l](javascript:x)", "markdown") == "<strong>b</strong> [l](javascript:x)"
    assert render_inline('<a href="https://example.org" onclick="x">l</a>', "html") == (
        '<a href="https://example.org" rel="noopener noreferrer">l</a>'
    )


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "<a href='java\tscript:alert(1)'>x</a>",
        "<p style='background:url(javascript:x)'>x</p>",
        "<math><mtext></p><script>x</script>",
        "<template><script>x</script></template>",
        "<noscript><p title='</noscript><script>x</script>'>",
    ],
)
def test_nothing_that_runs_survives(hostile: str) -> None:
    for rendered in (render_text(hostile, "html")[0], render_inline(hostile, "html")):
        assert "<script" not in rendered
        assert "onerror" not in rendered
        assert "onload" not in rendered
        assert "style" not in rendered
        assert 'href="java' not in rendered


def test_every_usual_question_can_be_published() -> None:
    assert find_problems(questions()) == []
    assert find_warnings(questions()) == []


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_question_without_text_is_refused(kind: Kind) -> None:
    blank = [a_question(kind, text=text, text_format="html") for text in (" ", "<p> </p>", "<b></b>&nbsp;")]

    assert {str(problem).split(": ")[1] for problem in find_problems(blank)} == {"has no text."}


def test_problem_names_its_question_by_number_and_title() -> None:
    fine, titled, long = (
        questions(1)[0],
        a_question("true_false", option("true"), title="Sea"),
        a_question("numeric", option("x"), text="long " * 50),
    )

    assert [str(problem) for problem in find_problems([fine, titled, long])] == [
        'Question 2 (Sea): needs exactly the two choices "true" and "false".',
        "Question 3 (long long long long long long long long long long long...): has an answer without a number.",
        "Question 3 (long long long long long long long long long long long...): has no answer worth 100 %.",
    ]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (a_question("essay", points=Decimal(0)), "must be worth more than 0 points."),
        (a_question("essay", option("x")), "is an essay, which a person marks: it has no answers to list."),
        (a_question("true_false", option("true", 100), option("false", 100)), "needs one of true and false worth 100 % and the other 0 %."),
        (a_question("single_choice", option("a", 100), option(" a ")), "lists the choice “a” 2 times."),
        (a_question("single_choice", option("<b>a</b>", 100), option("<i>a</i>"), text_format="html"), "lists the choice “a” 2 times."),
        (a_question("numeric", option(fraction=100, low=Decimal(2), high=Decimal(1))), "has a range whose lower end is above its upper end."),
        (a_question("short_text", option("", 100)), "has an empty answer."),
        (a_question("single_choice", option("a", 100), option("![x](y.png)"), text_format="markdown"), "shows a picture, sound or frame, which a paper cannot carry yet."),
        (a_question("short_text", option("x", 100), *(option(f"y{number}") for number in range(1_000))), "has more than 1,000 choices, answers or pairs."),
    ],
)  # fmt: skip
def test_question_that_cannot_be_graded_right_is_refused(question: QuestionDraft, message: str) -> None:
    assert message in [problem.message for problem in find_problems([question])]


@pytest.mark.parametrize("written", ["99.99", "99.99999", "100", "100.01"])
def test_weights_may_miss_the_hundred_by_a_hundredth(written: str) -> None:
    half = (Decimal(written) / 2).quantize(Decimal("0.00001"))
    choices = [option("a", str(half)), option("b", str(Decimal(written) - half)), option("c", -100)]

    assert find_problems([a_question("multiple_choice", *choices)]) == []


def test_even_weights_reward_neither_guessing_nor_ticking_everything() -> None:
    for right, wrong in itertools.product(range(1, 8), range(1, 8)):
        weights = even_weights("multiple_choice", [Tick(True, None)] * right + [Tick(False, None)] * wrong)
        choices = [option(str(n), str(weight)) for n, weight in enumerate(weights)]

        assert find_problems([a_question("multiple_choice", *choices)]) == []
        assert abs(sum(weights, Decimal(0))) < Decimal("0.001")


def test_even_weights_keep_what_was_written() -> None:
    ticks = [Tick(True, Decimal(60)), Tick(True, None), Tick(False, Decimal(0)), Tick(False, None)]

    assert even_weights("multiple_choice", ticks) == [60, 40, 0, -100]
    assert even_weights("single_choice", ticks) == [60, 100, 0, 0]
