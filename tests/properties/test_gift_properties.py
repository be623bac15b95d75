"""What holds for every file: it is read whole or refused whole, and what is read can be published."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from exams.gift import Fault, GiftPaper, GiftRefused, read_gift
from exams.grading import grade, read_key
from exams.paper import find_problems, freeze
from tests.factories.papers import right_answer

pieces = st.sampled_from(
    [
        *(
            "::",
            "{",
            "}",
            "=",
            "~",
            "#",
            "->",
            "%50%",
            "%",
            "####",
            "T",
            "\n",
            "\n\n",
            "//",
            "\\",
            "[html]",
            "<b>",
            "</b>",
        ),
        *("..", ":", "$CATEGORY: x", "1", "2.5", "text", "é", "=right ~wrong", " "),
    ]
)
texts = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\\:#={}~%[]<>&*-/$"),
    min_size=1,
    max_size=10,
)


def read(data: bytes) -> GiftPaper | list[Fault]:
    try:
        return read_gift(data)
    except GiftRefused as refused:
        return refused.faults


@given(st.lists(pieces, max_size=40).map("".join) | st.text())
def test_any_text_is_a_paper_or_refused_by_line(text: str) -> None:
    match read(text.encode("utf-8", "surrogatepass")):
        case GiftPaper() as paper:
            assert find_problems(paper.questions) == []
            read_key(freeze(paper.questions).key)
        case faults:
            lines = len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
            assert faults
            assert all(1 <= fault.line <= lines and fault.message for fault in faults)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_paper_or_refused(data: bytes) -> None:
    assert read(data)


@given(texts, st.lists(texts, min_size=2, max_size=6, unique_by=str.casefold), st.integers(0, 5))
def test_choices_are_read_back_as_they_were_written(text: str, choices: list[str], right: int) -> None:
    right %= len(choices)
    braces = "".join(f" {'=' if index == right else '~'}{choice}" for index, choice in enumerate(choices))

    (found,) = read_gift(f"{text} {{{braces}}}".encode()).questions

    assert (found.text, [option.text for option in found.options]) == (text, choices)
    frozen = freeze([found])
    answers = {name: right_answer(entry) for name, entry in frozen.key.items()}
    assert grade(read_key(frozen.key), answers).score == Decimal(1)
