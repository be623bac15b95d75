"""Backslash escapes: put out of sight before the text is cut at its control characters, and put back afterwards.

Unicode's noncharacters stand in for them; a file that contains one already is refused, so nothing can be mistaken for an escape.
"""

import re
from typing import Final

_CHARACTERS: Final = "\\:#={}~\n"
_STAND_INS: Final = "".join(chr(0xFDD0 + index) for index in range(len(_CHARACTERS)))
_escape = re.compile(r"\\([\\:#={}~n])")
_hide = {"n": _STAND_INS[-1]} | dict(zip(_CHARACTERS[:-1], _STAND_INS[:-1], strict=True))
_show = str.maketrans(_STAND_INS, _CHARACTERS)
_stand_in = re.compile(f"[{_STAND_INS}]")


def hide(text: str) -> str:
    """Return the text with each escape as one character that means nothing to the parser."""
    return _escape.sub(lambda escape: _hide[escape[1]], text)


def show(text: str) -> str:
    """Return the text as its author meant it, without blanks around."""
    return text.strip().translate(_show)


def has_stand_in(text: str) -> bool:
    """Return whether the text contains a character reserved for this module."""
    return _stand_in.search(text) is not None
