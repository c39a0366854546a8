"""Tables of results in the layouts of 000 (A1, A2) and 004 (3 to 5, 7): LaTeX, and TSV behind it.

Runs are in groups under the names of their teams. Values have three decimals, as in the papers; the
best run of a team is in bold, and so is a better baseline. The best baseline is in parentheses.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from arqkit.comparison.families import SIGNIFICANT
from arqkit.formats.latex import latex_text
from arqkit.formats.papers.floats import DECIMALS, LONGEST, fitted, floats, panels, tabular, tex_row
from arqkit.formats.tables import table_text
from arqkit.judgments.questions import SpecialQuestion
from arqkit.labels import LabelScale
from arqkit.leaderboard import BoardRun, columns_in
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from arqkit.standings import FLAGS, PRIMARY, Flag

BREAK = r" \\ "
"""What separates lines in a cell. A row ends without the last space."""
GAP = r"@{\hskip 5\tabcolsep}"
"""The space between panels."""
LONGEST_NAME = 30
"""The most characters of a run's name on a line."""
WIDEST = 6
"""The most columns of scores that are set at the usual distance."""
CHECK = r"$\checkmark$"
LETTERS = {"Text": "T", "Math": "M", "Both": "B", "Links": "{*}L"}
"""The data of a run in one letter, as in 004 (3, 4)."""
TRAINED = r"\ddagger"
"""The mark of a value on topics that the system was trained on."""
LOWER = r"\triangledown"
"""The mark of a value significantly below that of the best run."""
NOT_LOWER = r"\circ"
"""The mark of a value that is not: a table has the mark that fewer values need."""

MOST_NAMED = 4
"""The most measures that a caption names."""
_IN_FULL = {
    "AR": "average relevance",
    "LO": "lexical overlap",
    "CS": "contextual similarity",
    "uMAP": "unnormalized mean average precision",
    "OneNN": "accuracy of the nearest neighbor",
}
_DATA = {
    "Text": "(T)ext",
    "Math": "(M)ath",
    "Both": "(B)oth text and math",
    "Links": "({*}L) link structure",
}


@dataclass(frozen=True, slots=True)
class ScoreColumn:
    """A column of scores: the key of its values, and its heading above.

    `panel` is the heading over several columns with the same one, such as "78 topics". It may have
    two lines.
    """

    key: str
    heading: str
    panel: str
    rises: bool = True
    """Whether larger values are better."""
    is_rated: bool = True
    """Whether the best value is marked."""


