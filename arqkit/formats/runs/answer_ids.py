"""Read the ids under which a lab published the answers of Task 3 runs (protocol §8)."""

from collections.abc import Collection, Iterator

import polars as pl

from arqkit.formats.runs.filename import file_stem
from arqkit.formats.source_text import source_text
from arqkit.records import LONGEST_ID, FileRefusedError, Problem

LONGEST_FILE = 255
COLUMNS = "three columns: run file, topic, answer id"


def read_answer_ids(
    data: bytes, *, path: str, topics: Collection[str] | None = None
) -> pl.DataFrame:
    """Read lines of run file, topic and answer id (tab-separated, no header), in the file's order.

    The names of run files lose their endings. `topics` has the known topics. Raise FileRefusedError
    with every problem of the file.
    """
    rows: dict[tuple[str, str], tuple[int, str]] = {}
    problems: list[Problem] = []
    for line, text in enumerate(source_text(data, path=path).split("\n"), start=1):
        cells = [cell.strip() for cell in text.split("\t")]
        if not text.strip():
            continue
        if len(cells) != 3 or not all(cells):
            todo = "Write run file, topic and answer id, separated by tabs."
            problems.append(Problem(path, line, f"{text.strip()[:80]!r}", COLUMNS, todo))
            continue
        run, topic, answer = file_stem(cells[0]), cells[1], cells[2]
        problems += _faults(path, line, (run, topic, answer), topics)
        known, _ = rows.setdefault((run, topic), (line, answer))
        if known != line:
            actual = f"{run} and topic {topic} again (first on line {known})"
            expected = "one answer id per run and topic"
            problems.append(
                Problem(path, line, actual, expected, "Keep the line with the right id.")
            )
    if problems:
        raise FileRefusedError(problems)
    columns = [(run, topic, answer) for (run, topic), (_, answer) in rows.items()]
    schema = dict.fromkeys(("run", "topic", "answer"), pl.String)
    return pl.DataFrame(columns, schema=schema, orient="row")


def _faults(
    path: str, line: int, row: tuple[str, str, str], topics: Collection[str] | None
) -> Iterator[Problem]:
    run, topic, answer = row
    if topics is not None and topic not in topics:
        todo = "Correct the topic, or add it to the topics file."
        yield Problem(path, line, f"the topic {topic}", "a topic of the task", todo)
    if len(run) > LONGEST_FILE or len(answer) > LONGEST_ID:
        expected = f"names of at most {LONGEST_FILE} and ids of at most {LONGEST_ID} characters"
        yield Problem(path, line, f"{answer[:80]!r}", expected, "Check the columns of the line.")
