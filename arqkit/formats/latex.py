"""Text of people as LaTeX that every engine compiles without further packages or fonts.

Team names and run tags may hold anything: LaTeX's own characters, accents, other scripts.
"""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

from arqkit.data_files import data_beside

_SIGNS: Mapping[str, str] = MappingProxyType(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    # After \\, a bracket would start its option, and a star would belong to it.
    | {sign: f"{{{sign}}}" for sign in "[]*"}
    | data_beside(__file__)
)
_MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0331"
_ACCENTS = dict(zip(_MARKS, "`'^~=u.\"rHvdcb", strict=True))
"""The commands of the combining accents that Computer Modern has."""
_GREEK = re.compile("GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)")
_LIKE_LATIN = str.maketrans("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo")
"""The Greek letters that LaTeX has no commands for."""


def latex_text(text: str) -> str:
    """Return a text as LaTeX that prints it.

    Accents that Computer Modern lacks are left out, and characters of scripts that it lacks are
    printed by their code point, as in [U+4E2D].
    """
    parts = re.split("([-'])(?=\\1)", unicodedata.normalize("NFC", text))
    return "{}".join(filter(None, ("".join(map(_sign, part)) for part in parts)))


def _sign(sign: str) -> str:
    if command := _SIGNS.get(sign):
        return command
    if sign.isspace():
        return " "
    if sign.isascii():
        return sign if sign.isprintable() else ""
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Mn", "Me"):
        return ""
    return _greek(sign) or _composed(sign) or rf"{{[}}U+{ord(sign):04X}{{]}}"


def _greek(sign: str) -> str:
    match = _GREEK.fullmatch(unicodedata.name(sign, ""))
    if not match or not "Α" <= sign <= "ω":
        return ""
    if (latin := sign.translate(_LIKE_LATIN)) != sign:
        return f"${latin}$"
    name = match[2].lower().replace("lamda", "lambda")
    return rf"$\{name if match[1] == 'SMALL' else name.capitalize()}$"


def _composed(sign: str) -> str:
    """Return a letter with its accents, or what looks like the sign, or an empty string."""
    base, *marks = list(unicodedata.normalize("NFKD", sign))
    if base == sign:
        return ""
    formula = _sign(base)
    for mark in marks:
        if unicodedata.combining(mark):
            formula = rf"\{_ACCENTS[mark]}{{{formula}}}" if mark in _ACCENTS else formula
        else:
            formula += _sign(mark)
    return formula
