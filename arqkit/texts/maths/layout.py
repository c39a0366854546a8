"""Repairs of Temml's MathML that need its structure: what browsers would set worse than TeX.

Each repair is an answer to a difference from MathJax that `bin/typesetting-sheet` shows.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from lxml import etree

from arqkit.data_files import data_beside
from arqkit.texts.maths.spacing import (
    APPLY,
    BIN,
    CLOSE,
    OP,
    OPEN,
    PUNCT,
    REL,
    ROWS,
    Style,
    class_of,
    classes_of,
    flatten,
    is_space,
    space_rows,
)

SHORT = 16  # signs; a formula with no more is not broken
WIDE = 30  # signs; a part of a formula with more may be wider than a phone screen
_LETTERS = data_beside(__file__, "letter_slants.toml")
_STEPS, _TOPS = (
    {letter: int(step) for step, letters in _LETTERS[name].items() for letter in letters}
    for name in ("slants", "accents")
)
# Temml's accents, and the signs of the same accents that are as wide as TeX's.
_ACCENTS = {sign: sign for sign in "ˆ˙¨ˇ´`˘˚→"} | {"‾": "¯", "~": "˜"}
_ARROW = 0.55  # the size of the arrow of \\vec
_STYLE = {"displaystyle", "scriptlevel"}
_PRIMES = {2: "″", 3: "‴", 4: "⁗"}
_SCRIPTS = {"msub", "msup", "msubsup"}
_INTEGRALS = "∫∬∭∮∯∰"
_LOW = {"mi", "mn", "mo", "mtext", "mrow", "mspace"} | _SCRIPTS
_NUMBER = re.compile(r"\d*\.?\d+(?:,\d*\.?\d+)+")
_PADDING = {"tml-sml-pad", "tml-med-pad", "tml-lrg-pad"}
# Italic letters of MathML's <mi>, which Unicode has elsewhere.
_ITALICS = {
    **{chr(65 + n): chr(0x1D434 + n) for n in range(26)},
    **{chr(97 + n): chr(0x1D44E + n) for n in range(26)},
    **{chr(0x391 + n): chr(0x1D6E2 + n) for n in range(25)},
    **{chr(0x3B1 + n): chr(0x1D6FC + n) for n in range(25)},
    "h": "ℎ",
    "∂": "𝜕",
}


def lay_out(math: etree._Element, latex: str) -> None:
    """Repair a formula's MathML in place."""
    is_display = math.get("display") == "block"
    for element in list(math.iter("mn")):
        split_number(element, latex)
    for element in list(math.iter(*_REPAIRS)):
        for repair in _REPAIRS[element.tag]:
            repair(element)
    hoist_style(math)
    flatten(math)
    is_short = len("".join(map(str, math.itertext()))) <= SHORT
    breaks = [] if is_display or is_short else signs_of(math)
    space_rows(math, Style(is_display, 0))
    for sign in [mo for mo in math.iter("mo") if mo.text == APPLY]:
        next(sign.iterancestors()).remove(sign)  # Firefox leaves a second space beside it
    if breaks:
        make_breakable(math, breaks)
    if not is_display:
        set_class(math, is_broken=bool(breaks))


def hoist_style(math: etree._Element) -> None:
    r"""Make a style of the whole formula, such as `\displaystyle`, one of `<math>`."""
    style = math[0] if len(math) == 1 else None
    if style is not None and style.tag == "mstyle" and set(style.attrib) <= _STYLE:
        math.set("displaystyle", style.get("displaystyle", "false"))
        math[:] = list(style)


def set_class(math: etree._Element, *, is_broken: bool) -> None:
    """Set the classes for formulas that break into lines and for parts that may need to scroll."""
    parts = math if is_broken else [math]
    is_wide = any(len("".join(map(str, part.itertext()))) > WIDE for part in parts)
    if names := ["tml-lines"] * is_broken + ["tml-wide-part"] * is_wide:
        math.set("class", " ".join(names))


def split_number(mn: etree._Element, latex: str) -> None:
    """Split a number at its commas, as TeX does, unless the author wrote `{,}`."""
    source = latex.replace(" ", "")
    digits = mn.text or ""
    if not _NUMBER.fullmatch(digits):
        return
    parts = digits.split(",")
    numbers = [parts[0]]
    for before, after in pairwise(parts):
        if f"{before}{{,}}{after}" in source:
            numbers[-1] += f",{after}"
        else:
            numbers.append(after)
    mn.text = numbers[0]
    if next(mn.iterancestors()).tag not in ROWS:
        _put_in_row(mn)
    attributes = {str(name): str(value) for name, value in mn.items()}
    for part in reversed(numbers[1:]):
        comma, number = etree.Element("mo", separator="true"), etree.Element("mn", attributes)
        comma.text, number.text = ",", part
        mn.addnext(number)
        mn.addnext(comma)


def _put_in_row(element: etree._Element) -> etree._Element:
    """Return a new row that takes the place of an element and holds it."""
    row = etree.Element("mrow")
    next(element.iterancestors()).replace(element, row)
    row.append(element)
    return row


def set_scripts(element: etree._Element) -> None:
    """Use the font's widths: no padding before superscripts, and subscripts under the letter."""
    for script in list(element)[1:]:
        join_primes(script)
        classes = set(script.get("class", "").split()) - _PADDING
        script.set("class", " ".join(sorted(classes)))
        if script.tag == "mo" and "tml-prime" in classes:
            _put_in_row(script)  # Firefox sets a prime of its own at full size
    base = element[0]
    if element.tag == "msup":
        return
    if base.tag == "mo" and (base.text or "-") in _INTEGRALS:
        element[1].set("class", f"{element[1].get('class', '')} tml-lower-limit".strip())
    if step := _STEPS.get(letter_of(base)):
        element[1].set("class", f"{element[1].get('class', '')} tml-sub-{step}".strip())


