"""The formats of run files (protocol §4): which one a file has, and how its lines become rows."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

import polars as pl

from arqkit.data_files import data_beside
from arqkit.formats.runs.lines import (
    EXCERPT,
    SEPARATORS,
    Cells,
    cut_lines,
    cut_records,
    separator_findings,
    split_lines,
)
from arqkit.formats.runs.ranks import with_numbers
from arqkit.formats.runs.report import Finding, RunRules, listed, occurrences
from arqkit.formats.runs.slips import Columns, Slip, json_findings, read_slip
from arqkit.records import ItemKind, TaskKind

FIRST_LINE = pl.Series("line", [1], dtype=pl.Int64)
SAMPLE = 200  # lines that show whether a file holds answers or a ranked list
HEADER_WORDS = re.compile(r"(query|topic)(id|no|nr|num|number)?|qid|querynumber")
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SCORE_LIKE = re.compile(
    r"[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+|nan|inf(inity)?)([eE][+-]?[0-9]+)?", re.IGNORECASE
)


class Layout(NamedTuple):
    """A format of run files.

    The fields are described in formats.toml. The columns topic, rank and tag are required, and the
    score where the format has scores.
    """

    format: str
    name: str
    columns: tuple[str, ...]
    titles: str
    kinds: tuple[TaskKind, ...]
    items: ItemKind | None = None
    quoted: bool = False
    fill: Mapping[str, str] = MappingProxyType({})

    def __str__(self) -> str:
        """Return the name of the format and of its columns."""
        return f"{self.name} ({len(self.columns)} columns: {self.titles})"

    @property
    def has_scores(self) -> bool:
        """Return whether files have scores; without them, the ranks are the order."""
        return "score" in {*self.columns, *self.fill}

    @property
    def ranked_columns(self) -> Columns:
        """Return where the rows of a ranked list have their rank, score, tag and constant."""
        places = {name: index for index, name in enumerate(self.columns)}
        return Columns(
            len(self.columns),
            rank=places["rank"],
            score=places.get("score"),
            constant=places.get("q0"),
            has_tag="tag" in places,
        )


def _read_layouts() -> dict[str, Layout]:
    return {
        key: Layout(
            **table
            | {"columns": tuple(table["columns"]), "kinds": tuple(map(TaskKind, table["kinds"]))}
            | ({"items": ItemKind(table["items"])} if "items" in table else {})
        )
        for key, table in data_beside(__file__).items()
    }


_DECLARED = _read_layouts()
FORMATS = tuple(_DECLARED.values())
TASK1, TASK2, TASK3 = _DECLARED["task1"], _DECLARED["task2"], _DECLARED["task3"]
TASK3_IDS, TREC = _DECLARED["task3-ids"], _DECLARED["trec"]
TWO_COLUMNS = _DECLARED["two-columns"]
UNKNOWN = Layout("unknown", "an unknown format", (), "", kinds=())


def known_formats(rules: RunRules) -> list[Layout]:
    """Return the formats that files of a task are recognized by."""
    return [layout for layout in FORMATS if layout is not TASK3_IDS or rules.has_answer_ids]


def taken_formats(rules: RunRules) -> list[Layout]:
    """Return the formats that a task takes."""
    layouts = [layout for layout in known_formats(rules) if rules.kind in layout.kinds]
    return [TREC] if rules.trec_only and TREC in layouts else layouts


def wanted_formats(rules: RunRules) -> str:
    """Return the names of the formats that a task takes."""
    return " or ".join(map(str, taken_formats(rules)))


class RunTable(NamedTuple):
    """The rows of a run file, and the problems of its lines.

    `rows` has line (Int64, from 1), topic, item, post, rank_text, score_text, tag (String; post may
    be null), rank (Int64) and score (Float64), both null where they cannot be read, and for Task 3
    last_line (Int64), answer and sources. Without scores in the file, `rows` has no score_text, and
    the score follows from the rank. `lost` has the lines that are not rows. The file cannot
    be repaired (`can_rewrite`) if its columns could be other ones. `mended` has all lines of a file
    with slips (`slips.read_slip`) without them.
    """

    layout: Layout
    separator: str
    rows: pl.DataFrame
    findings: list[Finding]
    lost: pl.Series
    can_rewrite: bool = True
    mended: pl.Series | None = None

    @property
    def format_name(self) -> str:
        """Return the name of the format for people."""
        if not self.layout.columns:
            return self.layout.name
        return f"{self.layout} {SEPARATORS[self.separator]}-separated"

    def rules(self, rules: RunRules) -> RunRules:
        """Return the rules of a task for this file: without scores, the ranks are the order."""
        return rules if self.layout.has_scores else replace(rules, order="rank")


def read_rows(data: bytes, rules: RunRules) -> RunTable:
    """Read the rows of a decoded run (`lines.decode_run`) in the format that its lines show."""
    if is_json := list(json_findings(data)):
        return read_rows(b"", rules)._replace(findings=is_json, lost=FIRST_LINE, can_rewrite=False)
    lines = split_lines(data)
    slip = read_slip(lines, _ranked_columns(rules))
    columns = slip.columns if isinstance(slip, Slip) else slip
    quoted = not slip and holds_answers(data, rules.kind, may_lack_texts=rules.has_answer_ids)
    # Any few columns could be a format without scores, so only ranks that rise show one.
    formats = [it for it in known_formats(rules) if it.has_scores or it.ranked_columns == columns]
    widths = sorted({len(layout.columns) for layout in formats if layout.quoted == quoted})
    if quoted:
        cells = cut_records(data.decode(errors="replace"), max(widths))
    else:
        cells = cut_lines(slip.lines if isinstance(slip, Slip) else lines, widths)
    del lines  # a large run is held once
    frame = cells.frame
    is_header = pl.col("cell_0").is_in(_header_names(frame["cell_0"], rules.topics))
    if isinstance(slip, Slip) and slip.header:
        is_header |= pl.col("line") == slip.header
    headers, content = _parted(frame, is_header)
    width = max(widths, key=lambda width: ((frame["width"] == width).sum(), width))
    if columns:
        width = columns.width
    bad, good = _parted(content, pl.col("width") != width)
    layout = _layout(good, [it for it in formats if len(it.columns) == width], rules, quoted=quoted)
    padded, good = (good.clear(), good) if quoted else _without_padding(good, cells)
    findings = [
        *(slip.findings if isinstance(slip, Slip) else ()),
        *separator_findings(cells.separator, frame),
        *_line_findings(cells, headers, padded),
        *_column_findings(bad, layout, width, rules),
    ]
    if _varies(good, layout):
        values = f"{good['cell_1'].n_unique():,} different values"
        findings.append(Finding("second-column", listed([(None, None, values, "Q0 in every row")])))
    rows = with_numbers(_named(good, layout))
    return RunTable(
        layout,
        cells.separator,
        rows,
        findings,
        bad["line"],
        # A decimal comma in the score would make one column more.
        can_rewrite=not (cells.separator == "," and _varies(good, layout)),
        mended=slip.lines if isinstance(slip, Slip) else None,
    )


def _ranked_columns(rules: RunRules) -> list[Columns]:
    """Return the columns of the ranked lists that a task takes."""
    return [layout.ranked_columns for layout in taken_formats(rules) if not layout.quoted]


def holds_answers(data: bytes, kind: TaskKind, *, may_lack_texts: bool = False) -> bool:
    """Return whether most of the first lines are answers (Task 3) and not rows of a ranked list.

    With `may_lack_texts`, rows of Task 3 without texts are recognized too.
    """
    first = (it.decode(errors="replace").rstrip("\r\n") for it in islice(io.BytesIO(data), SAMPLE))
    sample = [line.split("\t") for line in first if line.strip()]
    if kind is TaskKind.GENERATED_ANSWERS:
        words = [cells[0].split() if len(cells) == 1 else cells for cells in sample]
        ranked = sum(_is_ranked(cells) for cells in words) + sum(len(row) == 5 for row in sample)
        bare = sum(len(row) == 4 and _is_answer(row) for row in words) if may_lack_texts else 0
        return (ranked + bare) * 2 <= len(sample)
    six = [cells for cells in sample if len(cells) == 6]
    return sum(not _is_ranked(cells) and _is_answer(cells) for cells in six) * 2 > len(sample)


def _is_ranked(cells: list[str]) -> bool:
    """Return whether six cells are a row of a ranked list: they end with rank, score and tag.

    The tag (a number) and the sources of an answer may look like a rank and a score, but its text
    does not look like a tag. Rank and score may be invalid, or swapped.
    """
    is_list = len(cells) == 6 and " " not in cells[5].strip()
    return is_list and bool(SCORE_LIKE.fullmatch(cells[3]) and SCORE_LIKE.fullmatch(cells[4]))


def _is_answer(cells: list[str]) -> bool:
    return bool(INTEGER.fullmatch(cells[1]) and NUMBER.fullmatch(cells[2]))


def _parted(frame: pl.DataFrame, condition: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows that meet a condition, and the others: mostly all, so without a copy."""
    met = frame.filter(condition)
    return met, frame.filter(~condition) if met.height else frame


