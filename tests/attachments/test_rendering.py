"""The program that looks into files, run as it is run: a process of its own with its limits."""

import errno
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from exams.attachments.contents import find_file_type
from exams.attachments.limits import MOST_PAGES, PREVIEW_SIDE, THUMBNAIL_SIDE
from exams.attachments.renderer import Rendered, UnusableFile, render_file
from exams.attachments.rendering import BROKEN_PDF, BROKEN_PICTURE
from exams.models import ObjectRole
from outbox.confined import LookInterrupted, is_of_this_machine
from tests.attachments import pictures


def render(content: bytes) -> Rendered | UnusableFile:
    file_type = find_file_type(content)
    assert file_type is not None
    return render_file(io.BytesIO(content), file_type)


def rendered(content: bytes) -> tuple[Rendered, Image.Image, Image.Image]:
    """Return what came of it, its preview and its thumbnail."""
    found = render(content)
    assert isinstance(found, Rendered), found
    preview, thumbnail = (
        Image.open(io.BytesIO(found.pictures[role])) for role in (ObjectRole.PREVIEW, ObjectRole.THUMBNAIL)
    )
    return found, preview, thumbnail


def is_near(pixel: object, red: int, green: int, blue: int) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 12 for one, other in zip(pixel, (red, green, blue), strict=True))


@pytest.mark.parametrize("content", [pictures.jpeg(), pictures.png(), pictures.webp()])
def test_a_picture_is_shown_as_jpeg_in_its_own_colours(content: bytes) -> None:
    _, preview, _ = rendered(content)

    assert preview.format == "JPEG"
    assert is_near(preview.getpixel((3, 20)), 255, 0, 0)
    assert is_near(preview.getpixel((preview.width - 3, 20)), 0, 0, 255)


def test_a_large_photo_is_shown_smaller_and_its_size_is_told() -> None:
    found, preview, thumbnail = rendered(pictures.jpeg(6000, 4000))

    assert (found.width, found.height, found.pages) == (6000, 4000, None)
    assert preview.size == (PREVIEW_SIDE, PREVIEW_SIDE * 4000 // 6000)
    assert thumbnail.size[0] == THUMBNAIL_SIDE


def test_what_is_shown_says_nothing_of_where_it_was_taken_and_stands_upright() -> None:
    content = pictures.photo_with_place(640, 480)
    assert all(secret in content for secret in (b"SECRET-CAMERA", b"SECRET-COMMENT"))

    found, preview, thumbnail = rendered(content)

    assert (found.width, found.height) == (480, 640)
    for picture in (preview, thumbnail):
        assert dict(picture.getexif()) == {}
        assert picture.info.keys() <= {
            "jfif",
            "jfif_version",
            "jfif_unit",
            "jfif_density",
            "progressive",
            "progression",
        }
    for shown in found.pictures.values():
        assert b"SECRET" not in shown
        assert b"Exif" not in shown
    assert is_near(preview.getpixel((240, 20)), 255, 0, 0)  # what was left is above
    assert is_near(preview.getpixel((240, 620)), 0, 0, 255)


def test_a_second_file_inside_the_first_is_not_in_what_is_shown() -> None:
    content = pictures.polyglot()

    found, _, _ = rendered(content)

    assert b"polyglot" in content
    assert [b"polyglot" in shown or b"<script" in shown for shown in found.pictures.values()] == [
        False,
        False,
    ]


def test_a_transparent_picture_is_shown_on_white() -> None:
    _, preview, _ = rendered(pictures.transparent_png())

    assert is_near(preview.getpixel((10, 10)), 255, 255, 255)


def test_a_picture_with_sixteen_bits_is_shown_as_bright_as_it_is() -> None:
    _, preview, _ = rendered(pictures.deep_png())

    assert is_near(preview.getpixel((10, 10)), 128, 128, 128)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA"])
def test_every_kind_of_png_can_be_shown(mode: str) -> None:
    found, _, _ = rendered(pictures.png(mode=mode))

    assert (found.width, found.height) == (64, 48)


def test_a_bomb_is_measured_before_it_is_decoded() -> None:
    assert len(pictures.bomb()) < 10_000

    assert render(pictures.bomb()) == UnusableFile(
        "This picture is too large: 60000 by 60000 pixels. At most 64,000,000 are taken.",
        "over a limit of exams/attachments/limits.py",
    )


def test_a_long_thin_picture_is_refused_although_it_has_few_pixels() -> None:
    found = render(pictures.bomb(60_000, 8))

    assert isinstance(found, UnusableFile)
    assert found.problem == "This picture is too large: 60000 by 8 pixels. At most 64,000,000 are taken."


@pytest.mark.parametrize("content", [pictures.truncated_jpeg(), pictures.text_bomb(), pictures.png()[:60]])
def test_a_damaged_picture_is_named_as_one(content: bytes) -> None:
    found = render(content)

    assert isinstance(found, UnusableFile)
    assert found.problem == BROKEN_PICTURE
    assert found.diagnosis


def test_a_missing_decoder_is_not_blamed_on_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without the installed libraries
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))

    with pytest.raises(LookInterrupted, match="ModuleNotFoundError: No module named 'PIL'"):
        render_file(io.BytesIO(pictures.jpeg()), "image/jpeg")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError("image file is truncated"), False),
        (OSError(errno.EINVAL, "a place before the file's beginning"), False),
        (MemoryError(), False),
    ],
)
def test_only_what_no_file_can_cause_counts_as_the_machines_fault(error: Exception, expected: bool) -> None:
    assert is_of_this_machine(error) is expected


def test_a_pdf_is_counted_and_nothing_is_drawn() -> None:
    assert render(pictures.pdf(3)) == Rendered(pages=3)


def test_a_pdf_that_cannot_be_read_by_everybody_is_refused() -> None:
    locked = render(pictures.pdf(password="secret"))
    long = render(pictures.pdf(MOST_PAGES + 1))
    broken = render(b"%PDF-1.7\nnothing of the kind")

    assert isinstance(locked, UnusableFile)
    assert locked.problem == "This PDF is locked with a password. Save it without one."
    assert isinstance(long, UnusableFile)
    assert long.problem == f"This PDF has {MOST_PAGES + 1} pages; from 1 to {MOST_PAGES} are taken."
    assert isinstance(broken, UnusableFile)
    assert broken.problem == BROKEN_PDF


@settings(max_examples=20, deadline=None)
@given(
    data=st.data(),
    whole=st.sampled_from([pictures.png(), pictures.webp(), pictures.jpeg(64, 48), pictures.pdf(1)]),
)
def test_no_damage_makes_the_rendering_fail_otherwise_than_in_words(
    data: st.DataObject, whole: bytes
) -> None:
    place = data.draw(st.integers(16, len(whole) - 1))
    damaged = (
        whole[:place] + data.draw(st.binary(max_size=40)) + whole[place + data.draw(st.integers(0, 40)) :]
    )

    found = render(damaged)

    assert isinstance(found, Rendered) or (found.problem and found.diagnosis)
