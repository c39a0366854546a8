"""The formats of run files (protocol §4), how they are told apart, and how their lines become rows."""

import re
from typing import NamedTuple

import polars as pl

from arqlab.formats.runs.report import Finding, RunRules, occurrences
from arqlab.ir.records import TaskKind


class Layout(NamedTuple):
    """The columns of a format. `columns` says what each is for us, `titles` how the lab names them."""

    format: str
    name: str
    columns: tuple[str, ...]
    titles: str

    def __str__(self) -> str:
        """Return the format for people: its name and its columns."""
        return f"{self.name} ({len(self.columns)} columns: {self.titles})"


TASK1 = Layout(
    "arqmath-task1",
    "ARQMath Task 1",
    ("topic", "item", "rank", "score", "tag"),
    "Query_Id, Post_Id, Rank, Score, Run_Number",
)
TASK2 = Layout(
    "arqmath-task2",
    "ARQMath Task 2",
    ("topic", "item", "post", "rank", "score", "tag"),
    "Query_Id, Formula_Id, Post_Id, Rank, Score, Run_Number",
)
TASK3 = Layout(
    "arqmath-task3",
    "ARQMath Task 3",
    ("topic", "rank", "score", "tag", "sources", "answer"),
    "Query_Id, Rank, Score, Run_Number, Sources, Answer",
)
TREC = Layout(
    "trec",
    "TREC",
    ("topic", "q0", "item", "rank", "score", "tag"),
    "topic, Q0, docno, rank, score, tag",
)
TWO_COLUMNS = Layout("unknown", "topic and answer", ("topic", "answer"), "topic, answer")
UNKNOWN = Layout("unknown", "an unknown format", (), "")
WANTED = {
    TaskKind.ANSWERS: (TASK1, TREC),
    TaskKind.FORMULAS: (TASK2, TREC),
    TaskKind.WRITTEN_ANSWERS: (TASK3,),
}
HEADER_WORDS = re.compile(r"(query|topic)(id|no|nr|num|number)?|qid|querynumber")
SLICE = 50_000  # lines that are cut at a time
EXCERPT = 80  # characters of a line that are shown


class RunTable(NamedTuple):
    """The rows of a run as text, and what was odd about its lines.

    `rows` has line (Int64, counted from 1), topic, item, post, rank_text, score_text, tag (String;
    post may be null), for Task 3 also last_line (Int64), answer and sources. `lost` are the lines
    that did not become rows.
    """

    layout: Layout
    separator: str
    rows: pl.DataFrame
    findings: list[Finding]
    lost: pl.Series

    @property
    def format_name(self) -> str:
        """Name the format for people."""
        if not self.layout.columns:
            return self.layout.name
        return f"{self.layout} {'tab' if self.separator == chr(9) else 'blank'}-separated"


class _Cells(NamedTuple):
    """Lines cut at their separator: line, text, field_0 and so on; the field after the last is null
    in a good line.
    """

    frame: pl.DataFrame
    width: int
    separator: str


def wanted_formats(kind: TaskKind) -> str:
    """Name the formats that a task takes."""
    return " or ".join(str(layout) for layout in WANTED[kind])


def read_ranked_list(lines: pl.Series, rules: RunRules) -> RunTable:
    """Read a run of ranked items: ARQMath Task 1 or 2, or TREC, separated by tabs or blanks; every
    line is accounted for.
    """
    content, findings = _without_blank_lines(lines)
    cells = _cut(content)
    headers = _headers(cells.frame, rules.topics)
    if headers.height:
        findings.append(Finding("header-line", occurrences_of_lines(headers, expected="a row")))
        cells = cells._replace(
            frame=cells.frame.join(headers, on="line", how="anti", maintain_order="left")
        )
    is_good = (
        pl.col(f"field_{cells.width - 1}").is_not_null() & pl.col(f"field_{cells.width}").is_null()
    )
    bad = cells.frame.filter(~is_good)
    good = cells.frame.filter(is_good) if bad.height else cells.frame
    layout = _layout(good, cells.width, rules.kind)
    if bad.height:
        findings.append(_columns_finding(bad, layout, cells, rules.kind))
    good, padded = _without_padding(good, cells)
    if padded is not None:
        findings.append(padded)
    return RunTable(layout, cells.separator, _named(good, layout), findings, bad["line"])


def occurrences_of_lines(lines: pl.DataFrame, *, expected: str) -> pl.DataFrame:
    """Return an occurrence for each line, with its beginning as what was found."""
    found = pl.col("text").str.slice(0, EXCERPT)
    return occurrences(lines, found=found, expected=pl.lit(expected), topic=pl.lit(None, pl.String))


def _without_blank_lines(lines: pl.Series) -> tuple[pl.DataFrame, list[Finding]]:
    """Number the lines from 1 (line, text), and list the blank ones."""
    numbered = pl.DataFrame({"line": pl.int_range(1, lines.len() + 1, eager=True), "text": lines})
    is_blank = lines.str.contains(r"^\s*$")
    if not is_blank.any():
        return numbered, []
    places = occurrences_of_lines(numbered.filter(is_blank), expected="a row")
    return numbered.filter(~is_blank), [Finding("blank-lines", places)]


