"""One text format for a whole question, though GIFT lets every answer have its own.

What names no format is HTML if it has HTML in it (as Moodle reads it), and plain text otherwise. Where one part is HTML, the plain parts of
the question are escaped, so that they look the same.
"""

import dataclasses
import html
import re
from collections.abc import Sequence

from exams.gift.blocks import Unreadable
from exams.paper.drafts import TextFormat

_looks_like_html = re.compile(r"</[a-z][a-z0-9]*\s*>|<(?:br|hr|img)\b[^<>]*>", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A text and the format it names, if it names one."""

    text: str
    text_format: str | None = None


def settle_format(question: Part, answers: Sequence[Part]) -> tuple[TextFormat, list[str]]:
    """Return the question's format and all its texts in it: the question's own first, then the answers'."""
    own = _format_of(question)
    parts = [Part(question.text, own), *(_settled(part, question, own) for part in answers)]
    formats = {part.text_format for part in parts if part.text}
    if "markdown" in formats and formats != {"markdown"}:
        raise Unreadable("the question and its answers mix Markdown with another format.")
    if formats <= {"plain"}:
        return "plain", [part.text for part in parts]
    if "markdown" in formats:
        return "markdown", [part.text for part in parts]
    return "html", [part.text if part.text_format == "html" else _as_html(part.text) for part in parts]


def _settled(part: Part, question: Part, own: TextFormat) -> Part:
    """Give an answer its own format, or else the one its question names."""
    inherits = part.text_format is None and question.text_format not in (None, "moodle")
    return Part(part.text, own if inherits else _format_of(part))


def _format_of(part: Part) -> TextFormat:
    match part.text_format:
        case "html":
            return "html"
        case "markdown":
            return "markdown"
        case "plain":
            return "plain"
    return "html" if _looks_like_html.search(part.text) else "plain"


def _as_html(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")
