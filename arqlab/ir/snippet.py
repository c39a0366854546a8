"""The part of a post that shows why it was found: the words marked, formulas whole."""

from collections.abc import Collection
from itertools import pairwise
from typing import Literal, NamedTuple

from arqlab.ir.postwords import TextFormula, pieces, word_spans

LENGTH = 260  # characters
FORMULA_LENGTH = 12  # what a formula counts for: it is about as wide as this many letters
BEFORE = 70  # characters shown before the first word that was found

_ENDINGS = ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "ely", "ed", "es", "ly", "s", "e", "y")


class Part(NamedTuple):
    """A part of a snippet: plain text, a marked word, a formula, or a gap where text was left out."""

    kind: Literal["text", "mark", "formula", "gap"]
    text: str = ""
    formula: TextFormula | None = None
    is_found: bool = False


def stem(word: str) -> str:
    """Give what the forms of an English word share, roughly: for marking what the index found, never for finding it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def snippet(
    html: str, *, found: Collection[str] = (), formulas: Collection[str] = (), length: int = LENGTH
) -> list[Part]:
    """Give the part of a post around what was found, or its beginning: words of `found` and formula ids marked.

    The window is that with most different words that were found. A formula is in whole or not at all.
    """
    parts = list(marked(html, found=found, formulas=formulas))
    start, end = _window(parts, length)
    if start >= end:
        return []
    shown = parts[start:end]
    return [*([Part("gap")] if start else []), *shown, *([Part("gap")] if end < len(parts) else [])]


def marked(html: str, *, found: Collection[str], formulas: Collection[str] = ()) -> list[Part]:
    """Give a whole text word by word, blanks made one, what was found marked."""
    stems, ids = {stem(word) for word in found}, set(formulas)
    parts: list[Part] = []
    for piece in pieces(html):
        if isinstance(piece, TextFormula):
            parts.append(Part("formula", formula=piece, is_found=piece.formula_id in ids))
        else:
            parts.extend(_words(piece, stems, not parts or parts[-1].text.endswith(" ")))
    return parts


def _words(text: str, stems: set[str], after_blank: bool) -> list[Part]:
    parts, end = [], 0
    shown = " ".join(text.split()) or " "
    shown = (" " if text[:1].isspace() and shown != " " else "") + shown
    shown += " " if text[-1:].isspace() and shown != " " else ""
    shown = shown[1:] if after_blank and shown.startswith(" ") else shown
    for start, stop, word in word_spans(shown):
        if stem(word) in stems:
            parts.append(Part("mark", shown[start:stop], is_found=True))
        else:
            parts.append(Part("text", shown[start:stop]))
        if start > end:
            parts.insert(-1, Part("text", shown[end:start]))
        end = stop
    return [*parts, Part("text", shown[end:])] if shown[end:] else parts


def _window(parts: list[Part], length: int) -> tuple[int, int]:
    """Give start and end of the part with most different finds; the first of several, with some text before it."""
    sizes = [len(part.text) if part.formula is None else FORMULA_LENGTH for part in parts]
    finds = [place for place, part in enumerate(parts) if part.is_found]
    start = _before(sizes, max(finds, key=lambda place: (_worth(parts, sizes, place, length), -place))) if finds else 0
    end, size = start, 0
    while end < len(parts) and (size < length or end == start):
        size += sizes[end]
        end += 1
    if end == len(parts) and size < length:  # the end of the post: more of what stands before
        while start and size + sizes[start - 1] <= length:
            start -= 1
            size += sizes[start]
    return start, end


def _worth(parts: list[Part], sizes: list[int], place: int, length: int) -> int:
    size, seen = 0, set()
    for part, wide in zip(parts[place:], sizes[place:], strict=True):
        size += wide
        if size > length - BEFORE:
            break
        if part.is_found:
            seen.add(part.formula.latex if part.formula else stem(part.text.lower()))
    return len(seen)


def _before(sizes: list[int], place: int) -> int:
    size = 0
    while place and size + sizes[place - 1] <= BEFORE:
        place -= 1
        size += sizes[place]
    return place


def joined(parts: list[Part]) -> list[Part]:
    """Join neighbouring texts, for less HTML."""
    out: list[Part] = parts[:1]
    for before, part in pairwise(parts):
        if part.kind == before.kind == "text":
            out[-1] = Part("text", out[-1].text + part.text)
        else:
            out.append(part)
    return out
