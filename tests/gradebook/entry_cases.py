"""What typed text means, as one table for both readers of it: `gradebook.entries` and the browser's `entries.js`.

A row: the page's decimal sign, the text, and what it is: a plain number, a code's word, `blank`, or `!` and the problem.
"""

from gradebook.entries import Entry, Refused, plain

CASES: list[tuple[str, str, str]] = [
    # blank is neither zero nor a code
    (".", "", "blank"),
    (".", "   ", "blank"),
    (".", "\t\u00a0\ufeff", "blank"),
    (".", "0", "0"),
    (".", "00", "0"),
    (".", "0.0", "0"),
    # numbers
    (".", "7", "7"),
    (".", " 7.5 ", "7.5"),
    (".", "007", "7"),
    (".", "7.", "7"),
    (".", ".5", "0.5"),
    (",", ",5", "0.5"),
    (".", "7.5000", "7.5"),
    (".", "7.1234", "7.1234"),
    (".", "1234", "1234"),
    (",", "18,5", "18.5"),
    (",", "1,234", "1.234"),
    (".", "1.234", "1.234"),
    # the other sign, where it cannot be grouping
    (".", "18,5", "18.5"),
    (".", "18,25", "18.25"),
    (".", "0,125", "0.125"),
    (".", "1234,567", "1234.567"),
    (",", "18.5", "18.5"),
    (",", "0.125", "0.125"),
    (",", "1.2345", "1.2345"),
    # the other sign, where it could be
    (".", "1,234", "!ambiguous"),
    (".", "12,345", "!ambiguous"),
    (",", "123.456", "!ambiguous"),
    # grouping is never accepted
    (".", "1,234.5", "!not_a_mark"),
    (",", "1.234,5", "!not_a_mark"),
    (".", "1 234", "!not_a_mark"),
    (".", "1'234", "!not_a_mark"),
    (".", "1,234,567", "!not_a_mark"),
    # other digits and signs
    (".", "\u0661\u0668\u066b\u0665", "18.5"),
    (".", "\u06f1\u06f8", "18"),
    (".", "\uff11\uff18.\uff15", "18.5"),
    (".", "\u200e7\u200f", "7"),
    (".", "\u096d", "!not_a_mark"),
    # codes
    (".", "a", "absent"),
    (".", "A", "absent"),
    (".", " absent ", "absent"),
    (".", "e", "excused"),
    (".", "Excused", "excused"),
    (".", "m", "missing"),
    (".", "x", "exempt"),
    (".", "w", "withheld"),
    (".", "absen", "!not_a_mark"),
    # below zero, and what only looks like a mark
    (".", "-1", "!below_zero"),
    (".", "\u22120.5", "!below_zero"),
    (".", "-", "!not_a_mark"),
    (".", "--1", "!not_a_mark"),
    (".", "+1", "!not_a_mark"),
    (".", "1e1", "!not_a_mark"),
    (".", ".", "!not_a_mark"),
    (".", ",", "!not_a_mark"),
    (".", "5/10", "!not_a_mark"),
    (".", "50%", "!not_a_mark"),
    (".", "NaN", "!not_a_mark"),
    (".", "Infinity", "!not_a_mark"),
    (".", "0x10", "!not_a_mark"),
    (".", "7\n8", "!not_a_mark"),
    (".", "\x1c7", "!not_a_mark"),
    (".", "\x00", "!not_a_mark"),
    (".", "\U0001f600", "!not_a_mark"),
    (".", "1" * 33, "!not_a_mark"),
]


def describe(found: Entry | Refused) -> str:
    """Put what was read into the table's words."""
    if isinstance(found, Refused):
        return f"!{found.problem}"
    return found.code or ("blank" if found.value is None else plain(found.value))
