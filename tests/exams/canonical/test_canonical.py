"""One text for equal answers: the examples of docs/answers.md, and what is no answers object at all."""

import hashlib
from decimal import Decimal
from typing import Any

import pytest

from exams import strict_json
from exams.canonical import canonical_answers, digest, read_answers, write_number
from exams.errors import Malformed


def canonical(body: str) -> str:
    return canonical_answers(strict_json.load(body.encode()))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{}", "{}"),
        ('{ "b" : 1 , "a" : true }', '{"a":true,"b":1}'),
        ('{"a":2.0,"b":2e0,"c":20E-1,"d":2}', '{"a":2,"b":2,"c":2,"d":2}'),
        ('{"a":0.50,"b":-0.0,"c":-0,"d":1e3,"e":1e-3}', '{"a":0.5,"b":0,"c":0,"d":1000,"e":0.001}'),
        ('{"a":"2","b":"2.0"}', '{"a":"2","b":"2.0"}'),  # texts are kept as sent
        ('{"a":["y","x","y"]}', '{"a":["x","y"]}'),
        ('{"a":{"q":"2","p":"1"}}', '{"a":{"p":"1","q":"2"}}'),
        ('{"a":null,"b":"","c":[],"d":{}}', "{}"),
        (
            '{"a":[null,"",null],"b":{"p":null,"q":""},"c":["","x"],"d":{"p":"","q":"x"}}',
            '{"c":["x"],"d":{"q":"x"}}',
        ),
        ('{"a":false,"b":0}', '{"a":false,"b":0}'),  # these are answers
        ('{"a":" "}', '{"a":" "}'),
        (r'{"a":"\u00e9\/\u2028\u000F\n"}', '{"a":"é/\u2028\\u000f\\n"}'),
        ('{"a":"e\u0301"}', '{"a":"e\u0301"}'),  # not composed
        ('{"\ufb33":1,"😀":2,"€":3,"1":4}', '{"1":4,"€":3,"😀":2,"\ufb33":1}'),  # by UTF-16 code units
        ('{"a":["\ufb33","😀"]}', '{"a":["😀","\ufb33"]}'),
    ],
)
def test_canonical_text_of_answers(body: str, text: str) -> None:
    assert canonical(body) == text
    assert canonical_answers(read_answers(text)) == text


@pytest.mark.parametrize(
    ("answers", "pointer", "detail"),
    [
        (None, "/answers", "Answers are an object of question id and value."),
        ([], "/answers", "Answers are an object of question id and value."),
        ("x", "/answers", "Answers are an object of question id and value."),
        ({"q": [1]}, "/answers/q/0", "Only a text can stand here."),
        ({"q": ["x", ["y"]]}, "/answers/q/1", "Only a text can stand here."),
        ({"q": {"p": 1}}, "/answers/q/p", "Only a text can stand here."),
        ({"q": {"p/~": {"x": "y"}}}, "/answers/q/p~1~0", "Only a text can stand here."),
        ({"q": {"p": ["x"]}}, "/answers/q/p", "Only a text can stand here."),
        (
            {"q": 1.5},
            "/answers/q",
            "An answer is null, a text, a number, a boolean, a list of texts or a map of texts.",
        ),
        ({"q": "x" * 200_001}, "/answers/q", "A text may have at most 200,000 characters."),
        ({"q": ["x" * 200_001]}, "/answers/q/0", "A text may have at most 200,000 characters."),
        ({str(n): None for n in range(1001)}, "/answers", "There may be at most 1,000 members here."),
        ({"q": ["x"] * 1001}, "/answers/q", "There may be at most 1,000 members here."),
        ({"q": {str(n): "x" for n in range(1001)}}, "/answers/q", "There may be at most 1,000 members here."),
    ],
)
def test_canonical_answers_refuses_and_says_where(answers: Any, pointer: str, detail: str) -> None:
    with pytest.raises(Malformed) as caught:
        canonical_answers(answers)

    assert (caught.value.pointer, caught.value.detail) == (pointer, detail)


def test_canonical_answers_takes_as_much_as_it_says() -> None:
    answers = {str(n): "x" for n in range(999)} | {"long": "x" * 200_000}

    assert read_answers(canonical_answers(answers)) == answers


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-7, "-7"),
        (Decimal("1E+30"), "1" + "0" * 30),
        (Decimal("1E-30"), "0." + "0" * 29 + "1"),
        (Decimal("-0.00"), "0"),
        (Decimal(100), "100"),
        (Decimal("100.100"), "100.1"),
        (Decimal("9" * 50 + "E+30"), "9" * 50 + "0" * 30),
    ],
)
def test_number_is_written_exactly_and_plainly(number: int | Decimal, text: str) -> None:
    assert write_number(number) == text
    assert Decimal(text) == number


def test_digest_is_the_sha256_of_the_utf8_text() -> None:
    assert digest('{"a":"é"}') == hashlib.sha256('{"a":"é"}'.encode()).hexdigest()
    assert digest("{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
