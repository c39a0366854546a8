"""Posts, titles and comments made safe to show, with every formula found, numbered and in an
element of its own.

What comes out holds no tag, attribute, class or id but those of `arqlab.texts.html.allowed_html`; a
formula is `<span class="math-container" id="ID">$LaTeX$</span>`. Text that is so already is given
back as it is. Needs no Django: worker processes use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import unescape
from itertools import count
from typing import NamedTuple, cast

from arqlab.texts.html.allowed_html import FORMULA, IN_LINES, IN_POSTS, is_clean
from arqlab.texts.html.formulas import bare_formulas, has_marks, plain_formulas, runs, with_dollars
from arqlab.texts.html.tidying import Inside, tidy
from arqlab.texts.posts.text import without_marks

# the version of these rules; whoever changes what comes out raises it, and `clean_posts` brings
# texts up
RULES = 3

_TAG = re.compile(r"<[^<>]*+>")


class FoundFormula(NamedTuple):
    """A formula of a text: its id, its LaTeX without dollars, how it is set, and whether the id was
    given by us.
    """

    formula_id: str
    latex: str
    is_display: bool
    is_numbered: bool


@dataclass(frozen=True)
class CleanText:
    """A text made safe: the texts around its formulas, their ids and what stands in their elements,
    how many ids we gave.

    `within` are the formulas inside environments, whose elements could not stay. `was_safe` says
    that nothing else was to change in the source: its formulas were plainly marked, and are given
    their elements and ids at little cost.
    """

    texts: list[str]
    ids: list[str]
    written: list[str]
    numbered: int
    within: tuple[FoundFormula, ...] = ()
    was_safe: bool = field(default=False, compare=False)

    @cached_property
    def html(self) -> str:
        """Return the whole text, made when asked for: most of an import's posts are stored as they
        came.
        """
        elements = zip(self.ids, self.written, self.texts[1:], strict=True)
        html = [
            f'<span class="math-container" id="{known}">{text}</span>{rest}'
            for known, text, rest in elements
        ]
        return "".join([self.texts[0], *html])

    @property
    def formula_count(self) -> int:
        """Return how many formulas the text has."""
        return len(self.ids) + len(self.within)

    @property
    def latex(self) -> list[str]:
        """Return the LaTeX of the formulas beside `ids`, without dollars."""
        if not self.written:
            return []
        together = "\0".join(
            self.written
        )  # a call for each formula would cost more than all else that is done here
        together = unescape(together) if "&" in together else together
        plainly = together[1:-1].split("$\0$")
        count, ends = len(self.written), together[0] + together[-1]
        if len(plainly) == count and together.count("$") == 2 * count and ends == "$$":
            return list(map(str.strip, plainly))
        return [without_marks(text)[0] for text in together.split("\0")]

    @cached_property
    def formulas(self) -> tuple[FoundFormula, ...]:
        """Return the formulas in their order, made when asked for; those inside an environment of the
        text come last.
        """
        return (*map(_formula, self.ids, self.written), *self.within)

    def beside(self, source: str) -> str | None:
        """Return the HTML that is stored beside its source: None where there was nothing to change."""
        return None if self.html == source else self.html

    @property
    def kept(self) -> str | None:
        """Return the HTML that is stored beside the text of a post: None where `lacks_ids` and this
        module tell it from the source, which is half of what a dump without ids would take."""
        return None if self.was_safe else self.html


_found = partial(tuple.__new__, FoundFormula)  # as FoundFormula._make, at half its cost


def clean_post(html: str, *, prefix: str, first: int = 1) -> CleanText:
    """Make the body of a post safe, blocks and all. A formula without an id becomes `prefix.n`, n
    from `first` on.
    """
    return _clean(html, IN_POSTS, prefix, first)


def clean_line(html: str, *, prefix: str, first: int = 1) -> CleanText:
    """Make a title safe: tags inside a line only. Ids as in `clean_post`."""
    return _clean(html, IN_LINES, prefix, first)


def clean_title_and_body(title: str, body: str, *, post_id: str) -> tuple[CleanText, CleanText]:
    """Make both texts of a post safe; formulas are numbered through title and body."""
    clean_title = clean_line(title, prefix=post_id)
    return clean_title, clean_post(body, prefix=post_id, first=1 + clean_title.numbered)


def lacks_ids(html: str) -> bool:
    """Return whether a text that was safe may hold formulas without ids or dollars yet, or with ids
    that only we give.
    """
    parts = FORMULA.split(html)
    given, written = parts[1::3], parts[2::3]
    is_whole = all(known and "." not in known for known in given) and all(
        text[:1] == "$" for text in written
    )
    return not is_whole or has_marks("\0".join(parts[::3]))


def clean_comment(text: str, *, comment_id: str) -> CleanText:
    """Make a comment safe; formulas without an id are numbered under its id. Code stands there
    between backticks.
    """
    return _clean(text, IN_LINES, f"c{comment_id}", 1, has_typed_code="`" in text)


def source_latex(written: str) -> tuple[str, bool]:
    """Return the LaTeX of what stands in a formula's element, without dollars, and whether it is a
    display.
    """
    return without_marks(unescape(written) if "&" in written else written)


class _Parts(NamedTuple):
    """Clean HTML apart: the texts around its formulas, and of these the ids, None where one has
    none, and the elements' text.
    """

    texts: list[str]
    given: list[str | None]
    written: list[str]


def _clean(
    html: str, inside: Inside, prefix: str, first: int, *, has_typed_code: bool = False
) -> CleanText:
    if not html:
        return CleanText([""], [], [], 0, was_safe=True)
    parts = _apart(html)
    text = "\0".join(parts.texts)
    was_safe = _is_text(html) and is_clean(text, inside)
    if not was_safe:
        parts = _apart(tidy(html, inside))
        text = "\0".join(parts.texts)
    within: list[FoundFormula] = []
    if has_marks(text):
        if plain := None if parts.given or has_typed_code else plain_formulas(text):
            texts, written = plain
            parts = _Parts(texts, [None] * len(written), written)
        else:
            was_safe = False
            parts = _apart("".join(_wrapped(_joined(parts), within, has_typed_code=has_typed_code)))
    return _numbered(parts, within, prefix, first, was_safe=was_safe)


def _apart(html: str) -> _Parts:
    if "<span" not in html:
        return _Parts([html], [], [])
    parts = FORMULA.split(html)
    return _Parts(cast("list[str]", parts[::3]), parts[1::3], cast("list[str]", parts[2::3]))


def _is_text(html: str) -> bool:
    """Return whether a text can be stored and sent: no NUL, no half of a character."""
    if html.isascii():
        return "\0" not in html
    try:
        return b"\0" not in html.encode()
    except UnicodeEncodeError:
        return False


def _wrapped(html: str, within: list[FoundFormula], *, has_typed_code: bool) -> Iterator[str]:
    """Return clean HTML with elements around the formulas that had none; those inside environments go
    to `within`.
    """
    for run, has_formulas in runs(html):
        if not has_formulas:
            yield run
            continue
        if plain := None if has_typed_code else plain_formulas(run):
            yield _joined(_Parts(plain[0], [None] * len(plain[1]), plain[1]))
            continue
        place = 0
        for found in bare_formulas(run, has_typed_code=has_typed_code):
            source = run[found.inner].replace("<br>", " ")
            if "<" in source:
                held = [_formula(known, text) for known, text in FORMULA.findall(source) if known]
                within += [formula._replace(is_numbered=False) for formula in held]
                source = _TAG.sub("", source)
            dollars = "$$" if found.is_display else "$"
            yield f'{run[place : found.start]}<span class="math-container">{dollars}{source}{dollars}</span>'
            place = found.end
        yield run[place:]


def _numbered(
    parts: _Parts, within: list[FoundFormula], prefix: str, first: int, *, was_safe: bool
) -> CleanText:
    """Return the text with an id for every formula. An id that has a dot is one of ours, or a
    forgery.
    """
    if any(parts.given):
        number = count(first)
        ids = [
            f"{prefix}.{next(number)}" if known is None or "." in known else known
            for known in parts.given
        ]
        numbered = next(number) - first
    else:
        numbered = len(parts.given)
        ids = [f"{prefix}.{number}" for number in range(first, first + numbered)]
    written = [text if text[:1] == "$" else with_dollars(text) for text in parts.written]
    return CleanText(parts.texts, ids, written, numbered, tuple(within), was_safe=was_safe)


def _formula(formula_id: str, text: str) -> FoundFormula:
    return _found((formula_id, *source_latex(text), "." in formula_id))


def _joined(parts: _Parts) -> str:
    """Return the HTML that was taken apart."""
    html = [parts.texts[0]]
    for known, text, after in zip(parts.given, parts.written, parts.texts[1:], strict=True):
        opening = '<span class="math-container"' + (f' id="{known}">' if known else ">")
        html.append(f"{opening}{text}</span>{after}")
    return "".join(html)
