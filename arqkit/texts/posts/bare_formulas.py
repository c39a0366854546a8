r"""Formulas without marks in what was typed: `prove x^2 + 1 > 0`, `x² + y² = z²`, `\sqrt{2}`.

A text is divided at its spaces, outside braces. A part is a word, or it may belong to a formula: as
an operand, as an operator, or as a clear sign of one (a command, an exponent or index, a sign of
mathematics). Adjacent parts that are no words are a formula if they have a clear sign and an
operand, or a relation between operands. A query without words is read more generously: `f(x)`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import takewhile
from typing import NamedTuple

from arqkit.data_files import data_beside
from arqkit.texts.maths.unicode_signs import with_commands
from arqkit.texts.posts.text import TextFormula

_DATA = data_beside(__file__)
_FUNCTIONS, _OPERATORS = frozenset(_DATA["functions"]), frozenset(_DATA["operators"])
_GREEK, _SHORT_WORDS = frozenset(_DATA["greek"]), frozenset(_DATA["short_words"])
_LARGE = frozenset(["sum", "prod", "int"])
_NAMES = frozenset(_DATA["names"])
_PLAIN_SIGNS: dict[str, str] = _DATA["plain_signs"]

_GROUP = r"\{(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})*\}"
_PART = re.compile(
    rf"(?:\\begin\s*\{{(\w+\*?)\}}.*?\\end\s*\{{\1\}}|\\[A-Za-z]+\s*(?={_GROUP})|\\.|{_GROUP}|\S)+",
    re.DOTALL,
)
_ATOM = re.compile(
    rf"(?P<environment>\\begin\s*\{{(\w+\*?)\}}.*?\\end\s*\{{\2\}})|(?P<command>\\[A-Za-z]+)"
    rf"|(?P<escaped>\\.)|(?P<group>{_GROUP})|(?P<large>(?:sum|prod|int)(?=[\^_]))"
    r"|(?P<letters>[^\W\d_]+)|(?P<number>\d+(?:[.,]\d+)*)"
    r"|(?P<script>[\^_])|(?P<sign>.)",
    re.DOTALL,
)
_TAIL = re.compile(r"(?<=[^\\])[?.,;:!…]+$")
_WILDCARD = re.compile(r"(?<![\w?])\?(?:[A-Za-z][0-9]*(?![A-Za-z]{2})|\{\w+\})")
_RELATION = re.compile(r"[\w)\]}'!|]\s*(?:[<>!:]?=|[<>])\s*[\w([{|\\+-]")
_ARITHMETIC = re.compile(r"[\w)\]}'!]\s*(?:[-+*/])\s*[\w([{|\\]")
_PRIME = re.compile(r"[A-Za-z]'+\s*\(")
_ROOT = re.compile(r"\bsqrt\s*\(")
_PROSE = frozenset('"@#&%$;`')
_NO_SYMBOLS = re.compile(  # addresses, paths, names with lines, ordinals
    r"\w://|^www\.|^[A-Za-z]:\\|^\\\\|[A-Za-z0-9]{2,}_[A-Za-z]{2,}|[A-Za-z]_[A-Za-z]{3,}"
    r"|-(?:th|st|nd|rd)$"
)
_FACTORS = re.compile(
    r"^(?!.*[A-Za-z]{2})(?=.*[(])(?=.*[\w)][+*][\w(])|^[b-zB-HJ-Z]\(\w(?:,\w)*\)$"
)
_SUFFIX = re.compile(r"(?<=[\w}*)])-(?=[A-Za-z]{3,}$)")
_NUMBERED = re.compile(r"[A-Z]+-\d+\w*|[A-Z]\.\d+|\d+[A-Za-z]+")
_GREEK_BLOCK, _HEBREW = range(0x370, 0x400), range(0x5D0, 0x5D4)
_SETS = (range(0x2100, 0x2150), range(0x1D400, 0x1D800))  # letterlike symbols, such as ℝ and 𝔸
_SYMBOLS = (_GREEK_BLOCK, _HEBREW, *_SETS)
_OPERANDS = r"(?:\\(?:[dt]?frac|sqrt|sum|int|prod|lim|d?binom|math\w+)|[\w(\[{])"
_ARROW = re.compile(r"[→↦⟶⟼↪↠]|->|\\(?:to|mapsto|(?:long)?rightarrow|hookrightarrow)\b")
_OPENING, _CLOSING = frozenset("|(["), frozenset("|)]")
_ARTICLES = frozenset(["a", "A", "I"])

_WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])")
_NESTED = r"\(((?:[^()]|\([^()]*\))*)\)"
_PLAIN_RULES = [
    (re.compile(r"\*\*"), "^"),
    *((re.compile(re.escape(sign)), rf" \{latex} ") for sign, latex in _PLAIN_SIGNS.items()),
    (re.compile(r"\(\s*mod\s+([^()]+)\)"), r"\\pmod{\1}"),
    (re.compile(rf"\bsqrt\s*{_NESTED}"), r"\\sqrt{\1}"),
    (re.compile(rf"([\^_])\s*{_NESTED}"), r"\1{\2}"),
    (re.compile(r"([\^_])(-?\d{2,}|-\w)"), r"\1{\2}"),
]


class TokenKind(IntEnum):
    """What a part of a text is: a word, or part of a formula."""

    WORD, OPERATOR, OPERAND, CLEAR = range(4)


class _Token(NamedTuple):
    """A part of a text with its place, without and with the punctuation behind it."""

    start: int
    end: int
    whole_end: int
    latex: str
    tail: str
    kind: TokenKind


def bare_pieces(
    text: str, *, is_opened: bool = False, is_closed: bool = False
) -> Iterator[str | TextFormula]:
    """Yield the text and the formulas of a text without marks.

    A mark that opened a formula before it, or closed one behind it, was taken off: what touches it
    is a formula even if it is a letter only.
    """
    tokens = _tokens(text)
    runs = list(_runs(tokens))
    is_whole = len(runs) == 1 and len(runs[0]) == len(tokens)
    end = 0
    for run in runs:
        trimmed = _trimmed(run, tokens)
        if not trimmed:
            continue
        first, last = trimmed[0], trimmed[-1]
        at_mark = (is_opened and run[0] is tokens[0] and first is run[0]) or (
            is_closed and run[-1] is tokens[-1] and len(text[first.start : last.end]) > 1
        )
        if not _is_formula(trimmed, text, is_whole=is_whole, at_mark=at_mark):
            continue
        yield text[end : first.start]
        latex = text[first.start : last.end]
        yield TextFormula("", latex if is_opened or is_closed else plain_latex(latex), False)
        end = last.end
    yield text[end:]


def is_formula(text: str) -> bool:
    """Return whether the whole of a text between marks reads as a formula."""
    tokens = _tokens(text)
    if not tokens or any(token.kind is TokenKind.WORD for token in tokens):
        return False
    return _is_formula(tokens, text, is_whole=True, at_mark=True)


def reads_as_prose(text: str) -> bool:
    """Return whether what is between two dollar signs is an amount with words behind it."""
    tokens = _tokens(text)
    kinds = [token.kind for token in tokens]
    return text[:1].isdigit() and TokenKind.WORD in kinds and TokenKind.CLEAR not in kinds


def plain_latex(text: str) -> str:
    r"""Return the LaTeX of a formula that was typed without any: `sqrt(x^(n+1))`, `x <= 10^-3`.

    A formula that has commands is LaTeX already.
    """
    if re.search(r"\\[A-Za-z]", text):
        return text
    text = with_commands(text)
    for pattern, replacement in _PLAIN_RULES:
        text = pattern.sub(replacement, text)
    if "\\" not in text:
        text = re.sub(rf"(?<![\^_\w}}]){_GROUP}", _visible_braces, text)
    return _WORD.sub(_command, text)


def _visible_braces(group: re.Match[str]) -> str:
    return rf"\{{{group[0][1:-1]}\}}"


def _command(match: re.Match[str]) -> str:
    name, after = match[0], match.string[match.end() : match.end() + 1]
    is_large = name in _LARGE and after in ("_", "^")
    if is_large or name in _FUNCTIONS or name in _GREEK:
        return rf"\{name}"
    return rf"\operatorname{{{name}}}" if name in _OPERATORS else name


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for part in _PART.finditer(text):
        start, whole = part.start(), part[0]
        if (suffix := _SUFFIX.search(whole)) and re.search(r"[\^_\\]", whole[: suffix.start()]):
            tokens.append(_token(whole[: suffix.start()], start))
            start, whole = start + suffix.start(), whole[suffix.start() :]
        tokens.append(_token(whole, start))
    return tokens


def _token(whole: str, start: int) -> _Token:
    tail = _TAIL.search(whole)
    core = whole[: tail.start()] if tail else whole
    if tail and tail[0].startswith("!") and re.search(r"[A-Za-z0-9)]$", core):
        core += "!"  # a factorial
    latex = with_commands(core).replace(r"^{\circ}", "")
    end = start + len(core)
    return _Token(start, end, start + len(whole), latex, whole[len(core) :], _kind(core, latex))


def _kind(core: str, latex: str) -> TokenKind:
    if not core or core in _NAMES or _NO_SYMBOLS.search(core):
        return TokenKind.WORD
    if re.fullmatch(_GROUP, core):
        return TokenKind.CLEAR if is_formula(core[1:-1]) else TokenKind.OPERAND
    atoms = list(_ATOM.finditer(latex))
    if any(_is_prose(atom, core) for atom in atoms):
        return TokenKind.WORD
    if _is_clear(atoms, core, latex):
        return TokenKind.CLEAR
    letters = [atom["letters"] for atom in atoms if atom["letters"]]
    if letters == [core] and len(core) == 2 and core in _SHORT_WORDS:
        return TokenKind.WORD
    has_operand = any(atom["letters"] or atom["number"] or atom["group"] for atom in atoms)
    return TokenKind.OPERAND if has_operand else TokenKind.OPERATOR


def _is_prose(atom: re.Match[str], core: str) -> bool:
    """Return whether a part of a token makes it a word."""
    if letters := atom["letters"]:
        return not _may_be_symbols(letters)
    if sign := atom["sign"]:
        if sign == "?":
            return not _WILDCARD.search(core)
        return sign in _PROSE or unicodedata.category(sign) in ("So", "Sc", "Cn", "Co", "Pi", "Pf")
    return False


def _may_be_symbols(letters: str) -> bool:
    if letters in _FUNCTIONS or letters in _OPERATORS or letters in _GREEK:
        return True
    if not all(letter.isascii() or _is_in(_SYMBOLS, letter) for letter in letters):
        return False
    is_mixed = not letters.isascii() and not all(_is_in([_GREEK_BLOCK], sign) for sign in letters)
    return len(letters) < 3 or (is_mixed and len(letters) < 5)


def _is_in(blocks: Sequence[range], sign: str) -> bool:
    return any(ord(sign) in block for block in blocks)


def _is_clear(atoms: Sequence[re.Match[str]], core: str, latex: str) -> bool:
    if any(atom["command"] or atom["environment"] for atom in atoms):
        return True
    scripts = (n for n, atom in enumerate(atoms) if atom["script"])
    if any(0 < n < len(atoms) - 1 and not _is_face(atoms[n - 1], atoms[n + 1]) for n in scripts):
        return True
    if _WILDCARD.search(core) or _PRIME.search(core) or _ROOT.search(core):
        return True
    if any(_is_sign_of_mathematics(sign) for sign in core if not sign.isascii()):
        return True
    has_letter = any(atom["letters"] for atom in atoms)
    return has_letter and bool(_RELATION.search(latex) or _FACTORS.search(latex))


def _is_face(before: re.Match[str], after: re.Match[str]) -> bool:
    """Return whether a sign stands between two signs, as in ^_^."""
    return bool(before["script"] or after["script"])


def _is_sign_of_mathematics(sign: str) -> bool:
    is_letter = sign.isalpha() and _is_in(_SETS, sign)
    return is_letter or (unicodedata.category(sign) == "Sm" and sign not in "×÷±∓−∕⁄·¬")


def _runs(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Yield the adjacent tokens that are no words. A sentence's end divides them."""
    run: list[_Token] = []
    for place, token in enumerate(tokens):
        if token.kind is TokenKind.WORD:
            yield from [run] if run else []
            run = []
            continue
        run.append(token)
        is_map = token.tail == ":" and _leads_to_arrow(tokens[place + 1 :])
        if (set(token.tail) & set("?;:") or token.tail in (".", "!")) and not is_map:
            yield run
            run = []
    if run:
        yield run


