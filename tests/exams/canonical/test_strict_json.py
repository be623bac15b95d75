"""What strangers may send as JSON, and where a refusal points."""

import json
from decimal import Decimal
from typing import Any

import pytest

from exams import strict_json
from exams.errors import Malformed


def refusal(body: bytes) -> tuple[str | None, str]:
    with pytest.raises(Malformed) as caught:
        strict_json.load(body)
    return caught.value.pointer, caught.value.detail


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b' [1, -2, 0.50, 1e3, "x", true, null] ', [1, -2, Decimal("0.50"), Decimal("1e3"), "x", True, None]),
        (b"\xef\xbb\xbf{}", {}),  # one byte order mark in front
        ('{"a":"\ufeffx"}'.encode(), {"a": "\ufeffx"}),  # inside, it is a character like any other
        (rb'{"a":"\ud83d\ude00"}', {"a": "😀"}),  # a pair of surrogates is one character
        ('{"a":"😀"}'.encode(), {"a": "😀"}),
        (rb'{"a":"\\u0000 \\ud83d"}', {"a": r"\u0000 \ud83d"}),  # escaped backslashes, not escapes
        (b"9" * 50, int("9" * 50)),
        (b"1e30", Decimal("1e30")),
        (b"-1E-30", Decimal("-1e-30")),
    ],
)
def test_load_reads_values_exactly(body: bytes, value: Any) -> None:
    loaded = strict_json.load(body)

    assert loaded == value
    assert type(loaded) is type(value)


def test_load_reads_numbers_without_a_float_between() -> None:
    assert (
        str(strict_json.load(b"0.1000000000000000055511151231257827"))
        == "0.1000000000000000055511151231257827"
    )


@pytest.mark.parametrize(
    ("body", "pointer", "detail"),
    [
        (b'{"answers":{"a":1,"b":2,"a":3}}', "/answers/a", "This name is used twice in one object."),
        (b'{"a~/b":1,"a~/b":2}', "/a~0~1b", "This name is used twice in one object."),
        (b'{"":1,"":2}', "/", "This name is used twice in one object."),
        (b'{"answers":{"q":[1,NaN]}}', "/answers/q/1", "NaN is not a JSON number."),
        (b'{"q":-Infinity}', "/q", "-Infinity is not a JSON number."),
        (b'{"q":1e309}', "/q", "The exponent of a number must be between -30 and 30."),
        (b'{"q":1e-31}', "/q", "The exponent of a number must be between -30 and 30."),
        (b'{"q":1e' + b"9" * 5000 + b"}", "/q", "The exponent of a number must be between -30 and 30."),
        (b'{"q":' + b"9" * 51 + b"}", "/q", "A number may have at most 50 digits."),
        (b'{"q":0.' + b"0" * 50 + b"}", "/q", "A number may have at most 50 digits."),
        (b"9" * 100_000, "", "A number may have at most 50 digits."),
        (rb'{"q":["x","a\u0000b"]}', "/q/1", "A text may not contain U+0000."),
        (rb'{"q":{"p":"\ud83d"}}', "/q/p", "A text may not contain U+D83D."),
        (rb'{"q":"\ude00\ud83d"}', "/q", "A text may not contain U+DE00."),
        (rb'{"q":{"\uD83D":"x"}}', "/q", "A text may not contain U+D83D."),  # a name that cannot be shown
        (rb'{"\u0000":1,"\u0000":2}', "", "This name is used twice in one object."),
        (b"[" * 33 + b"]" * 33, "/0" * 32, "Values are nested more than 32 deep."),
        (b'{"a":[0,{"b":' + b"[" * 40, "/a/1/b" + "/0" * 29, "Values are nested more than 32 deep."),
        (b'{"[[[":{"}":' * 20, "/[[[/}" * 16, "Values are nested more than 32 deep."),
        (b"\xff", "", "This is not UTF-8: byte 0 does not belong."),
        (b'{"a":"\xed\xa0\x80"}', "", "This is not UTF-8: byte 6 does not belong."),  # a surrogate in UTF-8
        ('{"a":1}'.encode("utf-16"), "", "This is not UTF-8: byte 0 does not belong."),
        ('{"é":1}'.encode("latin-1"), "", "This is not UTF-8: byte 2 does not belong."),
    ],
)
def test_load_refuses_and_says_where(body: bytes, pointer: str, detail: str) -> None:
    assert refusal(body) == (pointer, detail)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b'"',
        b"[1,]",
        b"{'a':1}",
        b"01",
        b"+1",
        b".5",
        b"1.",
        b"{} {}",
        b"\x00",
        b'{"a":"\x00"}',
        b'"a\nb"',
        b'{"a":NaN,"b":}',
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b"nan",
        '{"a":1}'.encode("utf-16-le"),
    ],
)
def test_load_refuses_what_is_not_json(body: bytes) -> None:
    pointer, detail = refusal(body)

    assert pointer == ""
    assert detail.startswith("This is not JSON: ")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 1_000_000,
        b'{"a":' * 200_000,
        b"[" * 33 + b'"\\"' * 300_000,  # strings that never end
        b"[" * 33 + b"\\" * 1_000_000,
        b"{" + b",".join(b'"%d":1' % (n // 2) for n in range(100_000)) + b"}",  # half of the names twice
    ],
)
def test_load_refuses_hostile_bodies_in_linear_time(body: bytes) -> None:
    """Quadratic work on a megabyte would run into the test's time limit."""
    refusal(body)


def test_load_lets_brackets_in_a_text_be() -> None:
    body = json.dumps({"answers": {"essay": "[" * 1000 + "{" * 1000}}).encode()

    assert strict_json.load(body) == {"answers": {"essay": "[" * 1000 + "{" * 1000}}


def test_load_allows_exactly_the_depth_asked_for() -> None:
    assert strict_json.load(b"[[[]]]", max_depth=3) == [[[]]]
    with pytest.raises(Malformed):
        strict_json.load(b"[[[]]]", max_depth=2)
