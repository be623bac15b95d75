"""Names of files that are given to people: readable in every script, and short enough for every file system."""

from django.utils.http import content_disposition_header
from django.utils.text import slugify

LONGEST_PART = 60  # a file system takes 255 bytes, and a character may need four


def name_part(text: str, *, otherwise: str = "x") -> str:
    """Return a name as a part of a file's name: letters and digits of any script, hyphens between them."""
    return slugify(text, allow_unicode=True)[:LONGEST_PART].rstrip("-_") or otherwise


def attach_as(name: str) -> dict[str, str]:
    """Return the header that has a browser keep an answer as a file of this name, whatever its script."""
    return {"Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or ""}
