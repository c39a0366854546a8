r"""Signs of Unicode as the LaTeX that they stand for: `x²` is `x^{2}`, and `√2` is `\sqrt{2}`.

The converter reads most signs of mathematics as they are. These are the others.
"""

import re
import unicodedata
from itertools import groupby

from arqkit.data_files import data_beside

_SIGNS: dict[int, str] = {
    ord(sign): latex for sign, latex in data_beside(__file__)["signs"].items()
}
_ALPHABETS = {
    "BOLD": "mathbf",
    "DOUBLE-STRUCK": "mathbb",
    "FRAKTUR": "mathfrak",
    "BOLD FRAKTUR": "mathfrak",
    "SCRIPT": "mathcal",
    "BOLD SCRIPT": "mathcal",
    "SANS-SERIF": "mathsf",
    "MONOSPACE": "mathtt",
}
_ALPHABET = re.compile(r"MATHEMATICAL (?P<style>[A-Z -]+?) (?:CAPITAL|SMALL|DIGIT)\b")
_SCRIPTS = {"<super>": "^", "<sub>": "_"}
_ROOT = re.compile(
    r"(?P<sign>[√∛∜])\s*(?P<radicand>\{(?:[^{}]|\{[^{}]*\})*\}|\((?:[^()]|\([^()]*\))*\)|\\[A-Za-z]+"
    r"|\d+(?:\.\d+)?|[^\W\d_])?"
)
_DEGREES = {"√": "", "∛": "[3]", "∜": "[4]"}
_ACCENTS = {"\u0304": r"\bar", "\u0305": r"\overline", "\u20d7": r"\vec"}
_ACCENT = re.compile(rf"([^\W\d_])([{''.join(_ACCENTS)}])")
_LETTER = re.compile(r"[A-Za-z]")


def with_commands(latex: str) -> str:
    r"""Return a formula in which LaTeX stands for the signs that the converter does not read."""
    if latex.isascii():
        return latex
    latex = _ACCENT.sub(lambda sign: rf"{_ACCENTS[sign[2]]}{{{sign[1]}}}", latex)
    whole = "".join(_script(mark, list(signs)) for mark, signs in groupby(latex, key=_mark))
    return _ROOT.sub(_root, whole)


def _mark(sign: str) -> str:
    if sign.isascii():
        return ""
    return _SCRIPTS.get(unicodedata.decomposition(sign).partition(" ")[0], "")


def _script(mark: str, signs: list[str]) -> str:
    """Return signs of one level as LaTeX: adjacent raised signs are one exponent."""
    if not mark:
        ends = zip(signs, [*signs[1:], ""], strict=True)
        return "".join(_parted(_latex(sign), after) for sign, after in ends)
    plain = "".join(unicodedata.normalize("NFKC", sign) for sign in signs).translate(_SIGNS)
    return f"{mark}{plain}" if len(plain) == 1 else f"{mark}{{{plain}}}"


def _parted(latex: str, after: str) -> str:
    """Return LaTeX with a space where its command would swallow the letter after it."""
    is_command = latex.startswith("\\") and latex[-1].isalpha()
    return f"{latex} " if is_command and _LETTER.match(after) else latex


def _latex(sign: str) -> str:
    if sign.isascii():
        return sign
    if ord(sign) in _SIGNS:
        return _SIGNS[ord(sign)]
    kind = unicodedata.decomposition(sign).partition(" ")[0]
    plain = unicodedata.normalize("NFKC", sign)
    if kind == "<fraction>":
        top, _, bottom = plain.partition("\N{FRACTION SLASH}")
        return rf"\frac{{{top}}}{{{bottom}}}" if bottom else sign
    alphabet = _ALPHABET.match(unicodedata.name(sign, ""))
    if kind == "<font>" and alphabet:
        style = alphabet["style"].removesuffix(" ITALIC").removeprefix("ITALIC")
        return rf"\{_ALPHABETS[style]}{{{plain}}}" if style in _ALPHABETS else plain
    return sign


def _root(match: re.Match[str]) -> str:
    radicand = match["radicand"] or ""
    inner = radicand[1:-1] if radicand.startswith(("{", "(")) else radicand
    return rf"\sqrt{_DEGREES[match['sign']]}{{{inner}}}"
