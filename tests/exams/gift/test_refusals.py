"""GIFT files that are refused, or noted, by line and title: all faults at once."""

from decimal import Decimal

import pytest

from exams.gift import read_gift
from tests.exams.gift.texts import faults, questions


def test_multiple_choice_that_rewards_ticking_everything_is_noted() -> None:
    (note,) = read_gift(b"::Q:: Which? {~%50%a ~%50%b ~c}").notes

    assert note.startswith("Line 1, \u201cQ\u201d: gives full marks to whoever ticks everything")


def test_right_choice_always_first_is_noted_and_can_be_shuffled() -> None:
    paper = read_gift("\n\n".join(f"Q{n}? {{={n} ~a ~b ~c ~d ~e ~f ~g}}" for n in range(8)).encode())
    shuffled = paper.shuffled()

    assert paper.notes == [
        "In every single-choice question the right choice comes first: consider shuffling them."
    ]
    assert [set(q.options) for q in shuffled.questions] == [set(q.options) for q in paper.questions]
    assert {q.options[0].fraction for q in shuffled.questions} != {Decimal(100)}
    assert paper.shuffled() == shuffled


@pytest.mark.parametrize(
    ("braces", "message"),
    [
        ("=a", None),
        ("~a ~b", "has no right choice."),
        ("~%50%a ~%30%b ~c", "has right choices that add up to 80 %, not 100 %."),
        ("~%100%a ~%100%b", "has right choices that add up to 200 %, not 100 %."),
        ("~%33.3%a ~%33.3%b ~%33.3%c", "has right choices that add up to 99.9 %, not 100 %."),
        ("=%50%a ~b", "has no answer worth 100 %."),
        ("=a ~a", "lists the choice “a” 2 times."),
        ("=a ~", "has an empty choice."),
        ("=%110%a ~b", "“%110%” is no weight between -100 and 100."),
        ("=%abc%a ~b", "“%abc%” is no weight between -100 and 100."),
        ("=%33.333333%a ~b", "“%33.333333%” has more than five decimals."),
        ("#", "“” is no number, no number:tolerance and no range from..to."),
        ("#abc", "“abc” is no number, no number:tolerance and no range from..to."),
        ("#5:5%", "“5:5%” is no number, no number:tolerance and no range from..to."),
        ("#5..1", "“5..1” ends before it begins."),
        ("#5:-1", "“5:-1” ends before it begins."),
        ("#0.0000000000000001", "“0.0000000000000001” has more digits than 25 before or 15 after the point."),
        ("#" + "9" * 25 + ":1", "“" + "9" * 25 + ":1” has more digits than 25 before or 15 after the point."),
        ("#1e26", "“1e26” has more digits than 25 before or 15 after the point."),
        ("#=%50%5", "has no answer worth 100 %."),
        ("# ~#none", "has no answer worth 100 %."),
        ("=%0%x", "has no answer worth 100 %."),
        ("=a -> b = -> c", "needs at least two pairs."),
        ("=a -> b =c", "“c” has nothing to match: a pair is written = this -> that."),
        ("=a -> b =c ->", "has an entry with nothing to match."),
        ("=a -> b =c -> b", "needs at least two different things to match."),
        ("=a -> b =a -> c", "lists the prompt “a” 2 times."),
        ("1:SHORTANSWER:=Berlin", "this is a question with gaps (cloze), which is not supported."),
        (":MC:~a", "this is a question with gaps (cloze), which is not supported."),
        ("perhaps", "“perhaps” is no kind of answer that is supported: answers begin with = or ~."),
        ("x =a ~b", "“x” is no kind of answer that is supported: answers begin with = or ~."),
    ],
)
def test_question_that_cannot_be_graded_right_is_named_and_refused(braces: str, message: str | None) -> None:
    text = f"// first line\n\n::Named:: What? {{{braces}}}\n"

    if message is None:
        assert len(questions(text)) == 1
    else:
        assert faults(text) == [f"Line 3, “Named”: {message}"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "Line 1: there is no question in this file."),
        ("// only a comment\n", "Line 1: there is no question in this file."),
        ("Only a description.", "Line 1: there is no question in this file."),
        ("::Title What? {T}", "Line 1, “::Title What? {T}”: the title is opened with :: but never closed."),
        ("::T:: {T}", "Line 1, “T”: there is no text with the answers."),
        ("::T::", "Line 1, “T”: there is no text with the answers."),
        ("A? {=a\n\n", "Line 1, “A? {=a”: the { is never closed (a blank line ends a question)."),
        (
            "A? {=a {b}}",
            "Line 1, “A? {=a {b}}”: there is a { inside the braces; a brace in a text is written \\{.",
        ),
        ("A} ? {T}", "Line 1, “A} ? {T}”: there is a } without its {; a brace in a text is written \\}."),
        ("A? {T} }", "Line 1, “A? {T} }”: there is a } without its {; a brace in a text is written \\}."),
        ("A } b", "Line 1, “A } b”: there is a } without its {; a brace in a text is written \\}."),
        (
            "A {=a} and {=b}",
            "Line 1, “A {=a} and {=b}”: there are two blocks of answers; a question with gaps (cloze) is not supported.",
        ),
        (
            "[html]A <img src\\=x> {T}",
            "Line 1, “A”: shows a picture, sound or frame, which a paper cannot carry yet.",
        ),
        (
            "[markdown]A? {=*c* ~[html]<b>d</b>}",
            "Line 1, “[markdown]A? {=*c* ~[html]<b>d</b>}”: the question and its answers mix Markdown with another format.",
        ),
        ("A\0? {T}", "Line 1: there is a character that no text may contain."),
        ("A? {T}\n\nB\ufdd0? {T}", "Line 3: there is a character that no text may contain."),
    ],
)
def test_file_that_is_not_understood_is_refused(text: str, fault: str) -> None:
    assert faults(text) == [fault]


def test_description_with_a_picture_is_refused_rather_than_stripped() -> None:
    assert faults(r"[html]<p>Look:</p><img src\=map.png>" + "\n\nA? {T}") == [
        "Line 1, “[html]<p>Look:</p><img src=map.png>”: shows a picture, sound or frame, which a paper cannot carry yet."
    ]


def test_description_between_questions_is_refused_with_advice() -> None:
    (fault,) = faults("A? {T}\n\n::Read this:: Once upon a time.\n\nB? {T}")

    assert fault.startswith(
        "Line 3, “Read this”: this has no braces, so it is a description; a paper has only questions."
    )


def test_file_in_another_encoding_is_refused_by_line() -> None:
    assert faults("A? {T}\n\nDépart? {T}".encode("latin-1")) == [
        "Line 3: the file is not UTF-8; save it in that encoding."
    ]


def test_file_that_is_too_large_is_refused() -> None:
    assert faults(b"A? {T}\n\n" * 700_000) == ["Line 1: the file is larger than 5 MiB."]


def test_all_faults_are_told_at_once_in_the_order_of_lines() -> None:
    text = "::A:: a? {~x ~y}\n\n::B:: b? {=1:}\n\n::C:: c? {1:SA:=x}\n\n::D:: d? {#x}\n\n::E:: e? {T}\n"

    assert [fault.split(":")[0] for fault in faults(text)] == ["Line 1, “A”", "Line 5, “C”", "Line 7, “D”"]
