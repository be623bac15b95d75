"""GIFT files, kind by kind, and the texts in them."""

from decimal import Decimal

import pytest

from exams.gift import read_gift
from exams.grading import grade, read_key
from exams.paper import OptionDraft, freeze
from tests.exams.gift.texts import question, questions, ranges, weights


def test_single_choice_has_one_right_answer_and_weights() -> None:
    text = "::Capitals:: Capital of France? {=Paris ~%50%Versailles ~Lyon ~%-25%Berlin}"

    assert (question(text).kind, question(text).title, question(text).text) == (
        "single_choice",
        "Capitals",
        "Capital of France?",
    )
    assert weights(text) == {"Paris": "100", "Versailles": "50", "Lyon": "0", "Berlin": "-25"}


def test_multiple_choice_has_no_equals_sign() -> None:
    text = "Which are continents? {\n ~%33.33333%Africa\n ~%33.33333%Asia\n ~%33.33333%Antarctica\n ~%-100%Atlantis\n}"

    assert question(text).kind == "multiple_choice"
    assert weights(text) == {
        "Africa": "33.33333",
        "Asia": "33.33333",
        "Antarctica": "33.33333",
        "Atlantis": "-100",
    }


def test_three_thirds_are_full_marks_once_imported() -> None:
    text = "Which? {~%33.33333%a ~%33.33333%b ~%33.33333%c ~%-100%d ~%-100%e}"
    frozen = freeze(questions(text))
    (entry,) = frozen.paper
    ids = {choice["text"]: choice["id"] for choice in entry["choices"]}

    def score(*ticked: str) -> Decimal:
        return grade(read_key(frozen.key), {entry["id"]: [ids[text] for text in ticked]}).score

    assert (score("a", "b", "c"), score("a", "b"), score("a", "b", "c", "d")) == (
        Decimal(1),
        Decimal("0.667"),
        Decimal(0),
    )


@pytest.mark.parametrize(
    ("braces", "right"),
    [
        ("T", "true"),
        ("TRUE", "true"),
        ("F", "false"),
        ("FALSE", "false"),
        (" true ", "true"),
        ("F#no#yes", "false"),
    ],
)
def test_true_false(braces: str, right: str) -> None:
    found = question(f"The sun rises in the west. {{{braces}}}")

    assert found.kind == "true_false"
    assert [option.text for option in found.options if option.fraction == 100] == [right]


@pytest.mark.parametrize(
    ("braces", "expected"),
    [
        ("#1822", [("1822", "1822", "100")]),
        ("#1822:5", [("1817", "1827", "100")]),
        ("#3.1415:0.0005", [("3.1410", "3.1420", "100")]),
        ("#3,14:0,01", [("3.13", "3.15", "100")]),
        ("#-5..5", [("-5", "5", "100")]),
        ("#-3.142..-3.141", [("-3.142", "-3.141", "100")]),
        ("#=1822:0 =%50%1822:2", [("1822", "1822", "100"), ("1820", "1824", "50")]),
        ("#\n\t=%0%5:0#No.\n\t=%100%9:0#Yes.\n", [("5", "5", "0"), ("9", "9", "100")]),
        ("#=7 ~#Not seven", [("7", "7", "100")]),
        ("#=7 ~%0%*#Not seven", [("7", "7", "100")]),
        ("#1e3:1e1", [("990", "1010", "100")]),
        (
            "#1234567890123456789012345.000000000000005:0.000000000000001",
            [
                (
                    "1234567890123456789012345.000000000000004",
                    "1234567890123456789012345.000000000000006",
                    "100",
                )
            ],
        ),
    ],
)
def test_numeric(braces: str, expected: list[tuple[str, str, str]]) -> None:
    found = [(Decimal(low), Decimal(high), worth) for low, high, worth in ranges(f"How many? {{{braces}}}")]

    assert question(f"How many? {{{braces}}}").kind == "numeric"
    assert found == [(Decimal(low), Decimal(high), worth) for low, high, worth in expected]


def test_short_text_keeps_wildcards_and_weights() -> None:
    text = r"Who wrote Faust? {=Goethe =%50%*Goethe* =%0%Schiller#His friend.}"

    assert question(text).kind == "short_text"
    assert weights(text) == {"Goethe": "100", "*Goethe*": "50", "Schiller": "0"}


def test_matching_has_pairs_and_may_have_distractors() -> None:
    found = question("Match. {\n =France -> Paris\n =Italy -> Rome\n = -> Oslo\n}")

    assert found.kind == "matching"
    assert [(option.text, option.match_text) for option in found.options] == [
        ("France", "Paris"),
        ("Italy", "Rome"),
        ("", "Oslo"),
    ]


