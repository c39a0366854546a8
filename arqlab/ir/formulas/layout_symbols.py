"""What the characters of a formula show: the items of a symbol layout tree string for single
symbols.

LaTeXML and Temml write some symbols with different characters that look the same; they become one
here.
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

# Bases of which the limits stand below and above in a display, and beside them in a line (TeX's
# large operators).
_LARGE = frozenset(f"n O!{symbol} " for symbol in "∑∏∐⋃⋂⋁⋀⨁⨂⨀⨄⨆⊕⊗⊙⊎⊔∫∬∭∮∯∰⨌")


def leaf_item(text: str, *, is_text: bool) -> str:
    """Return the items of a leaf of MathML with the edges that lead to them; an empty string where it
    shows nothing.

    A text of fewer than two letters looks like the symbols that it is made of.
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
    """Return whether limits under and over this item are the same formula as beside it: large
    operators and names.
    """
    return item in _LARGE or (item.startswith("n V!") and len(item) > len("n V!x "))