def _leads_to_arrow(tokens: Sequence[_Token]) -> bool:
    """Return whether a colon is that of a map, as in `f: X → Y`."""
    symbols = takewhile(lambda token: token.kind is not TokenKind.WORD, tokens)
    return any(_ARROW.search(token.latex) for token in symbols)


def _trimmed(run: Sequence[_Token], tokens: Sequence[_Token]) -> list[_Token]:
    """Return a run without operators, functions and articles at its ends that belong to the words
    beside it.
    """
    trimmed = list(run)
    is_first, is_last = run[0] is tokens[0], run[-1] is tokens[-1]
    while (
        trimmed
        and trimmed[0].kind is TokenKind.OPERATOR
        and trimmed[0].latex not in ("|", "(", "[")
    ):
        trimmed.pop(0)
    has_coefficients = any(token.latex == "b" for token in trimmed)
    if len(trimmed) > 1 and not is_first and trimmed[0].latex in _ARTICLES and not has_coefficients:
        trimmed = trimmed[1:] if re.match(_OPERANDS, trimmed[1].latex) else trimmed
    while trimmed and not is_last and trimmed[-1].latex in _ARTICLES:
        before = trimmed[-2] if len(trimmed) > 1 else None
        if before is not None and before.kind is TokenKind.OPERATOR:
            break
        trimmed.pop()
    while trimmed and (trimmed[-1].kind is TokenKind.OPERATOR or trimmed[-1].latex in _OPERATORS):
        if trimmed[-1].latex in _CLOSING:
            break
        trimmed.pop()
    return trimmed


