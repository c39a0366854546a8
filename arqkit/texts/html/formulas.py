"""Formulas in the text of posts: delimiters, and formulas that no element marks.

Math Stack Exchange typesets text between dollars, double dollars and backslashed brackets, and
environments. A delimiter does not count after a backslash, in code, or where dollars are money. A
formula may contain line breaks but no other tags. An environment may contain formulas of its own,
inside `\\text`.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from arqkit.data_files import data_beside

_CURRENCY = re.compile(r"\b(?:US|AU|CA|NZ|HK|SG|A|C)$")
_AMOUNT = re.compile(r"\s*\d[\d.,]*\s?(?:[kKmMbB]|bn|million|billion|thousand)?(?![\w^\\{])")
_WORD = re.compile(r"\\?\w+")
_LISTS = data_beside(__file__, "names.toml")
NAMES = {name: frozenset(listed.split()) for name, listed in _LISTS.items()}
"""The names of elements and environments, and the words of prose."""
_MAY_BE_MONEY = re.compile(r"\d|\S*\s")  # an amount, or text with white space
_GROUP = re.compile(r"\{[^{}]*\}")

LONGEST = 10_000  # characters; the longest formula of the collection has fewer than 3,000
_PATIENCE = 6  # failed scans per run of text, so that hostile text takes linear time

_BOUNDARY = re.compile(r"(<(?!span |/span>|br>)[^>]*>)")
_VERBATIM = ("code", "pre", "kbd")
_STARTS = (
    r"\\[\\$]|<(?:span [^>]*>[^<]*+</span|br)>"
    r"|(?P<mark>\$\$?|\\[(\[])"
    r"|\\begin\{(?P<kind>[A-Za-z]{3,16}\*?)\}"
)
TYPED_CODE = r"(?<![`\\])(?P<fence>`+)(?!`)(?P<code>[^`]{1,2000})(?P=fence)(?!`)"
"""Code in comments, between backticks."""
_START = re.compile(_STARTS)
_START_OR_CODE = re.compile(f"{_STARTS}|{TYPED_CODE}")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([A-Za-z]{3,16}\*?)\}")
_CONTENT = {  # from an opening delimiter to where its closing delimiter must be
    "$": re.compile(r"[^$<\\]*+(?:\\.[^$<\\]*+)*+", re.DOTALL),
    "$$": re.compile(r"(?:[^$<\\]++|\\.|\$(?!\$)|<br>)*+", re.DOTALL),
    r"\(": re.compile(r"(?:[^<\\]++|\\[^)])*+", re.DOTALL),
    r"\[": re.compile(r"(?:[^<\\]++|\\[^\]]|<br>)*+", re.DOTALL),
}
_CLOSING = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_BRACES = {
    mark: re.compile(rf"(?P<end>{re.escape(closing)})|\\.|[{{}}]|(?P<tag><(?!br>))", re.DOTALL)
    for mark, closing in _CLOSING.items()
}


def is_money(content: str, *, before: str, after: str) -> bool:
    """Return whether the dollars around `content` are money or stray signs instead of delimiters.

    `before` holds the three characters before them, `after` the one after them. Content that begins
    like an amount, or begins or ends with white space, is money if it has a word of prose outside
    braces. Any other content is money if it has two.
    """
    if not _MAY_BE_MONEY.match(content):
        return False
    if _is_price(content, before=before, after=after):
        return True
    is_bounded = bool(_AMOUNT.match(content)) or content[0].isspace() or content[-1].isspace()
    words = _WORD.findall(_GROUP.sub(" ", content))
    return sum(word.lower() in NAMES["prose"] for word in words) > (0 if is_bounded else 1)


def _is_price(content: str, *, before: str, after: str) -> bool:
    if not _AMOUNT.match(content):
        return False
    return content[-1].isspace() or after.isdigit() or bool(_CURRENCY.search(before))


class Bare(NamedTuple):
    """A formula without an element: its span, the slice of its LaTeX, and its style."""

    start: int
    end: int
    inner: slice
    is_display: bool


def with_dollars(text: str) -> str:
    """Return the text of a formula's element with dollars as its delimiters."""
    latex = text.strip()
    if latex[:2] == r"\(" and latex[-2:] == r"\)":
        return f"${latex[2:-2]}$"
    if latex[:2] == r"\[" and latex[-2:] == r"\]":
        return f"$${latex[2:-2]}$$"
    if latex.startswith(r"\begin{") and latex.endswith("}"):
        return f"$${latex}$$"
    return text


