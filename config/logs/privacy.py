"""What must not be in a log line, whoever wrote it there: secrets, addresses of people, query strings, and values out of rows.

The first defence is that nobody logs a body, a header or a name. This is the second, for the words of others: libraries quote what they
were given, and PostgreSQL quotes whole rows in the DETAIL of an error.
"""

import re
from typing import Final

_RULES: Final = (
    (re.compile(r"(?<=://)[^\s/@]+@"), "[credentials]@"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]*"), "[token]"),
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=:-]+", re.IGNORECASE), r"\1 [token]"),
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[e-mail]"),
    (re.compile(r"(/[^\s?\"']*)\?[^\s\"']+"), r"\1?[query]"),
    (re.compile(r"^\s*(DETAIL|CONTEXT|QUERY|STATEMENT):.*$", re.MULTILINE), r"\1: [left out]"),
    (re.compile(r"(invalid input (?:syntax|value) for [\w ]+): \"[^\"]*\""), r"\1: [value]"),
)


def scrub(text: str) -> str:
    """Return the text without what is private in it."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text
