r"""Search queries: `"cauchy sequence" tag:calculus kind:answer score:>5 -metric $x^2$`.

No input is an error: invalid filters are searched as words, and reported in `notes`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from arqkit.texts.posts.text import words
from arqkit.texts.posts.typed import typed_pieces, without_wildcards

LONGEST = 1000  # characters; the rest of a query is ignored
MAX_TERMS = 24
"""Each word costs a look-up in the index."""

# Ignored unless they are part of a phrase or the query has nothing else.
STOP_WORDS = frozenset(
    """
    a about an and any are as at be been but by can could did do does for from had has have how
    i if in into is it its me my no not of on or so such than that the their them then there
    these they this to was we were what when where which who why will with would you your
    """.split()
)

_PARTS = re.compile(
    r"(?P<minus>-(?=\S))?(?:"
    r"(?P<field>[a-zA-Z]+):(?P<value>\"[^\"]*\"|[^\s\"]+)"
    r"|\"(?P<phrase>[^\"]*)\"?"
    r"|(?P<word>[^\s\"$]+|\$))",
    re.DOTALL,
)
_EXCLUDES = re.compile(r"(?:^|\s)-$")
_SCORE = re.compile(
    r"(?P<least>[+-]?\d{1,6})\.\.(?P<most>[+-]?\d{1,6})"
    r"|(?P<sign>>=|<=|>|<|=)?(?P<number>[+-]?\d{1,6})"
)
_KINDS = {
    **dict.fromkeys(("question", "questions", "q"), "question"),
    **dict.fromkeys(("answer", "answers", "a"), "answer"),
}
_ID = re.compile(r"[^\s\"<>&]{1,300}")
_NUMBER = re.compile(
    r"[0-9]{1,40}|c?[0-9]{1,18}\.[0-9]{1,9}"  # ids with a dot are our own
    r"|(?!(?:post|formula|visual|score|is|kind|tag):)[^\s\"<>&$]{1,290}:[0-9]{1,9}"
)

Phrase = tuple[str, ...]

_HELP = (
    "Filters are tag:calculus, kind:answer, kind:question, score:>5, score:2..8, post:12345,"
    " formula:678, visual:90."
)


@dataclass(frozen=True)
class PostQuery:
    """A parsed query. A phrase is one word or several adjacent words; all `phrases` must match.

    With `any_phrase`, one of them suffices. `formulas` are LaTeX without dollars. `ids` are pairs
    of a kind (post, formula or visual) and an id. `number` is the whole query if it may be an id.
    """

    phrases: tuple[Phrase, ...] = ()
    without: tuple[Phrase, ...] = ()
    tags: tuple[str, ...] = ()
    without_tags: tuple[str, ...] = ()
    kind: str = ""
    least: int | None = None
    most: int | None = None
    formulas: tuple[str, ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    number: str = ""
    any_phrase: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether the query asks for nothing."""
        return self == replace(PostQuery(), notes=self.notes)

    @property
    def asks_for_posts(self) -> bool:
        """Return whether the query has words or filters besides formulas and ids."""
        return replace(self, formulas=(), ids=(), number="", notes=()) != PostQuery()