def letter_of(base: etree._Element) -> str:
    """Return the letter of the font that is the base of scripts or an accent, or an empty text."""
    letter = base.text or ""
    if base.tag != "mi" or len(letter) != 1:
        return ""
    is_upright = base.get("mathvariant") == "normal"
    return letter if is_upright else _ITALICS.get(letter, letter)


def set_accent(element: etree._Element) -> None:
    """Set an accent close to its letter, and over the letter's top."""
    base, mo = element
    sign = mo.text or ""
    is_wide = mo.get("stretchy") == "true" and sign in ("ˆ", "~")
    is_accent = mo.get("stretchy") == "false" and sign in _ACCENTS
    if mo.tag != "mo" or base.tag == "mo" or not (is_wide or is_accent):
        return
    element.set("accent", "true")
    mo.attrib.pop("style", "")
    is_arrow = sign == "→"
    mo.text = _ACCENTS[sign]
    step = 0 if is_wide else round(_TOPS.get(letter_of(base), 0) / (_ARROW if is_arrow else 1))
    names = ["tml-vec"] * is_arrow + [f"tml-top-{min(step, 8)}"] * bool(step)
    mo.set("class", " ".join(names))


def join_primes(script: etree._Element) -> None:
    """Write two to four primes as one sign, whose strokes are as close as they should be."""
    is_primes = script.tag == "mrow" and all(mo.get("class") == "tml-prime" for mo in script)
    if is_primes and len(script) in _PRIMES:
        script[0].text = _PRIMES[len(script)]
        del script[1:]


def set_script_on_bracket(element: etree._Element) -> None:
    """Attach the scripts of a bracketed group to its last bracket, at the height of a letter's."""
    group = element[0]
    if group.tag != "mrow" or group.attrib or len(group) < 3 or group[-1].get("form") != "postfix":
        return
    if next(element.iterancestors()).tag not in ROWS:
        _put_in_row(element)
    if group[-1].get("stretchy") == "false":
        for part in list(group)[:-1]:
            element.addprevious(part)
        element.replace(group, group[0])


def set_root(root: etree._Element) -> None:
    """Raise the bar of a root over a low row as TeX does, so that adjacent roots look alike."""
    inside = root if root.tag == "msqrt" else root[0]
    for space in [space for space in inside.iterdescendants("mspace") if space.get("height")]:
        next(space.iterancestors()).remove(space)
    if not is_low(inside) or next(inside.iterdescendants("msup", "msubsup"), None) is not None:
        return
    if inside.tag != "mrow" and inside is not root:
        inside = _put_in_row(inside)
    inside.append(etree.Element("mspace", width="0em", height="0.67em", depth="0.16em"))


def is_low(element: etree._Element) -> bool:
    """Return whether an element has only letters, and these at most one level of scripts."""
    for child in element.iterdescendants():
        scripts = child.iterdescendants(*_SCRIPTS) if child.tag in _SCRIPTS else iter(())
        is_nested = next(scripts, None) is not None
        is_large = child.tag == "mo" and class_of(child) == OP
        if child.tag not in _LOW or is_nested or is_large:
            return False
    return True


def set_fences(row: etree._Element) -> None:
    r"""Leave the brackets of `\left` and `\right` small around what is as low as a letter."""
    if len(row) < 2 or row[0].get("stretchy") != "true" or row[-1].get("stretchy") != "true":
        return
    if is_low(row):
        for fence in row.iterchildren("mo"):
            if fence.get("fence") == "true":
                fence.set("stretchy", "false")


def draw_line(element: etree._Element) -> None:
    """Let a class draw the line over or under a formula; browsers disagree on menclose."""
    if element.get("class") in ("tml-overline", "tml-underline"):
        element.tag = "mrow"
        element.attrib.pop("notation", "")


def keep_label(element: etree._Element) -> None:
    """Let the label of an arrow in a diagram have its height, or Firefox cuts it off."""
    if element.get("height") == "0.1px":
        del element.attrib["height"]


_REPAIRS: dict[str, list[Callable[[etree._Element], None]]] = {
    "msub": [set_scripts, set_script_on_bracket],
    "msup": [set_scripts, set_script_on_bracket],
    "msubsup": [set_scripts, set_script_on_bracket],
    "msqrt": [set_root],
    "mroot": [set_root],
    "mrow": [set_fences],
    "mover": [set_accent],
    "menclose": [draw_line],
    "mpadded": [keep_label],
}


def signs_of(math: etree._Element) -> list[etree._Element]:
    """Return the signs of an inline formula after which a line may end, outside brackets."""
    signs, depth = [], 0
    parts = [part for part in math if not is_space(part)]
    for part, kind in zip(parts, classes_of(parts), strict=True):
        depth += (kind == OPEN) - (kind == CLOSE and part.text not in ("!", "?"))
        is_inside = part is not parts[0] and part is not parts[-1]
        if depth <= 0 and kind in (BIN, REL, PUNCT) and is_inside:
            signs.append(part)
    return signs


def make_breakable(math: etree._Element, signs: list[etree._Element]) -> None:
    """Group an inline formula into rows between which a line may end."""
    groups: list[list[etree._Element]] = [[]]
    is_after = False
    for part in list(math):
        if is_after and not is_space(part):
            groups.append([])
        is_after = (is_after and is_space(part)) or part in signs
        groups[-1].append(part)
    for group in groups:
        etree.SubElement(math, "mrow").extend(group)
