"""Snippets: the part of a post that shows why it was found, with its matches marked."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple

from arqkit.texts.posts.text import TextFormula, pieces, word_spans

LENGTH = 260  # characters
FORMULA_LENGTH = 12  # characters; the assumed width of a formula
BEFORE = 70  # characters shown before the first match
READ = 50_000  # characters of a text to search; posts have up to 30,000
LONGEST_FORMULA = 3_000  # characters of LaTeX; no formula of the collection is longer

_ENDINGS = (
    *("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "ely"),
    *("ed", "es", "ly", "s", "e", "y"),
)


class Part(NamedTuple):
    """A part of a snippet: text, a marked word, a formula, or a gap for omitted text."""

    kind: Literal["text", "mark", "formula", "gap"]
    text: str = ""
    formula: TextFormula | None = None
    is_found: bool = False


def stem(word: str) -> str:
    """Return an approximate stem of an English word, to mark matches of the index."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def snippet(
    html: str, *, terms: Collection[str] = (), formulas: Collection[str] = (), length: int = LENGTH
) -> list[Part]:
    """Return the part of a post with the most different matches, or its beginning.

    Words in `terms` and formulas with ids in `formulas` are marked. Formulas are never cut.
    """
    read = READ if terms or formulas else 4 * length  # the beginning needs no more
    parts = list(marked(html, terms=terms, formulas=formulas, read=read))
    start, end = _window(parts, length)
    if start >= end:
        return []
    window = parts[start:end]
    return [
        *([Part("gap")] if start else []),
        *window,
        *([Part("gap")] if end < len(parts) else []),
    ]


def marked(
    html: str, *, terms: Collection[str], formulas: Collection[str] = (), read: int = READ
) -> list[Part]:
    """Return a text word by word, with white space collapsed and matches marked.

    Text beyond `read` characters and formulas longer than `LONGEST_FORMULA` become gaps.
    """
    stems, ids = {stem(word) for word in terms}, set(formulas)
    parts: list[Part] = []
    remaining = read
    for piece in pieces(html):
        if remaining <= 0:
            return [*parts, Part("gap")]
        if isinstance(piece, TextFormula):
            is_long = len(piece.latex) > LONGEST_FORMULA
            parts.append(
                Part("gap") if is_long else Part("formula", "", piece, piece.formula_id in ids)
            )
            remaining -= FORMULA_LENGTH
        else:
            parts.extend(
                _words(piece[:remaining], stems, not parts or parts[-1].text.endswith(" "))
            )
            remaining -= len(piece)
    return parts if remaining >= 0 else [*parts, Part("gap")]


def _words(text: str, stems: set[str], after_blank: bool) -> list[Part]:
    parts, end = [], 0
    visible = " ".join(text.split()) or " "
    visible = (" " if text[:1].isspace() and visible != " " else "") + visible
    visible += " " if text[-1:].isspace() and visible != " " else ""
    visible = visible[1:] if after_blank and visible.startswith(" ") else visible
    for start, stop, word in word_spans(visible):
        if stem(word) in stems:
            parts.append(Part("mark", visible[start:stop], is_found=True))
        else:
            parts.append(Part("text", visible[start:stop]))
        if start > end:
            parts.insert(-1, Part("text", visible[end:start]))
        end = stop
    return [*parts, Part("text", visible[end:])] if visible[end:] else parts


def _window(parts: list[Part], length: int) -> tuple[int, int]:
    """Return start and end of the part with the most different matches, with text before it."""
    sizes = [len(part.text) if part.formula is None else FORMULA_LENGTH for part in parts]
    finds = [place for place, part in enumerate(parts) if part.is_found]
    start = _before(sizes, _richest(parts, sizes, finds, length - BEFORE)) if finds else 0
    end, size = start, 0
    while end < len(parts) and (size < length or end == start):
        size += sizes[end]
        end += 1
    if end == len(parts) and size < length:  # at the end of the post, show more of the text before
        while start and size + sizes[start - 1] <= length:
            start -= 1
            size += sizes[start]
    return start, end


def _richest(parts: Sequence[Part], sizes: Sequence[int], finds: Sequence[int], room: int) -> int:
    """Return the first match that most different matches follow within `room` characters."""
    ends = list(accumulate(sizes))
    names = [
        part.formula.latex if part.formula else stem(part.text.lower())
        for part in (parts[at] for at in finds)
    ]
    inside: Counter[str] = Counter()
    richest, most, last = finds[0], 0, 0
    for first, place in enumerate(finds):
        while last < len(finds) and (
            last == first or ends[finds[last]] - ends[place] + sizes[place] <= room
        ):
            inside[names[last]] += 1
            last += 1
        if len(inside) > most:
            richest, most = place, len(inside)
        inside -= Counter([names[first]])
    return richest


def _before(sizes: list[int], place: int) -> int:
    size = 0
    while place and size + sizes[place - 1] <= BEFORE:
        place -= 1
        size += sizes[place]
    return place


def joined(parts: list[Part]) -> list[Part]:
    """Join adjacent texts, for less HTML, and adjacent gaps."""
    out: list[Part] = parts[:1]
    for before, part in pairwise(parts):
        if part.kind == before.kind and part.kind in ("text", "gap"):
            out[-1] = Part(part.kind, out[-1].text + part.text)
        else:
            out.append(part)
    return out
