r"""Short answers: kind to blanks, letter case and the two ways to write an é, and exact in everything else.

In a pattern `*` stands for any text, also none; `\*` is an asterisk. Matching takes time in proportion to the answer, however many
asterisks there are: the parts between them are looked for one after the other, leftmost first.
"""

import re
import unicodedata
from typing import Final

MAX_CHARACTERS: Final = 2_000  # composing (NFC) takes quadratic time on long runs of combining characters

_wildcard = re.compile(r"(?<!\\)\*")


def fold(text: str, *, is_case_sensitive: bool) -> str:
    """Return the text as it is compared: composed (NFC), runs of blanks as one, none around, and without letter case."""
    composed = unicodedata.normalize("NFC", " ".join(text.split()))
    return composed if is_case_sensitive else unicodedata.normalize("NFC", composed.casefold())


class Pattern:
    """An accepted answer with its wildcards."""

    __slots__ = ("_first", "_inner", "_last")

    def __init__(self, text: str, *, is_case_sensitive: bool) -> None:
        parts = [
            part.replace(r"\*", "*")
            for part in _wildcard.split(fold(text, is_case_sensitive=is_case_sensitive))
        ]
        self._first = parts[0]
        self._inner = parts[1:-1]
        self._last = parts[-1] if len(parts) > 1 else None

    def matches(self, folded: str) -> bool:
        """Return whether a folded answer is this answer."""
        if self._last is None:
            return folded == self._first
        if not folded.startswith(self._first):
            return False
        place = len(self._first)
        for part in self._inner:
            found = folded.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        return len(folded) - place >= len(self._last) and folded.endswith(self._last)
