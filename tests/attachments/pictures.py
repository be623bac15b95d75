"""Files that people send: good ones, damaged ones, and ones that mean harm."""

import io
import struct
import zlib

from PIL import Image, ImageDraw
from pypdf import PdfWriter

LATITUDE, LONGITUDE = 2, 4  # tags of the GPS directory
GPS, ORIENTATION, MAKER = 0x8825, 0x0112, 0x010F
TURNED = 6  # the camera was held upright: the picture has to be turned a quarter to the right


def jpeg(width: int = 640, height: int = 480, *, exif: Image.Exif | None = None, quality: int = 90) -> bytes:
    """A photo: the left half red, the right half blue."""
    return _save(_halves(width, height), "JPEG", exif=exif or Image.Exif(), quality=quality)


def photo_with_place(width: int = 640, height: int = 480) -> bytes:
    """A photo that says where and with what it was taken, held upright, with a comment."""
    exif = Image.Exif()
    exif[MAKER] = "SECRET-CAMERA"
    exif[ORIENTATION] = TURNED
    exif.get_ifd(GPS)[LATITUDE] = (60.0, 10.0, 15.5)
    exif.get_ifd(GPS)[LONGITUDE] = (24.0, 56.0, 15.0)
    return _save(_halves(width, height), "JPEG", exif=exif, comment=b"SECRET-COMMENT")


def png(width: int = 64, height: int = 48, mode: str = "RGB") -> bytes:
    return _save(_halves(width, height).convert(mode), "PNG")


def transparent_png() -> bytes:
    return _save(Image.new("RGBA", (64, 48), (255, 0, 0, 0)), "PNG")


def deep_png() -> bytes:
    """Sixteen bits a pixel, half of full light."""
    return _save(Image.new("I;16", (64, 48), 0x8000), "PNG")


def webp() -> bytes:
    return _save(_halves(64, 48), "WEBP")


def pdf(pages: int = 2, *, password: str = "") -> bytes:
    writer = PdfWriter()
    for _ in range(pages):
        writer.add_blank_page(width=595, height=842)
    if password:
        writer.encrypt(password)
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """A PNG of a few kilobytes that says it has 3.6 thousand million pixels."""
    row = b"\0" * (1 + width // 8)
    data = zlib.compress(row * 64, 9)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def text_bomb() -> bytes:
    """A small picture with a compressed comment that unfolds to 64 MB."""
    whole = png()
    text = b"Comment\0\0" + zlib.compress(b"\0" * 64_000_000, 9)
    return whole[:33] + _chunk(b"zTXt", text) + whole[33:]


def truncated_jpeg() -> bytes:
    whole = jpeg(1200, 900)
    return whole[: len(whole) // 2]


def polyglot() -> bytes:
    """A photo that is also a page with a script, and an archive behind it."""
    return jpeg() + b"<script>alert('polyglot')</script>PK\x03\x04polyglot"


def heic() -> bytes:
    return b"\0\0\0\x18ftypheic\0\0\0\0" + b"x" * 200


def _halves(width: int, height: int) -> Image.Image:
    picture = Image.new("RGB", (width, height), "red")
    ImageDraw.Draw(picture).rectangle((width // 2, 0, width, height), fill="blue")
    return picture


def _save(picture: Image.Image, format_name: str, **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, format_name, **options)
    return stream.getvalue()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