@dataclass(frozen=True, slots=True)
class PaperRun:
    """A run of a table: that of a leaderboard, and how it took part.

    - is_deep: whether a baseline was pooled as deep as a primary run.
    - is_pooled: whether it contributed to the pools; unknown (None) without pools.
    - is_generative: whether its answers were generated (Task 3).
    - trained: the keys of the columns with topics that the system was trained on.
    - lower: the keys of the columns whose mean is significantly below that of the best run.
    - close: the keys of the columns whose mean was compared with that of the best run, and is not.
    """

    run: BoardRun
    is_deep: bool = False
    is_pooled: bool | None = None
    is_generative: bool = False
    trained: frozenset[str] = frozenset()
    lower: frozenset[str] = frozenset()
    close: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Return the tag, with the team where no heading names it, and the mark of a note."""
        note = "$^*$" if self.is_pooled is False else ""
        note += r"$^\dagger$" if self.run.standing.is_struck else ""
        lines = [latex_text(line) for line in _broken(self.run.name_in_group)]
        if self.run.is_baseline:
            lines = [rf"\textit{{{line}}}" for line in lines]
        lines[-1] += note
        return _stacked([lines[0], *(rf"\quad {line}" for line in lines[1:])], side="l")


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper: its file name, its caption in LaTeX, its columns and rows.

    With `has_letters`, data are one letter (004), else words (000).
    """

    name: str
    caption: str
    columns: tuple[ScoreColumn, ...]
    rows: tuple[PaperRun, ...]
    has_letters: bool = False

    def latex(self) -> str:
        """Return the table as floats of LaTeX, with the numbers of a group of runs together."""
        close = [r"\setlength{\tabcolsep}{3pt}"] if len(self.columns) > WIDEST else []
        parts = [[*close, *fitted(self._tabular(lines))] for lines in _parts(self._groups())]
        return floats(self.name, self.caption, parts)

    def tsv(self) -> str:
        """Return the same rows as TSV, with the values in full precision."""
        columns = columns_in("table")
        names = [
            column.heading if column.key == column.heading else column.key
            for column in self.columns
        ]
        keys = [column.key for column in columns]
        lines: list[list[object]] = [
            [*keys, "generative", "pooled", *names, "significantly below the best run in"]
        ]
        for row in self.rows:
            cells = [_word(column.value(row.run)) for column in columns]
            pooled = "unknown" if row.is_pooled is None else _word(row.is_pooled)
            values = [row.run.values.get(column.key, "") for column in self.columns]
            lower = ", ".join(column.key for column in self.columns if column.key in row.lower)
            lines.append([*cells, _word(row.is_generative), pooled, *values, lower])
        return table_text(lines)

    def _tabular(self, lines: Sequence[str]) -> list[str]:
        marks = [heading for heading, _ in self._marks]
        first = 3 + len(marks)
        groups = list(panels((column.panel for column in self.columns), first))
        over: list[str] = []
        for name, width, _ in groups:
            gap = GAP if len(over) < len(groups) - 1 else ""
            headings = _stacked([latex_text(line) for line in name.split("\n")])
            over.append(rf"\multicolumn{{{width}}}{{c{gap}}}{{{headings}}}")
        scores = GAP.join("r" * width for _, width, _ in groups)
        types = rf"\multicolumn{{{len(marks)}}}{{c}}{{Run type}}"
        below = ["Run", "Data", *(rf"\textbf{{{mark}}}" for mark in marks)]
        below += [latex_text(column.heading) for column in self.columns]
        rules = rf"\cmidrule(lr){{3-{first - 1}}}" + "".join(rule for _, _, rule in groups)
        heads = [tex_row(["", "", types, *over]), rules, tex_row(below)]
        return tabular(f"ll{'c' * len(marks)}{scores}", heads, lines)

    def _groups(self) -> list[list[str]]:
        best = {column.key: _Best.of(self.rows, column) for column in self.columns}
        sign = _sign_of_tests(self.rows)
        width = 2 + len(self._marks) + len(self.columns)
        groups = []
        for (_, name), rows in groupby(self.rows, key=lambda row: row.run.group):
            title = rf"\textbf{{{latex_text(name)}}}"
            lines = [rf"\multicolumn{{{width}}}{{l}}{{{title}}} \\"]
            for run in rows:
                texts = [run.name, self._data(run.run), *(mark(run) for _, mark in self._marks)]
                texts += [best[column.key].text(run, sign) for column in self.columns]
                lines.append(tex_row(texts))
            groups.append(lines)
        return groups

    def _data(self, run: BoardRun) -> str:
        if self.has_letters and run.data in LETTERS:
            return LETTERS[run.data]
        return latex_text(run.data) or "n/a"

    @property
    def _marks(self) -> list[tuple[str, Callable[[PaperRun], str]]]:
        marks: list[tuple[str, Callable[[PaperRun], str]]] = [(PRIMARY.letter, _primary)]
        marks += [
            (flag.letter, partial(_flagged, flag))
            for flag in FLAGS
            if flag is not PRIMARY and any(flag in row.run.flags for row in self.rows)
        ]
        if any(row.is_generative for row in self.rows):
            marks.append(("G", lambda row: CHECK if row.is_generative else ""))
        return marks


def _word(value: str | bool) -> str:
    return value if isinstance(value, str) else "yes" if value else ""


def _flagged(flag: Flag, row: PaperRun) -> str:
    return CHECK if flag in row.run.flags else ""


def _broken(name: str) -> list[str]:
    """Return the lines of a name, broken after signs such as underscores, as in 004 (3)."""
    lines = [""]
    for part in re.findall(r".+?(?:[\W_]+|$)", name):
        if lines[-1] and len(lines[-1] + part) > LONGEST_NAME:
            lines.append("")
        lines[-1] += part
    return lines


