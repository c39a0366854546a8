"""Read and write qrels files: `topic 0 item label`, separated by spaces or tabs (protocol §7).

Real files have CRLF, a last line without a line end, labels such as `2.0`, and `0`, `Q0` or `xxx`
in the second column. Lines are read as columns: an official file of 40,000 lines takes a few
hundredths of a second. All problems of a file are reported at once.
"""

from collections.abc import Collection

import polars as pl

from arqkit.formats.source_text import FileKind, source_text
from arqkit.labels import LARGEST_VALUE, LabelScale
from arqkit.protocols.scales import ARQMATH
from arqkit.records import LONGEST_ID, FileProblems

_COLUMNS = (
    r"^[ \t]*(?<topic>[^ \t]+)[ \t]+[^ \t]+[ \t]+(?<item>[^ \t]+)[ \t]+(?<label>[^ \t]+)[ \t]*$"
)
_WHOLE_NUMBER = r"^([+-]?[0-9]{1,9})(?:\.0*)?$"
_FOUR_COLUMNS = "four columns: topic, 0, item, label"


def read_qrels(
    data: bytes,
    *,
    path: str,
    scale: LabelScale | None = ARQMATH,
    topics: Collection[str] | None = None,
) -> pl.DataFrame:
    """Read a qrels file into topic, item (String) and label (Int8), in the file's order.

    `scale` has the allowed labels (None: 0 to 99), `topics` the allowed topics. Raises
    FileRefusedError with every problem of the file.
    """
    # Not splitlines: an id may contain a character that is a line end in Unicode.
    lines = pl.DataFrame(
        {"text": source_text(data, FileKind.QRELS, path=path).split("\n")}
    ).with_columns(
        line=pl.int_range(1, pl.len() + 1, dtype=pl.Int64),
        text=pl.col("text").str.strip_suffix("\r"),
    )
    filled = lines.filter(pl.col("text").str.contains(r"[^ \t]"))
    rows = filled.with_columns(pl.col("text").str.extract_groups(_COLUMNS).struct.unnest())
    rows = rows.with_columns(number=pl.col("label").str.extract(_WHOLE_NUMBER).cast(pl.Int64))
    labels = list(scale.values) if scale else list(range(LARGEST_VALUE + 1))
    readable = rows.filter(pl.col("item").is_not_null())
    problems = FileProblems(path)
    todo = "Write the line as topic, 0, item, label, or remove it."
    for line, text in rows.filter(pl.col("item").is_null()).select("line", "text").iter_rows():
        columns = len(text.split())
        actual = f"{columns} column{'s' * (columns != 1)} in {text[:80]!r}"
        problems.add(line, actual, _FOUR_COLUMNS, todo)
    _find_bad_labels(readable, problems, labels)
    _find_long_ids(readable, problems)
    _find_repeated(readable, problems)
    if topics is not None:
        find_unknown_topics(readable, problems, topics)
    if readable.is_empty() and not problems:
        problems.add(None, "no lines", _FOUR_COLUMNS, "Check that this is a qrels file.")
    problems.refuse_any()
    return readable.select("topic", "item", label=pl.col("number").cast(pl.Int8))


def write_qrels(qrels: pl.DataFrame) -> bytes:
    """Return qrels (columns topic, item, label) as tab-separated lines `topic 0 item label`.

    They are sorted by topic and item as strings, so that equal qrels are equal bytes.
    """
    rows = qrels.select("topic", "item", "label").sort("topic", "item").iter_rows()
    return "".join(f"{topic}\t0\t{item}\t{label}\n" for topic, item, label in rows).encode()


def _find_bad_labels(rows: pl.DataFrame, problems: FileProblems, labels: list[int]) -> None:
    expected = f"one of {', '.join(map(str, labels))}"
    todo = "Correct the label, or add it to the task's labels."
    bad = rows.filter(~pl.col("number").is_in(labels).fill_null(False))
    for line, label in bad.select("line", "label").iter_rows():
        problems.add(line, f"the label {label!r}", expected, todo)


def _find_long_ids(rows: pl.DataFrame, problems: FileProblems) -> None:
    expected, todo = f"ids of at most {LONGEST_ID} characters", "Check the columns of the line."
    is_long = pl.any_horizontal(pl.col("item", "topic").str.len_chars() > LONGEST_ID)
    for line, text in rows.filter(is_long).select("line", "text").iter_rows():
        problems.add(line, f"an id that is too long in {text[:80]}", expected, todo)


def _find_repeated(rows: pl.DataFrame, problems: FileProblems) -> None:
    first = rows.group_by("topic", "item").agg(
        first=pl.col("line").min(), before=pl.col("label").first(), n=pl.len()
    )
    again = rows.join(first.filter(pl.col("n") > 1), on=["topic", "item"]).filter(
        pl.col("line") != pl.col("first")
    )
    expected, todo = "one label per topic and item", "Keep the line with the right label."
    columns = ("topic", "item", "line", "label", "first", "before")
    for topic, item, line, label, earlier, before in again.select(columns).iter_rows():
        actual = f"{item} again for topic {topic} with the label {label}"
        problems.add(line, f"{actual} (label {before} on line {earlier})", expected, todo)


def find_unknown_topics(
    rows: pl.DataFrame, problems: FileProblems, topics: Collection[str]
) -> None:
    """Add a problem for each topic (column topic, and its line) that is not one of the task's."""
    todo = "Add the topic to the topics file, or remove its lines."
    unknown = rows.filter(~pl.col("topic").is_in(list(topics))).group_by("topic")
    for topic, line, count in unknown.agg(pl.col("line").min(), n=pl.len()).iter_rows():
        actual = f"the topic {topic} on {count} line{'s' * (count != 1)}"
        problems.add(line, actual, f"one of the task's {len(topics)} topics", todo)
