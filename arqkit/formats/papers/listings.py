"""Tables of a paper without scores of runs: submitted runs, labels, topics, the certificate."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from arqkit.formats.latex import latex_text
from arqkit.formats.papers.floats import DECIMALS, LONGEST, fitted, floats, panels, tabular, tex_row
from arqkit.formats.papers.tables import PaperRun
from arqkit.formats.tables import table_text
from arqkit.judgments.qrels import JudgedTopic, LabelledTopics
from arqkit.labels import LabelScale
from arqkit.measures.names import Measure
from arqkit.reusability.certificate import Certificate
from arqkit.topics import heading as heading_of

BASELINES = "Baselines"
NOT_GIVEN = "not given"
_SUBMITTED = [
    (is_manual, is_primary) for is_manual in (False, True) for is_primary in (True, False)
]


@dataclass(frozen=True, slots=True)
class ListTable:
    """A table: its file name, its caption in LaTeX, its headings and its rows of plain values.

    A heading is a pair: that over several columns, or an empty text, and the column's own. A row of
    one value is a heading for those below it. `types` are the columns as LaTeX declares them, by
    default one on the left and numbers on the right.
    """

    name: str
    caption: str
    headings: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[object]]
    types: str = ""

    def latex(self) -> str:
        """Return the table as floats of LaTeX; a longer one is continued on the next page."""
        pages = -(-len(self.rows) // LONGEST)
        height = -(-len(self.rows) // max(pages, 1))
        starts = range(0, len(self.rows), height or 1)
        parts = [fitted(self._tabular(self.rows[place : place + height])) for place in starts]
        return floats(self.name, self.caption, parts)

    def tsv(self) -> str:
        """Return the same rows as TSV, with the values in full precision.

        The heading of some rows is their first column.
        """
        names = [" ".join(filter(None, heading)) for heading in self.headings]
        lines: list[list[object]] = []
        part: list[object] = []
        for row in self.rows:
            if len(row) == 1:
                part = list(row)
            else:
                lines.append([*part, *("" if value is None else value for value in row)])
        return table_text([["Part", *names] if part else names, *lines])

    def _tabular(self, rows: Iterable[Sequence[object]]) -> list[str]:
        width, over = len(self.headings), list(panels((name for name, _ in self.headings), 1))
        rules = "".join(rule for name, _, rule in over if name)
        above = (rf"\multicolumn{{{size}}}{{c}}{{{latex_text(name)}}}" for name, size, _ in over)
        return tabular(
            self.types or f"l{'r' * (width - 1)}",
            [
                *([tex_row(above), rules] if rules else []),
                tex_row(latex_text(heading) for _, heading in self.headings),
            ],
            (
                rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_text(str(values[0]))}}}}} \\"
                if len(values) == 1
                else tex_row(map(_cell, values))
                for values in rows
            ),
        )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"${value:.{DECIMALS}f}$"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return "" if value is None else latex_text(text)


def submitted_runs(subject: str, tasks: Mapping[str, Sequence[PaperRun]]) -> ListTable:
    """Return the numbers of runs by task and team, as in 000 (Table 2) and 004 (Table 1).

    Runs that do not count, such as withdrawn ones, are left out. A baseline is primary if it was
    pooled like one. The totals of a task include its baselines, as in 004.
    """
    rows: list[list[object]] = []
    for task, runs in tasks.items():
        counted: dict[str, Counter[tuple[bool, bool]]] = {}
        for row in runs:
            if row.run.counts:
                team = BASELINES if row.run.is_baseline else row.run.team
                is_primary = row.is_deep if row.run.is_baseline else row.run.is_primary
                counted.setdefault(team, Counter())[row.run.is_manual, is_primary] += 1
        if not counted:
            continue
        teams = sorted(counted, key=lambda team: (team != BASELINES, team.casefold()))
        total = sum(counted.values(), Counter[tuple[bool, bool]]())
        rows.append([task])
        rows += ([team, *_numbers(counted[team])] for team in teams)
        runs_counted = f"{total.total()} run{'s' * (total.total() != 1)}"
        rows.append([f"Totals ({runs_counted})", *_numbers(total)])
    kinds = [
        ("Manual" if is_manual else "Automatic", "Primary" if is_primary else "Alternate")
        for is_manual, is_primary in _SUBMITTED
    ]
    caption = f"{latex_text(subject)}: submitted runs. A baseline is primary if it was pooled as "
    return ListTable("runs", f"{caption}deep as a primary run.", [("", "Team"), *kinds], rows)


def _numbers(counts: Counter[tuple[bool, bool]]) -> list[int | None]:
    return [counts[kind] or None for kind in _SUBMITTED]


def labels_table(
    subject: str, scale: LabelScale, definitions: Sequence[str], relevant_from: int
) -> ListTable | None:
    """Return the judgments of a scale with what they mean, as in 000 (Table 4) and 004 (Table 2).

    The lowest relevant one is named. None without `definitions`, which are in the scale's order.
    """
    if len(definitions) != len(scale.judgments):
        return None
    rows = [
        [str(label.value), label.word, definition]
        for label, definition in zip(scale.judgments, definitions, strict=True)
    ]
    caption = (
        f"{latex_text(subject)}: labels and their definitions. Binary measures count labels from "
        f"{relevant_from} up as relevant."
    )
    headings = [("", "Score"), ("", "Rating"), ("", "Definition")]
    return ListTable("labels", caption, headings, rows, r"rlp{0.72\linewidth}")


def groups_table(
    topics: Sequence[Mapping[str, str]], fields: Mapping[str, Sequence[str]], level: str
) -> ListTable | None:
    """Return the numbers of topics by their information, each also by level, or None without any.

    `topics` has the information of each topic (000 §4.1 counts it by category and by difficulty),
    `fields` the usual values of each field, in order. `level` is the field of the columns.
    """
    values = {
        field: list(dict.fromkeys([*usual, *sorted({topic.get(field, "") for topic in topics})]))
        for field, usual in fields.items()
        if usual and any(topic.get(field) for topic in topics)
    }
    if not values:
        return None
    levels = values.pop(level, [])
    counts = Counter(
        (field, topic.get(field, ""), topic.get(level, "")) for topic in topics for field in values
    )
    of_level = Counter(topic.get(level, "") for topic in topics)
    levels = [value for value in levels if of_level[value]]

    def row(name: str, numbers: Mapping[str, int]) -> list[object]:
        return [name, sum(numbers.values()), *(numbers[value] or None for value in levels)]

    rows: list[list[object]] = []
    for field, names in values.items():
        rows.append([heading_of(field)])
        for name in names:
            numbers = Counter({value: counts[field, name, value] for value in of_level})
            if numbers.total():
                rows.append(row(name or NOT_GIVEN, numbers))
    rows += [["All topics"], row("Total", of_level)]
    headings = [("", ""), ("", "Topics")]
    headings += [(heading_of(level), value or NOT_GIVEN) for value in levels]
    names = [heading_of(field).lower() for field in [*values, *([level] if levels else [])]]
    by = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    return ListTable("groups", f"Number of topics by {latex_text(by)}.", headings, rows)


def topic_listing(
    topics: Sequence[JudgedTopic],
    scale: LabelScale,
    scores: Mapping[str, tuple[float | None, float | None]],
    heading: str,
) -> ListTable:
    """Return the topics of qrels with their labels, and the median and best score of the runs.

    `scores` has the two by topic; `heading` is that of the measure.
    """
    labels, judged = list(scale.judgments), LabelledTopics.of(topics, scale).judged
    rows = [
        [
            topic.topic,
            judged[topic.topic],
            *(topic.labels[label.value] for label in labels),
            *scores.get(topic.topic, (None, None)),
        ]
        for topic in topics
    ]
    headings = [("", "Topic"), ("Items", "Judged"), *(("Items", label.word) for label in labels)]
    text = "Topics with their judged items by label"
    if scores:
        text += f", and the median and best {latex_text(heading)} of the runs"
        headings += [(heading, "Median"), (heading, "Best")]
    return ListTable("topics", f"{text}.", headings, [line[: len(headings)] for line in rows])


def certificate_table(certificate: Certificate, measures: Iterable[Measure]) -> ListTable:
    """Return how much leaving out teams and runs changes scores and ranks by each measure."""
    rows, headings = [], [("", "Measure")]
    for over in ("Team left out", "Run left out"):
        headings += [(over, name) for name in ("Mean", "Largest", "Ranks", "Tau")]
    for measure in measures:
        harms = [side.harm(measure) for side in (certificate.teams, certificate.each_run)]
        rows.append([measure.heading, *(value for finding in harms for value in finding)])
    caption = (
        "Reusability: the mean and the largest change of a run's score, the largest change of its "
        "rank, and the lowest Kendall's $\\tau$ of the rankings of all runs, without the judged "
        "items that only one team, or only one run, contributed."
    )
    return ListTable("certificate", caption, headings, rows)


def times_table(runs: Iterable[tuple[str, Sequence[object]]]) -> ListTable | None:
    """Return the retrieval times of runs as in 000 (Table 3), or None without any.

    Each run has its name and `TimeFacts`.
    """
    rows = [[name, *facts] for name, facts in runs]
    headings = [("", "System"), *(("Min", name) for name in ("Seconds", "Topic"))]
    headings += [("Max", name) for name in ("Seconds", "Topic")]
    headings += [("All topics", name) for name in ("Mean", "StDev")]
    caption = "Retrieval times in seconds per topic."
    return ListTable("times", caption, headings, rows) if rows else None