def _header_names(first_cells: pl.Series, topics: tuple[str, ...]) -> list[str]:
    """Return the names of the topic column, such as Query_Id, of one or several joined files."""
    names = first_cells.unique()
    alike = names.filter(names.str.contains(r"(?i)query|topic|q[^a-z]*id"))
    plain = {name: re.sub("[^a-z]", "", name.lower()) for name in alike if len(name) <= EXCERPT}
    return [n for n, word in plain.items() if n not in topics and HEADER_WORDS.fullmatch(word)]


def _layout(
    good: pl.DataFrame, layouts: Sequence[Layout], rules: RunRules, *, quoted: bool
) -> Layout:
    if not good.height:
        return UNKNOWN
    fitting = [layout for layout in layouts if layout.quoted == quoted]
    candidates = [layout for layout in fitting if layout in taken_formats(rules)] or fitting
    if len(candidates) > 1:
        candidates = _with_most_topics(good, candidates, rules.topics)
    is_trec = len(candidates) > 1 and TREC in candidates and _is_trec(good, rules.kind)
    return TREC if is_trec else candidates[0]


def _with_most_topics(
    good: pl.DataFrame, layouts: Sequence[Layout], topics: tuple[str, ...]
) -> list[Layout]:
    """Return the layouts whose topic column has the most topics of the task, all if none has any.

    Two formats may have as many columns, in another order.
    """
    topics_in = {
        layout.format: good[f"cell_{layout.columns.index('topic')}"].is_in(topics).sum()
        for layout in layouts
    }
    return [layout for layout in layouts if topics_in[layout.format] == max(topics_in.values())]


