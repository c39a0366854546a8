"""The sanitizer: make posts, titles and comments safe, and give every formula an element and an id.

The output contains only the tags, attributes, classes and ids of `arqkit.texts.html.allowed_html`.
A formula is `<span class="math-container" id="ID">$LaTeX$</span>`. Clean text is returned
unchanged. This module does not need Django: worker processes use it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from itertools import count
from typing import NamedTuple, cast

from arqkit.texts.html.allowed_html import FORMULA, IN_LINES, IN_POSTS, is_clean
from arqkit.texts.html.formulas import bare_formulas, has_marks, runs, with_dollars
from arqkit.texts.html.tidying import Inside, tidy
from arqkit.texts.posts.text import TextFormula, without_marks

# The version of these rules. Raise it when the output changes; `clean_posts` then updates stored
# texts.
RULES = 5

_TAG = re.compile(r"<[^<>]*+>")
_NOT_IN_IDS = re.compile(r"[\s\"<>&\x00-\x1f\x7f]")


@dataclass(frozen=True)
class CleanText:
    """A sanitized text: the texts around its formulas, and the formulas' ids and source.

    `numbered` counts the ids we made. `within` holds formulas inside environments, whose elements
    could not be kept. `was_safe` is True if the source needed no change except elements and ids for
    its formulas, which can be added again at little cost.
    """

    texts: list[str]
    ids: list[str]
    written: list[str]
    numbered: int
    within: tuple[TextFormula, ...] = ()
    was_safe: bool = field(default=False, compare=False)

    @cached_property
    def html(self) -> str:
        """Return the whole text, built on first use: most imported posts are stored unchanged."""
        elements = zip(self.ids, self.written, self.texts[1:], strict=True)
        html = [
            f'<span class="math-container" id="{formula_id}">{text}</span>{rest}'
            for formula_id, text, rest in elements
        ]
        return "".join([self.texts[0], *html])

    @property
    def formula_count(self) -> int:
        """Return the number of formulas."""
        return len(self.ids) + len(self.within)

    @property
    def latex(self) -> list[str]:
        """Return the LaTeX of the formulas in `ids`, without dollars."""
        return [source_latex(text)[0] for text in self.written]

    @cached_property
    def formulas(self) -> tuple[TextFormula, ...]:
        """Return the formulas in order, built on first use; those inside environments come last."""
        return (*map(_formula, self.ids, self.written), *self.within)

    def beside(self, source: str) -> str | None:
        """Return the HTML to store beside its source, or None if they are equal."""
        return None if self.html == source else self.html

    @property
    def kept(self) -> str | None:
        """Return the HTML to store beside a post's text, or None if the source suffices.

        The HTML is then derived from the source again when the post is shown (see `lacks_ids`).
        Storing it would double the size of a data dump without ids.
        """
        return None if self.was_safe else self.html


def clean_post(html: str, *, prefix: str, first: int = 1) -> CleanText:
    """Sanitize the body of a post; formulas without an id become `prefix.n`, n from `first`."""
    return _clean(html, IN_POSTS, prefix, first)


def clean_line(html: str, *, prefix: str, first: int = 1) -> CleanText:
    """Sanitize a title, which has inline tags only; ids as in `clean_post`."""
    return _clean(html, IN_LINES, prefix, first)


def clean_title_and_body(title: str, body: str, *, post_id: str) -> tuple[CleanText, CleanText]:
    """Sanitize the title and the body of a post, with formulas numbered across both."""
    # Ids of topics may have characters that ids of formulas cannot have.
    prefix = _NOT_IN_IDS.sub("-", post_id)[:290]
    clean_title = clean_line(title, prefix=prefix)
    return clean_title, clean_post(body, prefix=prefix, first=1 + clean_title.numbered)


def lacks_ids(html: str) -> bool:
    """Return whether a safe text may hold formulas without elements, dollars or given ids."""
    parts = FORMULA.split(html)
    ids, written = parts[1::3], parts[2::3]
    is_whole = all(formula_id and "." not in formula_id for formula_id in ids) and all(
        text[:1] == "$" for text in written
    )
    return not is_whole or has_marks("\0".join(parts[::3]))


def clean_comment(text: str, *, comment_id: str) -> CleanText:
    """Sanitize a comment; formulas are numbered under its id, and code is between backticks."""
    return _clean(text, IN_LINES, f"c{comment_id}", 1, has_typed_code="`" in text)


def source_latex(written: str) -> tuple[str, bool]:
    """Return the LaTeX in a formula's element, without dollars, and whether it is a display."""
    return without_marks(unescape(written) if "&" in written else written)


class _Parts(NamedTuple):
    """Clean HTML split at its formulas: the texts around them, their ids and their source."""

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
    within: list[TextFormula] = []
    if has_marks(text):
        parts = _apart("".join(_wrapped(_joined(parts), within, has_typed_code=has_typed_code)))
    return _numbered(parts, within, prefix, first, was_safe=was_safe)


def _apart(html: str) -> _Parts:
    if "<span" not in html:
        return _Parts([html], [], [])
    parts = FORMULA.split(html)
    return _Parts(cast("list[str]", parts[::3]), parts[1::3], cast("list[str]", parts[2::3]))


def _is_text(html: str) -> bool:
    """Return whether a text can be stored and sent: it has no NUL and no unpaired surrogate."""
    if html.isascii():
        return "\0" not in html
    try:
        return b"\0" not in html.encode()
    except UnicodeEncodeError:
        return False


def _wrapped(html: str, within: list[TextFormula], *, has_typed_code: bool) -> Iterator[str]:
    for run, has_formulas in runs(html):
        if not has_formulas:
            yield run
            continue
        place = 0
        for bare in bare_formulas(run, has_typed_code=has_typed_code):
            source = run[bare.inner].replace("<br>", " ")
            if "<" in source:
                within += [
                    _formula(formula_id, text)
                    for formula_id, text in FORMULA.findall(source)
                    if formula_id
                ]
                source = _TAG.sub("", source)
            dollars = "$$" if bare.is_display else "$"
            element = f'<span class="math-container">{dollars}{source}{dollars}</span>'
            yield run[place : bare.start] + element
            place = bare.end
        yield run[place:]


def _numbered(
    parts: _Parts, within: list[TextFormula], prefix: str, first: int, *, was_safe: bool
) -> CleanText:
    """Return the text with an id for every formula; an id with a dot is replaced.

    Only we make ids with dots, so one in the source is stale or forged.
    """
    if any(parts.given):
        number = count(first)
        ids = [
            f"{prefix}.{next(number)}" if formula_id is None or "." in formula_id else formula_id
            for formula_id in parts.given
        ]
        numbered = next(number) - first
    else:
        numbered = len(parts.given)
        ids = [f"{prefix}.{number}" for number in range(first, first + numbered)]
    written = [text if text[:1] == "$" else with_dollars(text) for text in parts.written]
    return CleanText(parts.texts, ids, written, numbered, tuple(within), was_safe=was_safe)


def _formula(formula_id: str, text: str) -> TextFormula:
    return TextFormula(formula_id, *source_latex(text))


def _joined(parts: _Parts) -> str:
    html = [parts.texts[0]]
    for formula_id, text, after in zip(parts.given, parts.written, parts.texts[1:], strict=True):
        opening = '<span class="math-container"' + (f' id="{formula_id}">' if formula_id else ">")
        html.append(f"{opening}{text}</span>{after}")
    return "".join(html)
