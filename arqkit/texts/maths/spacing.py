"""The spaces between the parts of a formula, by TeX's rules.

Browsers take the spaces around an operator from a dictionary, whatever stands beside it. TeX looks
at two neighbours: each part of a row has a class, and a table gives the space between two classes
(The TeXbook, chapter 18). `space_rows` writes these spaces into MathML, as attributes of operators
or as spaces of their own.
"""

from itertools import pairwise
from typing import NamedTuple

from lxml import etree

from arqkit.data_files import data_beside

_TABLES = data_beside(__file__)
ORD, OP, BIN, REL, OPEN, CLOSE, PUNCT, INNER = range(8)
_NAMES = ("ORD", "OP", "BIN", "REL", "OPEN", "CLOSE", "PUNCT", "INNER")
_CLASSES = {
    sign: _NAMES.index(name) for name, signs in _TABLES["classes"].items() for sign in signs
}
_THIN, _MEDIUM, _THICK = "0.1667em", "0.2222em", "0.2778em"
_WIDTHS = ("", _THIN, _MEDIUM, _THICK, _THIN)
# The spaces in every browser's dictionary, wherever in a row the operator is.
_DEFAULTS = {
    **dict.fromkeys("([{)]}", ("0em", "0em")),
    **dict.fromkeys("=<>≤≥≠∈≡", (_THICK, _THICK)),
    ",": ("0em", _THIN),
}
_EXPLICIT = {"0.2222em": BIN, "0.2778em": REL, "0.22em": REL}
APPLY = "\N{FUNCTION APPLICATION}"
ROWS = {"math", "mrow", "mstyle", "mpadded", "mphantom", "menclose", "msqrt", "mtd"}
_SCRIPTS = {"msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts"}


class Style(NamedTuple):
    """What decides about spaces: a display or not, and the depth of scripts."""

    is_display: bool
    depth: int


def space_rows(element: etree._Element, style: Style) -> None:
    """Write the spaces of all rows in an element."""
    display = element.get("displaystyle")
    level = element.get("scriptlevel")
    style = Style(
        display == "true" if display else style.is_display,
        int(level) if level and level.isdigit() else style.depth,
    )
    if element.tag in ROWS:
        flatten(element)
        _space(element, style)
    if element.tag == "mo" and not element.text and not len(element):
        set_spaces(element, "0em", "0em")  # the invisible side of \\left and \\right
    for number, child in enumerate(element):
        space_rows(child, _inside(element, number, style))


def class_of(element: etree._Element) -> int:
    """Return the class of a part of a row."""
    core = core_of(element)
    if element.tag == "mrow" and core is element:
        return INNER if _is_fenced(element) else ORD
    if core.tag == "mtable":
        return ORD
    if core.tag == "mo":
        return _operator(core)
    following = element.getnext()
    is_function = following is not None and following.tag == "mo" and following.text == APPLY
    return OP if is_function else ORD


def core_of(element: etree._Element) -> etree._Element:
    """Return the innermost base of an element with scripts and accents."""
    while True:
        if element.tag in _SCRIPTS and len(element):
            element = element[0]
        elif element.tag in ("mrow", "mstyle", "mpadded") and not element.get("class"):
            inside = [child for child in element if not is_space(child)]
            if len(inside) != 1:
                return element
            element = inside[0]
        else:
            return element


def is_space(element: etree._Element) -> bool:
    """Return whether an element is a space or an invisible sign, which all rules ignore."""
    if element.tag == "mtext":
        return not (element.text or "").strip() and not len(element)
    if element.tag == "mrow":
        return not len(element) and "margin" in element.get("style", "")
    return element.tag == "mspace" or (element.tag == "mo" and (element.text or "") in (APPLY, ""))


def flatten(row: etree._Element) -> None:
    """Replace Temml's own groups, such as functions and pairs of brackets, by their parts."""
    is_only = row.tag in ("math", "mtd", "msqrt") and len(row) == 1 and row[0].tag == "mrow"
    if is_only and not row[0].attrib and not _is_fenced(row[0]):
        row[:] = list(row[0])
    for child in list(row):
        if child.tag == "mrow" and not child.attrib and len(child) and _is_own(child):
            flatten(child)
            place = row.index(child)
            row[place : place + 1] = list(child)
    children = list(row)
    for before, child, after in zip(
        [None, *children], children, [*children[1:], None], strict=False
    ):
        # Temml's own spaces around a function; the table has them.
        if child.get("width") == _THIN and not child.get("height"):
            is_after = before is not None and before.text == APPLY
            if is_after or (after is not None and class_of(after) == OP and after.tag != "mo"):
                row.remove(child)


