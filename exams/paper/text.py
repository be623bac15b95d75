"""Question texts as a browser may show them: plain text, or HTML that has been through the sanitiser.

A paper never carries Markdown: it is rendered here, once, so that every client needs to know two formats only.
"""

import re
from html import unescape
from typing import Literal

import nh3
from markdown_it import MarkdownIt

from exams.paper.drafts import TextFormat

PaperFormat = Literal["plain", "html"]

TAGS = {
    *("p", "br", "hr", "div", "span", "b", "i", "em", "strong", "u", "s", "sub", "sup", "small", "a"),
    *(
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "blockquote",
        "pre",
        "code",
        "kbd",
        "samp",
        "var",
        "h3",
        "h4",
        "h5",
        "h6",
    ),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td"),
}
ATTRIBUTES = {
    "*": {"dir", "lang", "title"},
    "a": {"href"},
    "ol": {"start", "type"},
    "th": {"colspan", "rowspan", "scope"},
    "td": {"colspan", "rowspan"},
}

_sanitiser = nh3.Cleaner(tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https", "mailto"})
_media = re.compile(r"<(img|picture|svg|math|object|embed|iframe|video|audio|canvas)\b", re.IGNORECASE)
_markdown = MarkdownIt("commonmark", {"html": False}).enable("table")


def render_text(text: str, text_format: TextFormat) -> tuple[str, PaperFormat]:
    """Return a block of text as the paper carries it, and its format there."""
    if text_format == "plain":
        return text, "plain"
    html = _markdown.render(text) if text_format == "markdown" else text
    return _sanitiser.clean(html).strip(), "html"


def render_inline(text: str, text_format: TextFormat) -> str:
    """Return a short text (a choice, a prompt) in the format its question has in the paper."""
    if text_format == "plain":
        return text
    html = _markdown.renderInline(text) if text_format == "markdown" else text
    return _sanitiser.clean(html).strip()


def plain_text(text: str, text_format: TextFormat) -> str:
    """Return what a reader sees, without markup: for comparing, naming and finding out that there is nothing."""
    rendered = render_inline(text, text_format)
    if text_format == "plain":
        return rendered.strip()
    return unescape(nh3.clean(rendered, tags=set())).strip()


def has_media(text: str, text_format: TextFormat) -> bool:
    """Return whether the text embeds a picture, sound or frame, which the sanitiser would silently drop."""
    if text_format == "plain":
        return False
    html = _markdown.renderInline(text) if text_format == "markdown" else text
    return _media.search(html) is not None
