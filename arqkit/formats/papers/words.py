"""Captions of the tables in overview papers, and the papers' words for items."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from arqkit.formats.latex import latex_text
from arqkit.formats.papers.tables import CHECK, LETTERS, PaperRun
from arqkit.judgments.questions import SpecialQuestion
from arqkit.labels import LabelScale
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from arqkit.standings import FLAGS, PRIMARY


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

MOST_NAMED = 4
"""The most measures that a caption names."""
_IN_FULL = {
    "AR": "average relevance",
    "LO": "lexical overlap",
    "uMAP": "unnormalized mean average precision",
    "OneNN": "accuracy of the nearest neighbor",
}
_DATA = {
    "Text": "(T)ext",
    "Math": "(M)ath",
    "Both": "(B)oth text and math",
    "Links": "({*}L) link structure",
}


def binarization(scale: LabelScale, relevant_from: int) -> str:
    """Return what counts as relevant: H+M binarization, or labels from 3 up."""
    letters = [label.letter for label in scale.judgments if label.value >= relevant_from]
    if all(letter.isalpha() for letter in letters) and letters:
        return "+".join(letters) + " binarization"
    return f"binarization from label {relevant_from} up"


def measure_notes(measures: Sequence[Measure], scale: LabelScale, relevant_from: int) -> str:
    """Return the sentences on measures that need binary labels or have short names, in LaTeX."""
    binary = [latex_text(measure.heading) for measure in measures if measure.rel is not None]
    notes = [
        f"{measure.heading}: {_IN_FULL[measure.kind]}."
        for measure in measures
        if measure.kind in _IN_FULL
    ]
    if binary:
        names = " and ".join([", ".join(binary[:-1]), binary[-1]] if binary[1:] else binary)
        if len(binary) > MOST_NAMED:
            names = "measures of binary relevance"
        used = f"For {names}, {latex_text(binarization(scale, relevant_from))} was used."
        notes = [used, *notes]
    return " ".join(notes)


def question_note(question: SpecialQuestion, answer: str) -> str:
    """Return the note that explains the column of a special question, in LaTeX."""
    text, counted = latex_text(question.text), latex_text(answer)
    return f"{latex_text(question.key)}: ratio of answers labeled ``{counted}'' for ``{text}''."


def correlations_caption(subject: str, runs: int) -> str:
    """Return the first sentence of the caption of a table of correlations, in LaTeX."""
    return f"Correlations between evaluation measures in {latex_text(subject)}, over {runs} runs."


def caption(
    subject: str, rows: Sequence[PaperRun], *, notes: str = "", has_letters: bool = False
) -> str:
    """Return the caption of a table of runs, in LaTeX.

    It explains only the marks that are in the table.
    """
    parts = [f"{latex_text(subject)}.", _marks(rows), notes]
    data = {row.run.data for row in rows}
    if has_letters and not data.isdisjoint(LETTERS):
        parts.append(f"Data: {', '.join(text for word, text in _DATA.items() if word in data)}.")
    if any(row.run.is_baseline for row in rows):
        parts.append("The best baseline results are in parentheses.")
    if all(not row.run.is_manual for row in rows):
        parts.append("All runs were automatic.")
    if any(row.is_pooled is False for row in rows):
        parts.append("$^*$: run that did not contribute to the judgment pools.")
    struck = {row.run.standing.word for row in rows if row.run.standing.is_struck}
    if struck:
        parts.append(rf"$^\dagger$: run that was {' or '.join(sorted(struck))}.")
    if any(row.trained for row in rows):
        parts.append(r"$^\ddagger$: the system was trained or tuned on these topics.")
    return " ".join(filter(None, parts))


def _marks(rows: Sequence[PaperRun]) -> str:
    marks = [
        rf"\textbf{{{flag.letter}}}: {flag.mark.lower()}"
        for flag in FLAGS
        if flag is PRIMARY or any(flag in row.run.flags for row in rows)
    ]
    if any(row.is_generative for row in rows):
        marks.append(r"\textbf{G}: generative system")
    if any(row.run.is_baseline and row.is_deep for row in rows):
        marks.append(rf"({CHECK}): baseline pooled as a primary run")
    return ", ".join(marks) + "."