def _is_own(group: etree._Element) -> bool:
    if group[0].get("form") == "prefix" and group[0].get("fence"):
        return bool(group[0].get("stretchy") == "false" and group[-1].get("form") == "postfix")
    if any(child.text == APPLY for child in group if child.tag == "mo"):
        return len([child for child in group if not is_space(child)]) == 1
    # An arrow with a label has the spaces of a relation beside it.
    ends = group[0].get("width"), group[-1].get("width")
    if len(group) == 3 and ends == (_THICK, _THICK):
        group.remove(group[2])
        group.remove(group[0])
        return True
    return False


def _is_fenced(row: etree._Element) -> bool:
    return bool(len(row) > 1 and row[0].get("fence") and row[-1].get("fence"))


def _operator(mo: etree._Element) -> int:
    sign = mo.text or ""
    left, right = mo.get("lspace"), mo.get("rspace")
    if sign == ":" and left == right == "0.2222em":
        return REL
    if (left, right) == ("0em", _THIN):
        return PUNCT
    if left == right and left in _EXPLICIT:
        return _EXPLICIT[left]
    if len(mo) or (left == right == _THIN):
        return OP
    # No space marks a sign in braces. At the ends of a row, Temml writes none for any sign.
    row = mo.getparent()
    is_inside = row is not None and len(row) > 1 and mo not in (row[0], row[-1])
    if left == right == "0em" and is_inside and not mo.get("fence"):
        return ORD
    if mo.get("separator") == "true":
        return PUNCT
    return _CLASSES.get(sign[:1], ORD)


def _inside(element: etree._Element, number: int, style: Style) -> Style:
    if element.tag == "mfrac":
        return Style(False, style.depth + (not style.is_display))
    if element.tag in _SCRIPTS and number:
        return Style(False, style.depth + 1)
    if element.tag == "mroot" and number:
        return Style(False, style.depth + 2)
    if element.tag == "mtable":
        return Style(element.get("displaystyle") == "true", style.depth)
    return style


def _space(row: etree._Element, style: Style) -> None:
    parts = [child for child in row if not is_space(child)]
    lead = etree.Element("mspace")
    if (
        row.tag == "mtd"
        and len(row) > 0
        and row.getprevious() is not None
        and row.get("class") == "tml-left"
        and "padding-left:0em" in row.get("style", "")
    ):
        parts.insert(0, lead)  # the end of the cell to the left, as a letter
    widths = _spaces(parts, style)
    if lead in parts and widths[0]:
        lead.set("width", widths[0])
        row.insert(0, lead)
        widths[0] = ""
    for before, after, width in zip(parts, parts[1:], widths, strict=False):
        if before.tag != "mo" and after.tag != "mo" and width:
            after.addprevious(etree.Element("mspace", width=width))
    for number, part in enumerate(parts):
        core = core_of(part)
        if core.tag != "mo":
            continue
        is_own = core is part
        after_mo = number > 0 and parts[number - 1].tag == "mo"
        left = widths[number - 1] if is_own and number and not after_mo else ""
        right = widths[number] if is_own else ""
        set_spaces(core, left or "0em", right or "0em")


def set_spaces(mo: etree._Element, left: str, right: str) -> None:
    """Set the spaces of an operator, unless browsers leave the same without being told."""
    for name in ("lspace", "rspace", "separator"):
        mo.attrib.pop(name, "")
    if mo.get("stretchy") == "false":
        mo.attrib.pop("fence", "")
        mo.attrib.pop("form", "")
    if (left, right) != _DEFAULTS.get(mo.text or ""):
        mo.set("lspace", left)
        mo.set("rspace", right)


def _spaces(parts: list[etree._Element], style: Style) -> list[str]:
    classes = classes_of(parts)
    spaces = []
    for left, right in pairwise(classes):
        amount = int(_TABLES["table"][left][right])
        spaces.append(_WIDTHS[amount] if amount == 4 or style.depth == 0 else "")
    return [*spaces, ""]


def classes_of(parts: list[etree._Element]) -> list[int]:
    """Return the classes of a row's parts. A binary operator without operands is only a sign."""
    classes = [class_of(part) for part in parts]
    settled: list[int] = []
    for number, kind in enumerate(classes):
        before = settled[-1] if settled else OPEN
        after = classes[number + 1] if number + 1 < len(classes) else CLOSE
        is_sign = before in (BIN, OP, REL, OPEN, PUNCT) or after in (REL, CLOSE, PUNCT)
        settled.append(ORD if kind == BIN and is_sign else kind)
    return settled
