"""Captions of the tables in overview papers, and the papers' words for items."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from arqlab.formats.latex import latex_text
from arqlab.formats.papers.tables import CHECK, PaperRun
from arqlab.ir.labels import LabelScale
from arqlab.ir.measures.names import Measure
from arqlab.ir.records import ItemKind


class PaperWords(NamedTuple):
    """The words of papers for a kind of item in qrels: several, and what has one label."""

    many: str
    label: str


PAPER_WORDS: Mapping[ItemKind, PaperWords] = MappingProxyType(
    {
        ItemKind.POSTS: PaperWords("answers", "answer post"),
        ItemKind.FORMULA_IDS: PaperWords("formula instances", "formula instance"),
        ItemKind.VISUAL_IDS: PaperWords("visually distinct formulae", "formula instance"),
        ItemKind.ANSWERS: PaperWords("answers", "answer"),
        ItemKind.DOCUMENTS: PaperWords("documents", "document"),
    }
)


def binarization(scale: LabelScale, relevant_from: int) -> str:
    """Return what counts as relevant: H+M binarization, or labels from 3 up."""
    letters = [one.letter for one in scale.judgments if one.value >= relevant_from]
    if all(letter.isalpha() for letter in letters) and letters:
        return "+".join(letters) + " binarization"
    return f"binarization from label {relevant_from} up"


def measure_notes(measures: Sequence[Measure], scale: LabelScale, relevant_from: int) -> str:
    """Return the sentence on the measures that need binary labels, in LaTeX."""
    binary = [latex_text(one.heading) for one in measures if one.rel is not None]
    if not binary:
        return ""
    names = " and ".join([", ".join(binary[:-1]), binary[-1]] if binary[1:] else binary)
    return f"For {names}, {latex_text(binarization(scale, relevant_from))} was used."


def caption(
    subject: str,
    rows: Sequence[PaperRun],
    *,
    topics: int | None,
    notes: str,
    has_letters: bool = False,
) -> str:
    """Return the caption of a table of results, in LaTeX.

    It explains only the marks that are in the table. Without `topics`, their number is in a
    heading.
    """
    over = f", averaged over {topics} topics" if topics is not None else ""
    parts = [f"{latex_text(subject)} results{over}.", _marks(rows), notes]
    if has_letters:
        parts.append("(D)ata: (T)ext, (M)ath, (B)oth text and math, or link structure ({*}L).")
    if any(row.run.is_baseline for row in rows):
        parts.append("The best baseline results are in parentheses.")
    if all(not row.run.is_manual for row in rows):
        parts.append("All runs were automatic.")
    if any(row.is_pooled is False for row in rows):
        parts.append("$^*$: run that did not contribute to the judgment pools.")
    if any(row.run.is_withdrawn for row in rows):
        parts.append(r"$^\dagger$: run that was withdrawn.")
    return " ".join(filter(None, parts))


def _marks(rows: Sequence[PaperRun]) -> str:
    marks = [r"\textbf{P}: primary run"]
    if any(row.run.is_manual for row in rows):
        marks.append(r"\textbf{M}: manual run")
    if any(row.is_generative for row in rows):
        marks.append(r"\textbf{G}: generative system")
    if any(row.run.is_baseline and row.is_deep for row in rows):
        marks.append(rf"({CHECK}): baseline pooled as a primary run")
    return ", ".join(marks) + "."
