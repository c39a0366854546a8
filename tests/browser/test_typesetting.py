"""Formulas in Chromium: what only their geometry shows, as no attribute can."""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page

from arqkit.texts.html.rendering import render_formula
from tests.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
EM = 100.0
STYLES = ("css/tokens.css", "css/base.css", "vendor/temml/temml.css", "css/maths.css")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">{links}
<style>
  p {{ width: {width}px; max-width: none; line-height: 3; }}
  math {{ font-size: {em}px; }}
</style>
<p>{text}</p></html>"""
Shown = Callable[..., Page]


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    """Show a formula in a paragraph, its letters 100 pixels high, with our style sheets."""
    page = browser.new_page(viewport={"width": 1600, "height": 900})

    def show(latex: str, *, display: bool = False, width: int = 1500, before: str = "") -> Page:
        links = "".join(
            f'<link rel="stylesheet" href="{(ROOT / "static" / name).as_uri()}">' for name in STYLES
        )
        text = before + render_formula(latex, display=display)
        path = tmp_path / "formula.html"
        path.write_text(PAGE.format(links=links, text=text, width=width, em=EM), encoding="utf-8")
        page.goto(path.as_uri())
        assert page.evaluate("document.fonts.load('1em \"ArqLab Math\"').then(all => all.length)")
        page.evaluate("document.fonts.ready")
        return page

    yield show
    page.close()


def edges(part: Locator) -> dict[str, float]:
    """Return the edges of a part's box, in em."""
    box = part.bounding_box()
    assert box is not None
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return {
        name: value / EM
        for name, value in {
            "left": box["x"], "right": right, "top": box["y"], "bottom": bottom
        }.items()
    }  # fmt: skip


def inked(page: Page, part: Locator) -> tuple[float, float]:
    """Return where the ink in the rows of a part begins and ends, in em, on the picture."""
    box = part.bounding_box()
    assert box is not None
    rows = {"x": 0, "y": box["y"], "width": 1600, "height": box["height"]}
    picture = Image.open(BytesIO(page.screenshot(clip=rows))).convert("L")
    ink = picture.point(lambda grey: 255 * (grey < 128)).getbbox()
    assert ink is not None
    return ink[0] / EM, ink[2] / EM


@pytest.mark.parametrize("length", [2, 6, 9])
@pytest.mark.parametrize("command", ["underbrace", "overbrace", "overline", "overrightarrow"])
def test_a_brace_a_bar_or_an_arrow_is_drawn_over_all_that_it_covers(
    shown: Shown, command: str, length: int
) -> None:
    covered = "+".join("abcdefghijkl"[:length])
    page = shown(rf"\{command}{{{covered}}}", display=True)
    letters = [edges(letter) for letter in page.locator("math mi").all()]
    sign = page.locator("math :is(munder, mover) > :last-child, math .tml-overline").last

    left, right = inked(page, sign)

    assert left == pytest.approx(letters[0]["left"], abs=0.2)
    assert right == pytest.approx(letters[-1]["right"], abs=0.2)


def test_the_bar_of_a_root_clears_the_letters_and_no_gap_follows(shown: Shown) -> None:
    page = shown(r"\sqrt{a}\sqrt{b}")
    first, second = (edges(page.locator("msqrt").nth(n)) for n in (0, 1))
    a, b = (edges(page.locator("msqrt mi").nth(n)) for n in (0, 1))

    assert a["top"] - first["top"] > 0.2
    assert b["top"] - second["top"] > 0.08
    assert first["right"] - a["right"] < 0.05
    assert first["bottom"] - a["bottom"] < 0.3
    assert abs(first["top"] - second["top"]) < 0.05


def test_the_numbers_of_a_pair_stand_apart(shown: Shown) -> None:
    numbers = shown("(0,1)").locator("mn")

    assert edges(numbers.nth(1))["left"] - edges(numbers.nth(0))["right"] > 0.4


def test_exponents_on_brackets_are_as_high_as_on_letters(shown: Shown) -> None:
    powers = shown("(k+1)^nk^n").locator("msup > mi:last-child")

    assert abs(edges(powers.nth(0))["bottom"] - edges(powers.nth(1))["bottom"]) < 0.01


def test_subscripts_are_as_low_under_descenders_as_under_other_letters(shown: Shown) -> None:
    below = shown(r"p_1e_1\gamma_1").locator("mn")
    bottoms = [edges(below.nth(n))["bottom"] for n in range(3)]

    assert max(bottoms) - min(bottoms) < 0.03


def test_a_bracket_touches_neither_its_fraction_nor_a_gap(shown: Shown) -> None:
    page = shown(r"\left(\frac12\right)")
    opening, fraction = edges(page.locator("mo").first), edges(page.locator("mfrac"))

    assert opening["right"] - opening["left"] < 0.6
    assert -0.01 < fraction["left"] - opening["right"] < 0.2


def test_operators_between_dots_have_space_on_both_sides(shown: Shown) -> None:
    page = shown(r"1+\cdots+n")
    # Four medium spaces, two signs, and three dots with thin spaces.
    width = 4 * 0.222 + 2 * 0.778 + 1.167

    between = edges(page.locator("mi"))["left"] - edges(page.locator("mn"))["right"]
    assert between == pytest.approx(width, abs=0.1)


def test_a_tag_stands_at_the_margin(shown: Shown) -> None:
    page = shown(r"x=1\tag{1}", display=True)

    whole, tag = edges(page.locator(".math-container")), edges(page.locator("mtext"))
    assert 0 <= whole["right"] - tag["right"] < 0.3


def test_a_long_formula_continues_the_line_of_its_text(shown: Shown) -> None:
    page = shown("a=b+c+d+e+f+g+h+i+j+k+l", width=1000, before="Let ")
    rows = [edges(row) for row in page.locator("math > mrow").all()]

    assert rows[0]["left"] > edges(page.locator("p"))["left"]
    assert rows[-1]["top"] > rows[0]["bottom"]
    assert max(row["right"] for row in rows) <= edges(page.locator("p"))["right"] + 0.01


@pytest.mark.parametrize("latex", ["x=" + "1" * 200, r"f\left(" + "x" * 100 + r"\right)"])
def test_a_part_wider_than_the_page_scrolls_in_itself(shown: Shown, latex: str) -> None:
    page = shown(latex, width=1000)
    whole = edges(page.locator(".math-container"))

    assert whole["right"] <= edges(page.locator("p"))["right"] + 0.01
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_accents_are_close_and_do_not_touch(shown: Shown) -> None:
    page = shown(r"\bar x\tilde f\hat A\vec v\widehat{xyz}")

    for accent in page.locator("mover").all():
        over, letters = (edges(part) for part in accent.locator("> *").all()[::-1])
        assert over["bottom"] <= letters["top"] + 0.01
        assert over["top"] > letters["top"] - 0.45
        width = edges(accent)["right"] - edges(accent)["left"]
        assert width < len(accent.text_content() or "") * 0.75


def test_a_matrix_within_a_line_stands_on_its_baseline(shown: Shown) -> None:
    page = shown(r"M=\begin{pmatrix}a_{11}&a_{12}\\a_{21}&a_{22}\end{pmatrix}", before="Let ")
    row = edges(page.locator("math mi").first)
    text = page.evaluate(
        """() => { const range = document.createRange();
        range.selectNodeContents(document.querySelector("p").firstChild);
        return range.getBoundingClientRect().bottom; }"""
    )

    assert abs(row["bottom"] - text / EM) < 0.1