def _stacked(lines: Sequence[str], side: str = "c") -> str:
    stack = BREAK.join(lines)
    return (
        rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{stack}\end{{tabular}}" if lines[1:] else stack
    )


def _primary(row: PaperRun) -> str:
    if row.run.is_baseline:
        return f"({CHECK})" if row.is_deep else ""
    return _flagged(PRIMARY, row)


def _parts(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the lines of each page: as few pages as possible, and about the same on each."""
    pages = len(list(_filled(groups, LONGEST)))
    limits = (list(_filled(groups, limit)) for limit in range(1, LONGEST + 1))
    return next(parts for parts in limits if len(parts) == pages)


def _filled(groups: Sequence[Sequence[str]], limit: int) -> Iterator[list[str]]:
    """Yield the lines of pages that take whole groups up to a limit, and longer ones in parts."""
    lines: list[str] = []
    height = 0
    for group in groups:
        if lines and height + sum(map(_height, group)) > limit:
            yield lines
            lines, height = [], 0
        if lines:
            lines.append(r"\addlinespace")
        for line in group:
            if height + _height(line) > LONGEST:
                yield lines
                lines, height = [], 0
            lines.append(line)
            height += _height(line)
    if lines:
        yield lines


def _height(line: str) -> int:
    return 1 + line.count(BREAK)


@dataclass(frozen=True, slots=True)
class _Best:
    """The best values of a column as they are printed, with a sign so that larger is better."""

    column: ScoreColumn
    team: float | None
    baseline: float | None

    @classmethod
    def of(cls, rows: Iterable[PaperRun], column: ScoreColumn) -> "_Best":
        counting = [row.run for row in rows if row.run.counts and column.key in row.run.values]
        teams = [_rated(run, column) for run in counting if not run.is_baseline]
        baselines = [_rated(run, column) for run in counting if run.is_baseline]
        return cls(column, max(teams, default=None), max(baselines, default=None))

    def text(self, row: PaperRun, sign: str) -> str:
        """Return the value of a run in LaTeX: bold if it is the best of all, in parentheses.

        `sign` is the mark of the tests that the table has.
        """
        run, key = row.run, self.column.key
        if key not in run.values:
            return "--"
        text = f"{run.values[key]:.{DECIMALS}f}"
        if self.column.is_rated and run.counts:
            rated = _rated(run, self.column)
            rival = self.team if self.team is not None else rated
            if run.is_baseline and rated == self.baseline:
                text = rf"\textbf{{({text})}}" if rated >= rival else f"({text})"
            elif not run.is_baseline and rated == self.team:
                text = rf"\textbf{{{text}}}"
        marks = TRAINED * (key in row.trained) + sign * (key in _tested(row, sign))
        return text + (rf"\rlap{{$^{{{marks}}}$}}" if marks else "")


def _tested(row: PaperRun, sign: str) -> frozenset[str]:
    return row.lower if sign == LOWER else row.close


def _sign_of_tests(rows: Sequence[PaperRun]) -> str:
    """Return the mark of the tests against the best run that fewer values of the table need."""
    lower, close = (sum(len(_tested(row, sign)) for row in rows) for sign in (LOWER, NOT_LOWER))
    return LOWER if lower <= close or not close else NOT_LOWER


def _rated(run: BoardRun, column: ScoreColumn) -> float:
    value = round(run.values[column.key], DECIMALS)
    return value if column.rises else -value


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
        note = f"For {names}, {latex_text(binarization(scale, relevant_from))} was used."
        notes = [note, *notes]
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
    """Return the caption of a table of runs, in LaTeX, which explains the marks of the table."""
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
        parts.append(rf"$^{TRAINED}$: the system was trained or tuned on these topics.")
    sign = _sign_of_tests(rows)
    if any(row.lower for row in rows):
        tests = rf"($p<{SIGNIFICANT}$, paired $t$ test over topics with Holm's correction)"
        parts.append(
            rf"$^{LOWER}$: significantly below the best run {tests}."
            if sign == LOWER
            else rf"$^{NOT_LOWER}$: not significantly below the best run; all other values of "
            f"runs that count are {tests}."
        )
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
