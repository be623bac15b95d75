"""The house look keeps its promises: colours that can be read, files that exist, directions that can turn."""

import re
from pathlib import Path

import pytest

CSS = Path(__file__).resolve().parents[2] / "config" / "static" / "css"

# (text, the surface it stands on): everything that is read.
TEXTS = [
    ("ink", "paper"),
    ("ink", "surface"),
    ("ink", "surface-sunk"),
    ("ink-soft", "paper"),
    ("ink-soft", "surface"),
    ("ink-soft", "surface-sunk"),
    ("accent", "paper"),
    ("accent", "surface"),
    ("accent-strong", "surface"),
    ("accent-strong", "accent-soft"),
    ("on-accent", "accent"),
    ("on-accent", "accent-strong"),
    ("ink", "accent-soft"),
    *[(word, f"{word}-soft") for word in ("good", "warn", "bad")],
    *[("ink", f"{word}-soft") for word in ("good", "warn", "bad")],
    *[(word, surface) for word in ("good", "warn", "bad") for surface in ("surface", "paper")],
]
# Lines and rings that carry meaning.
SIGNS = [("line-strong", "surface"), ("focus", "paper"), ("focus", "surface")]


def read_schemes() -> dict[str, dict[str, str]]:
    """The colours of both schemes by name; the dark one overrides the light one."""
    light, _, dark = (CSS / "tokens.css").read_text().partition("@media (prefers-color-scheme: dark)")
    pattern = re.compile(r"--([\w-]+):\s*(#[0-9a-f]{6});")
    return {
        "light": dict(pattern.findall(light)),
        "dark": dict(pattern.findall(light)) | dict(pattern.findall(dark)),
    }


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definition)."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (SIGNS, 3.0)], ids=["texts", "signs"])
def test_colours_can_be_told_apart(scheme: str, pairs: list[tuple[str, str]], least: float) -> None:
    colours = read_schemes()[scheme]
    found = {(text, surface): contrast(colours[text], colours[surface]) for text, surface in pairs}
    assert {pair: round(value, 2) for pair, value in found.items() if value < least} == {}


def test_dark_scheme_answers_every_colour_of_the_light_one() -> None:
    light, _, dark = (CSS / "tokens.css").read_text().partition("@media (prefers-color-scheme: dark)")
    names = re.compile(r"--([\w-]+):\s*#")
    assert set(names.findall(dark)) == set(names.findall(light))


@pytest.mark.parametrize("file", sorted(CSS.rglob("*.css")), ids=lambda file: file.name)
def test_stylesheet_uses_names_for_colours_and_logical_directions(file: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
    physical = r"(?:margin|padding|border)-(?:left|right|top|bottom)|text-align:\s*(?:left|right)|[\s;](?:left|right):"
    assert re.findall(physical, text) == []
    if file.name not in {"tokens.css", "api-docs.css", "admin.css"}:
        assert re.findall(r"#[0-9a-fA-F]{3,8}\b", text) == []
        used = set(re.findall(r"var\(--([\w-]+)\)", text))
        known = set(re.findall(r"--([\w-]+):", (CSS / "tokens.css").read_text()))
        assert used - known == set()