@dataclass
class _Draft:
    phrases: list[Phrase] = field(default_factory=list)
    without: list[Phrase] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    without_tags: list[str] = field(default_factory=list)
    kind: str = ""
    least: int | None = None
    most: int | None = None
    formulas: list[str] = field(default_factory=list)
    ids: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def parse_query(text: str) -> PostQuery:
    """Parse a query. Nothing is raised; `notes` explains what was not read as a filter."""
    text = text.replace("\x00", " ")[:LONGEST].strip()
    draft, before = _Draft(), ""
    for piece in typed_pieces(text):
        if isinstance(piece, str):
            for part in _PARTS.finditer(piece):
                _read(part, draft)
            before = piece
        else:
            _read_formula(piece.latex, draft, negative=_EXCLUDES.search(before) is not None)
            before = ""
    number = text if _NUMBER.fullmatch(text) else ""
    once = list(dict.fromkeys(draft.phrases))
    terms = [phrase for phrase in once if len(phrase) > 1 or phrase[0] not in STOP_WORDS] or once
    if len(terms) + len(draft.without) > MAX_TERMS:
        draft.notes.append(f"Only the first {MAX_TERMS} words are searched.")
    return PostQuery(
        phrases=tuple(terms[:MAX_TERMS]),
        without=tuple(draft.without[: max(0, MAX_TERMS - len(terms))]),
        tags=tuple(draft.tags[:MAX_TERMS]),
        without_tags=tuple(draft.without_tags[:MAX_TERMS]),
        kind=draft.kind,
        least=draft.least,
        most=draft.most,
        formulas=tuple(draft.formulas[:3]),
        ids=tuple(draft.ids[:3]),
        number=number,
        notes=tuple(draft.notes),
    )


def _read_formula(latex: str, draft: _Draft, *, negative: bool) -> None:
    if negative:
        draft.notes.append("Formulas cannot be excluded. The minus sign is ignored.")
    if (plain := without_wildcards(latex)) != latex:
        draft.notes.append(
            "Only Search with systems reads wildcards such as ?x. Here they are symbols."
        )
    draft.formulas.append(plain)


def _read(part: re.Match[str], draft: _Draft) -> None:
    negative = bool(part["minus"])
    if part["field"]:
        reader = _FIELDS.get(part["field"].lower())
        value = part["value"].strip('"')
        if reader and reader(draft, value, negative):
            return
        if reader:
            draft.notes.append(
                f"“{part['field']}:{value}” is not a valid filter. ArqLab searches for it as "
                f"words. {_HELP}"
            )
    text = part["phrase"] if part["phrase"] is not None else part[0].removeprefix("-")
    if phrase := tuple(words(text)):
        (draft.without if negative else draft.phrases).append(phrase)


# --- filters


def _tag(draft: _Draft, value: str, negative: bool) -> bool:
    (draft.without_tags if negative else draft.tags).append(value.lower())
    return bool(value)


def _kind(draft: _Draft, value: str, negative: bool) -> bool:
    kind = _KINDS.get(value.lower())
    if kind is None:
        return False
    draft.kind = kind if not negative else ({"question", "answer"} - {kind}).pop()
    return True


def _score(draft: _Draft, value: str, negative: bool) -> bool:
    match = _SCORE.fullmatch(value)
    if match is None or negative:
        return False
    if match["least"]:
        draft.least, draft.most = int(match["least"]), int(match["most"])
        return True
    number, sign = int(match["number"]), match["sign"] or "="
    if sign in {">", ">=", "="}:
        draft.least = number + (sign == ">")
    if sign in {"<", "<=", "="}:
        draft.most = number - (sign == "<")
    return True


def _id(kind: str) -> Callable[[_Draft, str, bool], bool]:
    def read(draft: _Draft, value: str, negative: bool) -> bool:
        if negative or not _ID.fullmatch(value):
            return False
        draft.ids.append((kind, value))
        return True

    return read


_FIELDS: dict[str, Callable[[_Draft, str, bool], bool]] = {
    "tag": _tag,
    "kind": _kind,
    "is": _kind,
    "score": _score,
    "post": _id("post"),
    "formula": _id("formula"),
    "visual": _id("visual"),
}


def with_filters(
    query: PostQuery, *, kind: str = "", tags: str = "", least: int | None = None
) -> PostQuery:
    """Return the query with filters from form fields; filters in the query take precedence."""
    more = [
        tag
        for tag in re.split(r"[\s,]+", tags.replace("\x00", " ").lower())
        if tag and tag not in query.tags
    ]
    return replace(
        query,
        kind=query.kind or _KINDS.get(kind, ""),
        tags=(*query.tags, *more)[:MAX_TERMS],
        least=query.least if query.least is not None else least,
    )
