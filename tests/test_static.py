"""Templates and static files keep the security policy, the contrast and the size limits."""

import json
import re
import runpy
from itertools import chain
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from arqkit.labels import COLOURS, PAGE_KEYS
from arqkit.protocols.scales import SCALES
from arqkit.texts.html.rendering import RARE_SIGNS
from tests.paths import ROOT

TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
STYLES = sorted((ROOT / "static" / "css").glob("*.css"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
VENDORED = sorted(
    path for path in (ROOT / "static" / "vendor").rglob("*") if path.suffix in {".css", ".js"}
)
TOKENS = (ROOT / "static" / "css" / "tokens.css").read_text(encoding="utf-8")
AA_TEXT, AA_SHAPE = 4.5, 3.0


def name(path: Path) -> str:
    """Return the name of a file for the test report."""
    return str(path.relative_to(ROOT))


def relative_luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, as defined by WCAG 2."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((relative_luminance(first), relative_luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def token(colour: str, scheme: str, rules: str = TOKENS) -> str:
    """Return the value of a colour token in a scheme."""
    pair = re.search(rf"--{colour}: light-dark\((#\w{{6}}), (#\w{{6}})\)", rules)
    if pair:
        return pair[1] if scheme == "light" else pair[2]
    single = re.search(rf"--{colour}: (#\w{{6}});", rules)
    assert single, f"There is no colour token --{colour}."
    return single[1]


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_has_nothing_inline_and_nothing_from_another_host(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    assert not re.findall(r"<script\b[^>]*>(?!\s*</script>)", source)
    assert not re.findall(r"<style\b|\sstyle\s*=", source)
    assert not re.findall(r"\son[a-z]+\s*=", source)
    assert not re.findall(r"(?:src|href|action)\s*=\s*[\"']?(?:https?:)?//", source)
    assert not re.findall(r"javascript:|hx-on|\|\s*safeseq", source)


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_the_static_files_that_a_template_names_exist(path: Path) -> None:
    for named in re.findall(r"{% static ['\"]([^'\"]+)['\"] %}", path.read_text(encoding="utf-8")):
        assert (ROOT / "static" / named).is_file(), named
        assert (ROOT / "static" / "built" / named).is_file(), f"{named}: run bin/vendor"


@pytest.mark.parametrize("path", [*STYLES, *VENDORED], ids=name)
def test_a_style_sheet_or_vendored_file_loads_nothing_from_another_host(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", source)
    assert "sourceMappingURL" not in source


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_writes_no_html_and_evaluates_no_text(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    assert not re.findall(
        r"\beval\(|new Function|\.innerHTML\s*=|insertAdjacentHTML|document\.write|https?://",
        source,
    )


@pytest.mark.parametrize("path", [*STYLES, *SCRIPTS], ids=name)
def test_a_file_keeps_the_budget_of_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize(
    "path", [path for path in STYLES if path.name not in {"tokens.css", "api-docs.css"}], ids=name
)
def test_only_tokens_define_colours(path: Path) -> None:
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsl", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", STYLES, ids=name)
def test_every_token_that_a_style_sheet_uses_is_defined(path: Path) -> None:
    for used in re.findall(r"var\((--(?!bs-)[\w-]+)", path.read_text(encoding="utf-8")):
        assert f"{used}:" in TOKENS, used


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        (ink, ground)
        for ink in ("ink", "ink-soft", "accent", "good", "bad", "warn")
        for ground in ("paper", "surface")
    ]
    + [("good", "good-tint"), ("bad", "bad-tint"), ("warn", "warn-tint"), ("accent", "accent-tint")]
    + [
        ("ink", tint)
        for tint in ("good-tint", "bad-tint", "warn-tint", "accent-tint", "quiet-tint", "sunken")
    ]
    + [("ink", ground) for ground in ("added", "removed", "highlight")]
    + [("ink-soft", ground) for ground in ("quiet-tint", "sunken", "accent-tint")]
    + [("accent-text", "accent-fill"), ("accent-text", "accent-fill-hover")],
)
def test_text_has_the_contrast_of_aa(ink: str, ground: str, scheme: str) -> None:
    assert contrast(token(ink, scheme), token(ground, scheme)) >= AA_TEXT


def test_each_colour_of_a_label_has_one_rule() -> None:
    assert tuple(re.findall(r'^\[data-colour="([\w-]+)"\]', TOKENS, re.MULTILINE)) == COLOURS


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", COLOURS)
def test_what_is_written_on_a_label_has_the_contrast_of_aa(colour: str, scheme: str) -> None:
    [rule] = re.findall(rf'\[data-colour="{colour}"\] {{(.*)}}', TOKENS)

    assert contrast(token("label-on", scheme, rule), token("label-fill", scheme, rule)) >= AA_TEXT


def test_no_style_sheet_or_script_knows_a_label_by_its_value_or_word() -> None:
    words = {label.word for preset in SCALES.values() for label in preset.scale}
    for path in (*STYLES, *SCRIPTS):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"\[data-label=[\"']?\d|\.fill-\d|label-[hmlnsd]\b", text), path
        assert [word for word in words if f'"{word}"' in text] == [], path


def test_the_keys_that_no_label_may_have_are_those_of_the_page() -> None:
    # Added later, when labs might have labels with these keys. The label comes first; the help has
    # a checkbox for H, and the foot buttons for F and M.
    later = {"F", "H", "M", "/"}
    script = (ROOT / "static/js/judge/keys.js").read_text(encoding="utf-8")
    [commands] = re.findall(r"const COMMANDS = \{(.*?)\};", script, re.DOTALL)

    assert {key.upper() for key in re.findall(r'\W([a-z?/])"?: "', commands)} == PAGE_KEYS | later


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "shape", ["field-border", "focus", "series-own", "series-median", "series-best"]
)
def test_borders_and_series_have_enough_contrast(shape: str, scheme: str) -> None:
    for ground in ("paper", "surface"):
        assert contrast(token(shape, scheme), token(ground, scheme)) >= AA_SHAPE


