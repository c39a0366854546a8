"""Colours of formulas have a class for dark pages."""

import colorsys
import re

import pytest

from arqkit.texts.maths.colours import HUES, dark_class
from arqkit.texts.maths.typesetting import typeset
from tests.paths import ROOT

STYLES = (ROOT / "static/css/tokens.css").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("colour", "name"),
    [
        ("#ff0000", "tml-hue-0"),
        ("#F00", "tml-hue-0"),
        ("#ff0004", "tml-hue-0"),
        ("#ffff00", "tml-hue-2"),
        ("#008000", "tml-hue-4"),
        ("#0000FF", "tml-hue-8"),
        ("#808080", "tml-grey"),
        ("#ffffff", "tml-white"),
        ("red", ""),
        ("", ""),
    ],
)
def test_a_colour_has_the_class_of_its_hue(colour: str, name: str) -> None:
    assert dark_class(colour) == name


def test_a_coloured_formula_has_its_colour_and_its_class() -> None:
    mathml = typeset(r"\color{red}{x}+\color{black}{y}", display=False).mathml

    assert mathml
    assert '<mi mathcolor="#ff0000" class="tml-hue-0">x</mi>' in mathml
    assert mathml.count("tml-hue") == 1


def luminance(hue: int, saturation: float, lightness: float) -> float:
    """Return the relative luminance of a colour, as WCAG 2 defines it."""
    parts = colorsys.hls_to_rgb(hue / 360, lightness, saturation)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_each_class_can_be_read_on_a_dark_page() -> None:
    found = re.findall(r"--hue-(\d+): hsl\((\d+) (\d+)% (\d+)%\);", STYLES)
    surface = luminance(218, 0.17, 0.123)  # --surface of a dark page, #1a1e25

    assert [int(number) for number, *_ in found] == list(range(HUES))
    for _, hue, saturation, lightness in found:
        bright = luminance(int(hue), int(saturation) / 100, int(lightness) / 100)
        assert (bright + 0.05) / (surface + 0.05) >= 4.5
