"""What a spreadsheet would take for a formula where it opens a file as text. Pure.

What somebody wrote (a name, a title) is guarded by an apostrophe, which the import takes off again. Numbers are never guarded: they
would be texts.
"""

from typing import Final

FORMULAS: Final = ("=", "+", "-", "@")
_GUARD: Final = "'"


def guard(text: str) -> str:
    """Return a text that is none of a spreadsheet's formulas."""
    plain = text.strip()
    return _GUARD + plain if plain.startswith(FORMULAS) else plain


def unguard(text: str) -> str:
    """Return the text that was guarded."""
    return text[1:] if text.startswith(_GUARD) and text[1:].startswith(FORMULAS) else text
