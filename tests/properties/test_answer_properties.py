"""What holds for every body a stranger may send, and for every two ways of writing the same answers."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from exams import canonical, strict_json
from exams.canonical import canonical_answers, digest, read_answers
from exams.errors import Malformed

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
numbers = st.integers(-(10**20), 10**20) | st.decimals(-(10**12), 10**12, places=6)
values = st.one_of(
    st.none(),
    st.booleans(),
    numbers,
    texts,
    st.lists(texts, max_size=5),
    st.dictionaries(texts, texts, max_size=4),
)
answers = st.dictionaries(texts, values, max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


def refuses_or(read: Callable[[], Any]) -> Any:
    """Return what was read; a refusal is a `Malformed` with a pointer that can be sent in an answer, and nothing else."""
    try:
        return read()
    except Malformed as refusal:
        found = refusal
    assert found.pointer is not None
    assert (found.pointer + found.detail).encode()
    return None


@given(st.binary())
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    refuses_or(lambda: strict_json.load(body))


@given(json_values)
def test_any_json_is_read_or_refused_and_never_half_understood(value: object) -> None:
    body = json.dumps(value).encode()

    loaded = refuses_or(lambda: strict_json.load(body))

    if loaded is not None:
        assert json.loads(json.dumps(loaded, default=float)) == json.loads(body)


@given(json_values)
def test_any_json_is_answers_or_refused(value: object) -> None:
    refuses_or(lambda: canonical_answers(value))


@given(answers)
def test_canonical_text_reads_back_to_itself(given_answers: dict[str, Any]) -> None:
    text = canonical_answers(given_answers)

    assert canonical_answers(read_answers(text)) == text
    assert strict_json.load(text.encode()) == read_answers(text)


@given(answers)
def test_canonical_answers_keep_what_was_answered(given_answers: dict[str, Any]) -> None:
    assert read_answers(canonical_answers(given_answers)) == {
        name: kept
        for name, value in given_answers.items()
        if (kept := without_nothing(value)) not in (None, "", [], {})
    }


def without_nothing(value: Any) -> Any:
    if isinstance(value, list):
        return sorted({text for text in value if text}, key=lambda text: text.encode("utf-16-be"))
    if isinstance(value, dict):
        return {name: text for name, text in value.items() if text}
    return value


# Texts in which everything that the quick way must not overlook is likely: names twice, colons, escapes, numbers that round.
awkward = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", ",", ":", '"a"', '"a":', '"b:"', '"\\"', r'"\u0000"', "1", "1.0", "9" * 20, " "]
    ),
    max_size=12,
).map("".join)


@given(
    st.one_of(
        json_values.map(json.dumps), answers.map(lambda value: json.dumps(value, default=float)), awkward
    )
)
def test_quick_way_to_read_gives_what_the_strict_way_gives(text: str) -> None:
    body = text.encode()

    quick = strict_json._load_plain(body, strict_json.MAX_DEPTH)

    if quick is not strict_json._UNSURE:
        assert repr(quick) == repr(strict_json._load_strictly(body))


@pytest.mark.parametrize("depth", [30, 31, 32, 33, 40, 500])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_quick_way_refuses_no_deeper_than_the_strict_way(depth: int, begin: str, end: str) -> None:
    body = (begin * depth + "1" + end * depth).encode()

    loaded = refuses_or(lambda: strict_json.load(body))

    assert loaded == refuses_or(lambda: strict_json._load_strictly(body))
    assert (loaded is None) == (depth > strict_json.MAX_DEPTH)


def test_quick_way_is_sure_of_ordinary_answers() -> None:
    body = (
        b'{"answers": {"q1": "a text", "q2": ["x", "y"], "q3": true, "q4": 12, "q5": {"p": "1"}, "q6": null}}'
    )

    assert strict_json._load_plain(body, strict_json.MAX_DEPTH) == json.loads(body)


@given(st.dictionaries(texts, st.one_of(texts, st.booleans(), st.integers())))
def test_quick_way_to_write_gives_what_the_careful_way_gives(given_answers: dict[str, Any]) -> None:
    quick = canonical._write_scalars(given_answers)

    assert quick in (None, canonical._write_answered(given_answers))


@given(answers, st.data())
def test_same_answers_written_differently_are_equal(
    given_answers: dict[str, Any], data: st.DataObject
) -> None:
    assume("\x01" not in given_answers)  # the name of the answer that is none
    members = [f"{quote(name)}:{rewrite(value, data)}" for name, value in given_answers.items()]
    nothing = data.draw(st.sampled_from(["null", '""', "[]", "{}", '[""]', '{"x":""}']))
    blank = data.draw(st.sampled_from(["", " ", "\n\t"]))
    written = data.draw(st.permutations([*members, f'"\\u0001":{nothing}']))
    body = f"{blank}{{{blank}{f',{blank}'.join(written)}{blank}}}{blank}"

    same = strict_json.load(body.encode())

    assert digest(canonical_answers(same)) == digest(canonical_answers(given_answers | {"\x01": None}))


def quote(text: str) -> str:
    return json.dumps(text)


def rewrite(value: Any, data: st.DataObject) -> str:
    """Write a value as JSON in some way that means the same."""
    if isinstance(value, list):
        return json.dumps(data.draw(st.permutations([*value, *value[:1], ""])))
    if isinstance(value, dict):
        return json.dumps(dict(data.draw(st.permutations([*({"": ""} | value).items()]))))
    if isinstance(value, Decimal):
        return format(value, "f")
    return json.dumps(value, ensure_ascii=data.draw(st.booleans()))


@given(st.decimals(-(10**9), 10**9, places=4), st.integers(0, 5), st.integers(-8, 8))
def test_one_number_has_one_text(number: Decimal, zeros: int, exponent: int) -> None:
    plain = format(number, "f") + "0" * zeros
    shifted = f"{number.scaleb(-exponent):f}e{exponent}"

    same = [
        canonical_answers(strict_json.load(f'{{"q":{literal}}}'.encode())) for literal in (plain, shifted)
    ]

    assert same == [canonical_answers({"q": number})] * 2


@given(answers, answers)
def test_different_answers_have_different_texts(one: dict[str, Any], other: dict[str, Any]) -> None:
    one_text, other_text = canonical_answers(one), canonical_answers(other)

    assert (one_text == other_text) == (tagged(read_answers(one_text)) == tagged(read_answers(other_text)))


def tagged(value: Any) -> Any:
    """Tell True from 1, which Python does not."""
    if isinstance(value, dict):
        return {name: tagged(inner) for name, inner in value.items()}
    return (isinstance(value, bool), value)