def test_vendored_files_have_a_version_and_a_licence() -> None:
    table = (ROOT / "static" / "vendor" / "README.md").read_text(encoding="utf-8")
    packages = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["devDependencies"]

    for package, version in packages.items():
        assert re.search(rf"{re.escape(package)} {re.escape(version)}", table), package
    for folder in {path.parent for path in VENDORED}:
        assert (folder / "LICENSE").is_file()


def test_the_bundles_are_made_of_the_sources() -> None:
    vendor = runpy.run_path(str(ROOT / "bin" / "vendor"))
    made_of = vendor["STAMP"].read_text(encoding="ascii").strip()

    assert made_of == vendor["sources"](), "The sources have changed. Run npm ci, then bin/vendor."


def letters(name: str) -> set[int]:
    """Return the letters of a font below static/vendor/math-font."""
    return {*TTFont(ROOT / "static" / "vendor" / "math-font" / name).getBestCmap()}


def test_the_parts_of_the_math_font_draw_all_its_letters() -> None:
    style = (ROOT / "static" / "css" / "math-font.css").read_text(encoding="utf-8")
    drawn: set[int] = set()
    for name, ranges in re.findall(r"(ArqLabMath-\w+\.woff2).*unicode-range: ([^;]+);", style):
        ends = re.findall(r"U\+(\w+)-?(\w*)", ranges)
        runs = [range(int(first, 16), int(last or first, 16) + 1) for first, last in ends]
        assert {*chain(*runs)} <= letters(name), name
        drawn |= {*chain(*runs)}

    assert drawn == letters("ArqLabMath.woff2")
    assert {*map(ord, RARE_SIGNS)} < letters("ArqLabMath-stretched.woff2")


def test_no_lock_file_names_a_registry() -> None:
    assert '"resolved"' not in (ROOT / "package-lock.json").read_text(encoding="utf-8")
