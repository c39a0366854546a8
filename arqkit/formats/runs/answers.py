"""Generated answers: read them from a file of topics and answers, and write a run of Task 3."""

from collections import defaultdict
from collections.abc import Collection

import polars as pl

from arqkit.formats.runs.lines import records, write_record
from arqkit.formats.source_text import FileKind, source_text
from arqkit.records import FileProblems

ANSWERS = {"topic": pl.String, "answer": pl.String}
"""The columns of a frame with the answer of each topic."""
EXCERPT = 80


def read_answers(
    data: bytes, *, path: str, topics: Collection[str], max_characters: int
) -> pl.DataFrame:
    """Return the answers of a file (topic and answer), in its order.

    A line has a topic, a tab and an answer, which has quotation marks around it if it has tabs or
    line breaks. Of several answers to a topic, the first that is not too long counts, as if a model
    were asked again (004 §6.2). Raises FileRefusedError with each line that has none of the topics,
    and each topic without a short answer.
    """
    problems = FileProblems(path)
    answers: dict[str, str] = {}
    others: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line, _, cells, is_open in records(source_text(data, FileKind.RUN, path=path)):
        if len(cells) != 2 or is_open:
            if cells:
                actual = f"columns: {len(cells)}" if not is_open else "an open quotation mark"
                todo = "Put answers with tabs or line breaks between quotation marks."
                problems.add(line, actual, "a topic, a tab and an answer", todo)
            continue
        topic, answer = (cell.strip() for cell in cells)
        if topic not in topics:
            todo = "Correct the topic, or remove the line."
            problems.add(line, f"the topic {topic[:EXCERPT]!r}", "a topic of the task", todo)
        elif 0 < len(answer) <= max_characters:
            answers.setdefault(topic, answer)
        else:
            others[topic].append((line, len(answer)))
    for topic in others.keys() - answers.keys():
        line, length = others[topic][0]
        problems.add(
            line,
            f"an answer of {length:,} characters to {topic}",
            f"1 to {max_characters:,} characters",
            "Shorten it, add another answer to the topic, or remove the line.",
        )
    problems.refuse_any()
    return pl.DataFrame(list(answers.items()), schema=ANSWERS, orient="row")


def run_of_answers(answers: pl.DataFrame, *, tag: str) -> bytes:
    """Return the run file (`TASK3`) of answers: all have the rank 1, the score 1.0, no sources."""
    unix = pl.col("answer").str.replace_all(r"\r\n?", "\n")
    rows = answers.select("topic", unix).iter_rows()
    lines = (write_record([topic, "1", "1.0", tag, "", answer]) for topic, answer in rows)
    return "".join(f"{line}\n" for line in lines).encode()