def has_marks(text: str) -> bool:
    """Return whether text may contain a formula without an element."""
    return "$" in text or "\\(" in text or "\\[" in text or "\\begin{" in text


def runs(html: str) -> Iterator[tuple[str, bool]]:
    """Yield clean HTML in parts, with its line breaks, each with whether it may have formulas."""
    depth = 0
    has_verbatim = any(f"<{name}>" in html for name in _VERBATIM)
    for number, part in enumerate(_BOUNDARY.split(html)):
        if number % 2 == 0:
            yield part, not depth and has_marks(part)
            continue
        if has_verbatim and part.strip("</>") in _VERBATIM:
            depth += -1 if part[1] == "/" else 1
        yield part, False


def bare_formulas(run: str, *, has_typed_code: bool = False) -> Iterator[Bare]:
    """Yield the formulas without an element in a run, if wanted without code in backticks."""
    place, scans = 0, _Scans(run)
    starts = _START_OR_CODE if has_typed_code else _START
    while start := starts.search(run, place):
        place = start.end()
        formula = None
        if start["mark"]:
            formula = scans.marked(start)
        elif start["kind"] and start["kind"].rstrip("*") not in NAMES["text_environments"]:
            formula = scans.environment(start)
        if formula:
            yield formula
            place = formula.end


class _Scans:
    """A search for the ends of formulas in one run of text; it remembers failed searches."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.none_before: dict[str, int] = {}
        self.patience = _PATIENCE

    def marked(self, start: re.Match[str]) -> Bare | None:
        """Return the formula that an opening delimiter begins, or None."""
        mark, begin = start["mark"], start.end()
        if begin <= self.none_before.get(mark, -1) or self.patience < 0:
            return None
        closing = _CLOSING[mark]
        end = content.end() if (content := _CONTENT[mark].match(self.run, begin)) else begin
        if not self.run.startswith(closing, end):
            self.none_before[mark] = end
            return None
        if self.run.count("{", begin, end) != self.run.count("}", begin, end):
            end = self._balanced(mark, begin)
        if end - begin > LONGEST:
            self.patience -= 1
            return None
        if end < 0 or not (inner := self.run[begin:end]).strip():
            return None
        before, after = self.run[max(0, begin - 4) : begin - 1], self.run[end + 1 : end + 2]
        if mark == "$" and is_money(inner, before=before, after=after):
            return None
        return Bare(start.start(), end + len(closing), slice(begin, end), mark in ("$$", r"\["))

    def environment(self, start: re.Match[str]) -> Bare | None:
        """Return the environment that begins here, or None; it may contain others of its kind."""
        if self.patience < 0:
            return None
        depth = 0
        for mark in _ENVIRONMENT.finditer(self.run, start.start()):
            if mark[2] != start["kind"]:
                continue
            depth += 1 if mark[1] == "begin" else -1
            if depth == 0 and mark.end() - start.start() <= LONGEST:
                return Bare(start.start(), mark.end(), slice(start.start(), mark.end()), True)
            if depth == 0:
                break
        self.patience -= 1
        return None

    def _balanced(self, mark: str, begin: int) -> int:
        """Return the position of the closing delimiter outside braces, or -1."""
        depth = 0
        for token in _BRACES[mark].finditer(self.run, begin):
            if token["tag"]:
                break
            if token["end"]:
                if depth == 0:
                    return token.start()
            elif token[0] == "{":
                depth += 1
            elif token[0] == "}":
                depth = max(0, depth - 1)
        self.patience -= 1
        return -1
