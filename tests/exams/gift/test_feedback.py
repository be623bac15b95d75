"""Feedback in GIFT files: kept once, with its answer or its question, and never dropped unsaid."""

import re

import pytest

from exams.gift import GiftRefused, read_gift
from tests.exams.gift.texts import question


def test_feedback_stays_with_its_answer() -> None:
    found = question(r"Where? {=here#Well \= done ~there#No \: not there ####See page 3.}")

    assert [option.feedback for option in found.options] == ["Well = done", "No : not there"]


def test_feedback_in_general_stays_with_the_question() -> None:
    paper = read_gift(rb"::Q:: Where? {=here#Yes ~there ####See page 3\: the map.}")

    assert (paper.questions[0].feedback, paper.notes) == ("See page 3: the map.", [])
    assert [option.feedback for option in paper.questions[0].options] == ["Yes", ""]


@pytest.mark.parametrize("kind", ["{}", "{#4}", "{T}", "{=Paris}", "{=a -> b =c -> d}", "{~%100%a ~%-100%b}"])
def test_feedback_in_general_is_read_in_every_kind(kind: str) -> None:
    assert question(f"Q? {kind[:-1]}####Said.}}").feedback == "Said."


@pytest.mark.parametrize(
    ("braces", "to_true", "to_false"),
    [
        ("{T#No, it is.#Indeed.}", "Indeed.", "No, it is."),
        ("{FALSE#No, it is not.#Indeed.}", "No, it is not.", "Indeed."),
        ("{T#No, it is.}", "", "No, it is."),
        ("{T}", "", ""),
    ],
)
def test_feedback_of_true_false_names_the_wrong_one_first(braces: str, to_true: str, to_false: str) -> None:
    found = question(f"Q? {braces}")
    assert {option.text: option.feedback for option in found.options} == {"true": to_true, "false": to_false}


@pytest.mark.parametrize(
    "braces",
    [
        *("{#=4#Yes. ~#No.}", "{#4#Yes. ~#No.}", "{#4:0#Yes. ~*#No.}", "{#=4#Yes. =%0%*#No.}"),
        *("{#3.5..4.5#Yes.\n~#No.}", "{# 4#Yes.~#No.}"),
    ],
)
def test_feedback_to_all_other_numbers_is_left_out_and_said_so(braces: str) -> None:
    paper = read_gift(f"::Q:: How many? {braces}".encode())

    assert [option.feedback for option in paper.questions[0].options] == ["Yes."]
    assert paper.notes == ["Line 1, \u201cQ\u201d: feedback to all other numbers is not kept."]


def test_feedback_to_a_choice_that_belongs_to_nothing_is_said_to_be_silent() -> None:
    paper = read_gift(b"::Q:: Match. {=a -> b#Yes. =c -> d = -> e#No.}")

    assert [option.feedback for option in paper.questions[0].options] == ["Yes.", "", "No."]
    assert paper.notes == [
        "Line 1, \u201cQ\u201d: feedback to a choice that belongs to nothing is never said: only right pairs are answered."
    ]


@pytest.mark.parametrize(
    "braces",
    [
        *("{=a#SAID1 ~b#SAID2 ~%-50%c#SAID3####SAID4}", "{~%100%a#SAID1 ~%-100%b#SAID2####SAID3}"),
        *("{=a#SAID1 =%50%b#SAID2 =%0%*#SAID3####SAID4}", "{=a#SAID1#still SAID2####SAID3####still SAID4}"),
        *("{T#SAID1#SAID2####SAID3}", "{F##SAID1}", "{TRUE#SAID1#SAID2#still SAID3}"),
        *("{#4#SAID1####SAID2}", "{#=4#SAID1 =%50%3..5#SAID2 ~9#SAID3####SAID4}", "{#4:1#SAID1 ~9#SAID2}"),
        *("{=a -> b#SAID1 =c -> d#SAID2 =e -> f####SAID3}", "{####SAID1}"),
    ],
)
def test_every_form_of_feedback_is_kept_once(braces: str) -> None:
    paper = read_gift(f"Q? {braces}".encode())

    (found,) = paper.questions
    kept = " ".join([found.feedback, *(option.feedback for option in found.options)])
    said = re.findall(r"SAID\d", braces)
    assert (sorted(re.findall(r"SAID\d", kept)), paper.notes) == (said, [])


@pytest.mark.parametrize(
    "braces", ["{=a#x =b#y ~#SAID}", "{~%100%a ~b ~#SAID}", "{#=4#x =*#SAID}", "{#SAID}"]
)
def test_feedback_to_an_answer_that_is_none_is_named(braces: str) -> None:
    with pytest.raises(GiftRefused) as refused:
        read_gift(f"::Q:: Which? {braces}".encode())
    assert [fault.title for fault in refused.value.faults] == ["Q"]


def test_feedback_is_in_the_format_of_its_question() -> None:
    found = question("A & b? {=c#[html]<i>Yes</i> ~d#No & no####x < y}")

    assert (found.text_format, found.text, found.feedback) == ("html", "A &amp; b?", "x &lt; y")
    assert [option.feedback for option in found.options] == ["<i>Yes</i>", "No &amp; no"]
