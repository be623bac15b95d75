"""The program that looks into a stranger's file, in a process of its own: `python -m exams.attachments.rendering TYPE FOLDER < FILE`.

The one thing to know: it limits itself (`outbox.confined`) before it imports a decoder, and measures a picture by its header before
decoding it. What is shown is made anew, pixel by pixel: no metadata (where a photo was taken), no second file behind the first.

It writes `preview` and `thumbnail` (JPEG) into the folder, and one JSON object to standard output: `width` and `height`, or `pages`; or
`problem`, in words for the student, with `diagnosis` for staff.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from exams.attachments.limits import (
    LONGEST_SIDE,
    MOST_PAGES,
    MOST_PIXELS,
    PREVIEW_SIDE,
    RENDER_MEMORY,
    RENDER_SECONDS,
    THUMBNAIL_SIDE,
)
from outbox.confined import is_of_this_machine, limit_resources, say

BROKEN_PICTURE: Final = "This photo is damaged and cannot be shown."
BROKEN_PDF: Final = "This PDF is damaged and cannot be read."
_QUALITY: Final = 85


class Unusable(Exception):
    """The file cannot be shown; the message is for the student."""


def render_picture(source: IO[bytes], format_name: str, folder: Path) -> dict[str, int]:
    """Write the two pictures that are shown; return the size as it is seen, turned the way the camera was held."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - only now, within the limits

    Image.MAX_IMAGE_PIXELS = None  # the check below is stricter, and says so in words
    picture: Image.Image = Image.open(source, formats=[format_name])
    width, height = picture.size
    if width * height > MOST_PIXELS or max(width, height) > LONGEST_SIDE:
        raise Unusable(
            f"This picture is too large: {width} by {height} pixels. At most {MOST_PIXELS:,} are taken."
        )
    picture.draft("RGB", (PREVIEW_SIDE, PREVIEW_SIDE))  # a JPEG need not be decoded at its full size
    picture.load()
    with suppress(Exception):  # a camera may write nonsense beside a good picture
        ImageOps.exif_transpose(picture, in_place=True)
    is_turned = (picture.width > picture.height) != (width > height)
    preview = _copy_pixels(picture, PREVIEW_SIDE)
    for name, shown in (("preview", preview), ("thumbnail", _copy_pixels(preview, THUMBNAIL_SIDE))):
        shown.save(folder / name, "JPEG", quality=_QUALITY, progressive=True)
    return {"width": height, "height": width} if is_turned else {"width": width, "height": height}


def _copy_pixels(picture: Any, side: int) -> Any:
    """Return a copy that fits into a square of this side: pixels on white, and nothing else of the original."""
    from PIL import Image  # noqa: PLC0415 - as above

    if picture.mode.startswith("I;16"):
        picture = picture.point(lambda value: value / 256).convert("L")
    small = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    small.thumbnail((side, side), reducing_gap=2.0)
    copy = Image.new("RGB", small.size, "white")
    copy.paste(small, mask=small if small.mode == "RGBA" else None)
    return copy


def count_pages(source: IO[bytes], _format: str, _folder: Path) -> dict[str, int]:
    """Return how many pages a PDF has. It is never shown in a page, so nothing is drawn."""
    from pypdf import PdfReader  # noqa: PLC0415 - only now, within the limits

    reader = PdfReader(source)
    if reader.is_encrypted:
        raise Unusable("This PDF is locked with a password. Save it without one.")
    pages = len(reader.pages)
    if not 1 <= pages <= MOST_PAGES:
        raise Unusable(f"This PDF has {pages} pages; from 1 to {MOST_PAGES} are taken.")
    return {"pages": pages}


_KINDS: dict[str, tuple[Callable[[IO[bytes], str, Path], dict[str, int]], str, str]] = {
    "image/jpeg": (render_picture, "JPEG", BROKEN_PICTURE),
    "image/png": (render_picture, "PNG", BROKEN_PICTURE),
    "image/webp": (render_picture, "WEBP", BROKEN_PICTURE),
    "application/pdf": (count_pages, "PDF", BROKEN_PDF),
}


def describe(file_type: str, source: IO[bytes], folder: Path) -> dict[str, Any]:
    """Return what is said of this file; a decoder may raise whatever it likes. Raises what no file can cause."""
    work, format_name, broken = _KINDS[file_type]
    try:
        return work(source, format_name, folder)
    except Unusable as error:
        return {"problem": str(error), "diagnosis": "over a limit of exams/attachments/limits.py"}
    except Exception as error:
        if is_of_this_machine(error):
            raise
        return {"problem": broken, "diagnosis": f"{type(error).__name__}: {error}"}


def main(file_type: str, folder: Path) -> None:
    """Look into the file on standard input; say on standard output what it is."""
    limit_resources(memory=RENDER_MEMORY, seconds=RENDER_SECONDS)
    say(lambda source: describe(file_type, source, folder))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
