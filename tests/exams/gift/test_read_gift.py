"""GIFT files, kind by kind, and everything that is refused by line and title."""

import re
from decimal import Decimal

import pytest

from exams.gift import GiftRefused, read_gift
from exams.grading import grade, read_key
from exams.paper import OptionDraft, QuestionDraft, freeze


def questions(text: str) -> list[QuestionDraft]:
    return read_gift(text.encode()).questions


def question(text: str) -> QuestionDraft:
    (only,) = questions(text)
    return only


def weights(text: str) -> dict[str, str]:
    return {option.text: format(option.fraction, "f") for option in question(text).options}


def ranges(text: str) -> list[tuple[str, str, str]]:
    options = question(text).options
    return [(str(option.low), str(option.high), format(option.fraction, "f")) for option in options]


def faults(text: str | bytes) -> list[str]:
    with pytest.raises(GiftRefused) as caught:
        read_gift(text.encode() if isinstance(text, str) else text)
    return [str(fault) for fault in caught.value.faults]


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


def test_options_have_ids_of_their_own() -> None:
    found = questions("A? {=a ~b}\n\nA? {=a ~b}")
    ids = [found[0].id, found[1].id, *(option.id for q in found for option in q.options)]

    assert len(set(ids)) == 6
    assert isinstance(found[0].options[0], OptionDraft)