def _is_trec(good: pl.DataFrame, kind: TaskKind) -> bool:
    """Return whether six columns are those of TREC and not those of ARQMath Task 2.

    TREC ignores the second column, where systems write the same word in each row. In Task 2 it is
    the formula, and so rarely repeated in a topic, while the third may repeat a post.
    """
    if word := _common_word(good["cell_1"]):
        # An id has several digits; the words that are used in place of Q0 (0, 1, xxx) have not.
        return not (kind is TaskKind.FORMULAS and word.isdecimal() and len(word) > 1)
    second, third = (good.select("cell_0", name).n_unique() for name in ("cell_1", "cell_2"))
    return second * 2 < third


def _common_word(cells: pl.Series) -> str | None:
    counts = cells.value_counts(sort=True, name="rows")
    return counts[cells.name][0] if counts["rows"][0] > 0.9 * cells.len() else None


def _without_padding(good: pl.DataFrame, cells: Cells) -> tuple[pl.DataFrame, pl.DataFrame]:
    if cells.separator == " " or not good["text"].str.contains(" ", literal=True).any():
        return good.clear(), good
    stripped = pl.col(r"^cell_\d+$").str.strip_chars(" ")
    is_padded = pl.any_horizontal(pl.col(r"^cell_\d+$") != stripped)
    return good.filter(is_padded), good.with_columns(stripped)


def _line_findings(cells: Cells, headers: pl.DataFrame, padded: pl.DataFrame) -> Iterator[Finding]:
    opened = cells.frame.filter("is_open") if "is_open" in cells.frame.columns else padded.clear()
    for kind, lines, expected in (
        ("blank-lines", cells.blank, "a row"),
        ("header-line", headers, "a row"),
        ("padded-cells", padded, "cells without spaces around them"),
        ("open-quote", opened, "a quotation mark at the end of the cell"),
    ):
        if lines.height:
            actual = pl.col("text").str.slice(0, EXCERPT)
            topic = pl.col("cell_0") if kind == "open-quote" else pl.lit(None, pl.String)
            places = occurrences(lines, actual=actual, expected=pl.lit(expected), topic=topic)
            yield Finding(kind, places)


def _column_findings(
    bad: pl.DataFrame, layout: Layout, width: int, rules: RunRules
) -> Iterator[Finding]:
    """Yield the lines with another number of columns, and whether every line lacks columns."""
    formats = wanted_formats(rules)
    if bad.height:
        wanted_layout = formats if layout is UNKNOWN else str(layout)
        expected = pl.lit(formats if layout is UNKNOWN else f"{width} columns")
        actual = pl.format("columns: {}; {}", "width", pl.col("text").str.slice(0, EXCERPT))
        topic = pl.when(pl.col("width") > 1).then(pl.col("cell_0"))
        places = occurrences(bad, actual=actual, expected=expected, topic=topic)
        yield Finding("columns", places, {"wanted": wanted_layout})
    if layout is TWO_COLUMNS:
        place = (None, None, "2 columns: topic, answer", str(TASK3))
        yield Finding("two-columns", listed([place]), {"wanted": str(TASK3)})


def _varies(good: pl.DataFrame, layout: Layout) -> bool:
    """Return whether the second column is that of TREC and has other words than usual."""
    return layout is TREC and _common_word(good["cell_1"]) is None


def _named(good: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    columns = layout.columns or TREC.columns
    cells = {name: pl.col(f"cell_{index}") for index, name in enumerate(columns)}
    cells |= {name: pl.lit(value) for name, value in layout.fill.items()}
    cells["item"] = cells.get("item", cells["topic"])
    cells["post"] = cells.get("post", pl.lit(None, pl.String))
    texts = {"rank": "rank_text", "score": "score_text"}
    lines = [name for name in ("line", "last_line") if name in good.columns]
    named = [cell.alias(texts.get(name, name)) for name, cell in cells.items() if name != "q0"]
    return good.select(*lines, *named)