def test_essay_has_empty_braces() -> None:
    assert (question("Discuss. {}").kind, question("Discuss. { }").options) == ("essay", ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Grant is {~buried =entombed ~living} in Grant's tomb.", "Grant is _____ in Grant's tomb."),
        ("Two plus two is {#4}.", "Two plus two is _____."),
        ("{=Two =2} plus two is four.", "_____ plus two is four."),
    ],
)
def test_missing_word_leaves_a_gap(text: str, shown: str) -> None:
    assert question(text).text == shown


def test_escapes_stand_for_themselves() -> None:
    found = question(r"::1\: a\=b:: \{x\} \~ y \# z \: w\nnew line \\ back \frac{=\=1 =1\~2 =%50%\#3 =a\\b}")

    assert (found.title, found.text) == ("1: a=b", "{x} ~ y # z : w\nnew line \\ back \\frac")
    assert [option.text for option in found.options] == ["=1", "1~2", "#3", "a\\b"]


def test_comments_categories_and_line_endings_are_no_part_of_questions() -> None:
    text = (
        "\ufeff// Questions on capitals\r\n$CATEGORY: $course$/Geography\r\n\r\n// easy\r\n::One:: A? {\r\n  =a\r\n"
        "  // a comment between\r\n  ~b\r\n}\r\n// right after\r\n\r\n$CATEGORY: other\r\n::Two:: B? {T}\r\n"
    )
    paper = read_gift(text.encode())

    assert [found.title for found in paper.questions] == ["One", "Two"]
    assert [option.text for option in paper.questions[0].options] == ["a", "b"]
    assert paper.notes == ["Categories are not kept (2 named in the file)."]


@pytest.mark.parametrize(
    ("text", "text_format", "shown"),
    [
        ("[html]<p>A</p>{=<b>x</b> ~y < z}", "html", ["<p>A</p>", "<b>x</b>", "y &lt; z"]),
        ("[markdown]A *b*{=c ~d}", "markdown", ["A *b*", "c", "d"]),
        ("[plain]A <b>b</b>{=<i>c</i> ~d}", "plain", ["A <b>b</b>", "<i>c</i>", "d"]),
        ("A <b>b</b>{=c & d ~d}", "html", ["A <b>b</b>", "c &amp; d", "d"]),
        ("[moodle]A <b>b</b>{=c ~d}", "html", ["A <b>b</b>", "c", "d"]),
        ("Is 1 < 2 > 0? {=1<2 ~d}", "plain", ["Is 1 < 2 > 0?", "1<2", "d"]),
        ("A & b? {=[html]<i>c</i> ~d\\n& e}", "html", ["A &amp; b?", "<i>c</i>", "d<br>&amp; e"]),
        ("[html]A? {=[plain]<i> ~d}", "html", ["A?", "&lt;i&gt;", "d"]),
    ],
)
def test_text_has_one_format_for_the_whole_question(text: str, text_format: str, shown: list[str]) -> None:
    found = question(text)
    frozen = freeze([found])

    assert found.text_format == text_format
    texts = [frozen.paper[0]["text"], *(choice["text"] for choice in frozen.paper[0]["choices"])]
    if text_format != "markdown":
        assert texts == shown
    else:
        assert texts == ["<p>A <em>b</em></p>", "c", "d"]


def test_script_never_reaches_the_paper() -> None:
    text = (
        r"[html]<p onclick\='x()'>A<script>alert(1)</script><a href\='javascript\:x()'>b</a></p>"
        r"{=<b onmouseover\=x>c</b> ~d}"
    )
    (entry,) = freeze(questions(text)).paper

    assert entry["text"] == '<p>A<a rel="noopener noreferrer">b</a></p>'
    assert [choice["text"] for choice in entry["choices"]] == ["<b>c</b>", "d"]


def test_short_answers_in_html_are_compared_as_text() -> None:
    found = question("[html]<p>Which tag?</p>{=[html]<p>a &lt; b</p> =<p>}")

    assert [option.text for option in found.options] == ["a < b", "<p>"]


def test_description_above_the_first_question_becomes_the_instructions() -> None:
    paper = read_gift(b"::Rules:: Use a pencil.\n\n[html]<p>Good <b>luck</b>!</p>\n\nA? {T}\n")

    assert (paper.instructions, len(paper.questions)) == ("Use a pencil.\n\nGood luck!", 1)
    assert paper.notes == [
        "Line 1, \u201cRules\u201d: has no answers, so it became the instructions.",
        "Line 3, \u201c[html]<p>Good <b>luck</b>!</p>\u201d: has no answers, so it became the instructions.",
    ]


def test_options_have_ids_of_their_own() -> None:
    found = questions("A? {=a ~b}\n\nA? {=a ~b}")
    ids = [found[0].id, found[1].id, *(option.id for q in found for option in q.options)]

    assert len(set(ids)) == 6
    assert isinstance(found[0].options[0], OptionDraft)