def _is_formula(tokens: Sequence[_Token], text: str, *, is_whole: bool, at_mark: bool) -> bool:
    latex = " ".join(token.latex for token in tokens)
    atoms = list(_ATOM.finditer(latex))
    has_letter = any(atom["letters"] for atom in atoms)
    has_operand = has_letter or any(atom["number"] or atom["group"] for atom in atoms)
    is_clear = any(token.kind is TokenKind.CLEAR for token in tokens)
    if is_clear and (has_operand or (len(tokens) == 1 and is_whole)):
        return True
    if has_letter and _RELATION.search(latex):
        return True
    if at_mark and has_letter:
        return True
    return is_whole and _is_whole_formula(latex, has_letter=has_letter)


def _is_whole_formula(latex: str, *, has_letter: bool) -> bool:
    """Return whether a query without any word is a formula, and neither a number nor a name."""
    if _NUMBERED.fullmatch(latex):
        return False
    if re.search(r"\d\s*[=+±×÷]\s*\d|^[(\[{|].*,.*[)\]}|]$", latex):
        return True
    if not has_letter:
        return False
    if any(_is_in(_SYMBOLS, sign) for sign in latex):
        return True
    is_applied = re.search(r"\w\s*[(\[].+[)\]]|[A-Za-z0-9)]!$", latex)
    first, *_, last = [*latex.split(), ""]
    is_function = first in _FUNCTIONS and last == "" and latex.split()[-1] not in _FUNCTIONS
    return bool(_ARITHMETIC.search(latex) or is_applied or is_function)