def _cut(content: pl.DataFrame) -> _Cells:
    """Cut lines at tabs, or at runs of blanks where most lines have no tab or no line has the
    columns of a format.
    """
    tabs = content["text"].str.count_matches("\t", literal=True)
    fives, sixes = int((tabs == 4).sum()), int((tabs == 5).sum())
    separator = "\t"
    if fives + sixes == 0 or (tabs == 0).sum() * 2 > content.height:
        by_blanks = content["text"].str.strip_chars(" \t").str.replace_all(r"[ \t]+", "\t")
        blanks = by_blanks.str.count_matches("\t", literal=True)
        if (blanks == 4).any() or (blanks == 5).any():
            fives, sixes, separator = int((blanks == 4).sum()), int((blanks == 5).sum()), " "
    width = 5 if fives > sixes else 6
    text = content["text"] if separator == "\t" else by_blanks
    # In slices, because what the cutting itself takes is several times what it leaves.
    slices = [text.slice(begin, SLICE) for begin in range(0, max(text.len(), 1), SLICE)]
    fields = pl.concat([part.str.split_exact("\t", width).struct.unnest() for part in slices])
    return _Cells(content.hstack(fields), width, separator)


def _headers(cells: pl.DataFrame, topics: tuple[str, ...]) -> pl.DataFrame:
    """Find the lines whose first cell is the name of a topic column and not a topic; a file put
    together has several.
    """
    return cells.filter(pl.col("field_0").is_in(header_names(cells["field_0"], topics))).select(
        "line", "text"
    )


def header_names(first_cells: pl.Series, topics: tuple[str, ...]) -> list[str]:
    """Return the first cells that name the topic column, such as Query_Id, and are not a topic."""
    names = first_cells.unique()
    alike = names.filter(names.str.contains(r"(?i)query|topic|q[^a-z]*id"))
    return [name for name in alike.to_list() if name not in topics and _is_header_word(name)]


def _is_header_word(cell: str) -> bool:
    return len(cell) <= EXCERPT and bool(HEADER_WORDS.fullmatch(re.sub("[^a-z]", "", cell.lower())))


def _layout(good: pl.DataFrame, width: int, kind: TaskKind) -> Layout:
    """Report TREC from ARQMath Task 2 by the second column: TREC ignores it, and systems write one
    word in all of it.
    """
    if not good.height:
        return UNKNOWN
    if width == len(TASK1.columns):
        return TASK1
    second = good["field_1"].value_counts(sort=True)
    word, share = second["field_1"][0], second["count"][0] / good.height
    # An id has several digits; the words that are used in place of Q0 (0, 1, xxx) are no such ids.
    is_id = kind is TaskKind.FORMULAS and word.isdecimal() and len(word) > 1
    return TREC if share > 0.9 and not is_id else TASK2


def _columns_finding(bad: pl.DataFrame, layout: Layout, cells: _Cells, kind: TaskKind) -> Finding:
    """Return of each line how many columns it has where the format has another number."""
    wanted = str(layout) if layout is not UNKNOWN else wanted_formats(kind)
    text = pl.col("text")
    count = text.str.count_matches("\t", literal=True)
    if cells.separator == " ":
        count = text.str.strip_chars(" \t").str.count_matches(r"[ \t]+")
    found = pl.format("columns: {}; {}", count + 1, text.str.slice(0, EXCERPT))
    expected = pl.lit(f"{cells.width} columns" if layout is not UNKNOWN else wanted)
    topic = pl.when(pl.col("field_1").is_not_null()).then(pl.col("field_0"))
    places = occurrences(bad, found=found, expected=expected, topic=topic)
    return Finding("columns", places, {"wanted": wanted})


def _without_padding(good: pl.DataFrame, cells: _Cells) -> tuple[pl.DataFrame, Finding | None]:
    """Take the blanks around cells away, and list the lines that had some."""
    if cells.separator == " " or not good["text"].str.contains(" ", literal=True).any():
        return good, None
    fields = [f"field_{index}" for index in range(cells.width)]
    stripped = pl.col(fields).str.strip_chars(" ")
    is_padded = pl.any_horizontal(
        pl.col(name) != pl.col(name).str.strip_chars(" ") for name in fields
    )
    padded = good.filter(is_padded)
    if not padded.height:
        return good, None
    return good.with_columns(stripped), Finding(
        "padded-cells", occurrences_of_lines(padded, expected="cells without blanks around them")
    )


def _named(good: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Name the fields by what they are for us."""
    columns = layout.columns or TREC.columns
    names = {"rank": "rank_text", "score": "score_text"}
    fields = [
        pl.col(f"field_{index}").alias(names.get(name, name)) for index, name in enumerate(columns)
    ]
    named = good.select("line", *fields)
    if "post" not in named.columns:
        named = named.with_columns(pl.lit(None, pl.String).alias("post"))
    return named.select("line", "topic", "item", "post", "rank_text", "score_text", "tag")
