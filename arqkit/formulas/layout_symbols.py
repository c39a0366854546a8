"""Symbols of layout strings: the characters of a MathML leaf as layout items.

LaTeXML and Temml use different characters for some symbols that look the same; this module unifies
them.
"""

import re
from unicodedata import normalize

_SHOWN = {
    "−": "-",
    "–": "-",
    "∗": "*",
    "∣": "|",
    "‖": "∥",
    "ˆ": "^",
    "‾": "¯",
    "―": "¯",
    "˜": "~",
    "˙": "˙",
    "⌀": "∅",
    "⊧": "⊨",
    "⃗": "→",
    "″": "′′",
    "‴": "′′′",
    "⁗": "′′′′",
    "'": "′",
    "⋅": "·",
    "∶": ":",
    "ℎ": "h",
    "𝚤": "ı",
    "𝚥": "ȷ",
}
_ITALIC = {0x1D434 + n: chr(65 + n) for n in range(26)} | {
    0x1D44E + n: chr(97 + n) for n in range(26)
}
_INVISIBLE = dict.fromkeys(
    [*range(0x2061, 0x2065), *range(0x200B, 0x2010), 0xFEFF, 0xFE00, 0xFE0E, 0xFE0F]
)
_TABLE: dict[int, str | None] = (
    {ord(shown): same for shown, same in _SHOWN.items()} | _ITALIC | _INVISIBLE
)

_NUMBER = re.compile(r"[\d.,]*\d[\d.,]*")
_DIGITS = re.compile(r"\d+(?:\.\d+)*|\.\d+|.")

# TeX's large operators: their limits are below and above in display style, and beside them inline.
_LARGE = frozenset(f"n O!{symbol} " for symbol in "∑∏∐⋃⋂⋁⋀⨁⨂⨀⨄⨆⊕⊗⊙⊎⊔∫∬∭∮∯∰⨌")


def leaf_item(text: str, *, is_text: bool) -> str:
    """Return the layout items of a MathML leaf and their edges, or "" if it shows nothing.

    Text with fewer than two letters is treated as the symbols it consists of.
    """
    shown = normalize("NFC", "".join(text.translate(_TABLE).split()))
    if not shown:
        return ""
    if is_text and sum(map(str.isalpha, shown)) > 1:
        return f"n T!{shown} "
    if _NUMBER.fullmatch(shown):
        return "".join(
            f"n {'O' if part in ',.' else 'N'}!{part} " for part in _DIGITS.findall(shown)
        )
    if any(map(str.isalpha, shown)) and shown.isascii():
        return f"n V!{shown} "
    return "".join(f"n {'V' if symbol.isalpha() else 'O'}!{symbol} " for symbol in shown)


def limits_beside(item: str) -> bool:
    """Return whether an item may have its limits beside it: a large operator or a name."""
    return item in _LARGE or (item.startswith("n V!") and len(item) > len("n V!x "))
