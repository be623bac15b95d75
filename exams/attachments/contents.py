"""What a file is, by its first bytes. Pure. The name and the type a browser gives are the sender's words and are not asked.

A file may begin like a photo and go on like something else; that is why only what is made of it anew is ever shown in a page.
"""

from typing import Final

from exams.models.attachments import FileType

HEAD: Final = 16  # bytes this needs to see

_WEBP = slice(8, 12)
_BRAND = slice(4, 12)
_HEIC_BRANDS = {b"ftyp" + brand for brand in (b"heic", b"heix", b"heif", b"hevc", b"mif1", b"msf1", b"avif")}
EXTENSIONS: Final = {FileType.JPEG: "jpg", FileType.PNG: "png", FileType.WEBP: "webp", FileType.PDF: "pdf"}


def find_file_type(head: bytes) -> FileType | None:
    """Return what the file is, or None for anything we do not take."""
    if head.startswith(b"\xff\xd8\xff"):
        return FileType.JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileType.PNG
    if head.startswith(b"RIFF") and head[_WEBP] == b"WEBP":
        return FileType.WEBP
    if head.startswith(b"%PDF-"):
        return FileType.PDF
    return None


def describe_refusal(head: bytes) -> str:
    """Return what to tell the person who sent something else."""
    if head[_BRAND] in _HEIC_BRANDS:
        return "This photo is in the HEIC format. Take it with this page, or save it as JPEG first."
    return "This is not a photo (JPEG, PNG, WebP) and not a PDF."
