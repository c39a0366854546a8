"""Starter kits for teams: a short program that makes a valid run of a task, and how to check it."""

from collections.abc import Collection, Iterator

from arqkit.formats.runs.report import RunRules
from arqkit.records import ItemKind, TaskKind

_ITEMS = {
    ItemKind.POSTS: ("posts", 'filter(type="answer")["post_id"]'),
    ItemKind.DOCUMENTS: ("posts", 'filter(type="document")["post_id"]'),
    ItemKind.FORMULA_IDS: ("formulas", '["formula_id"]'),
    ItemKind.VISUAL_IDS: ("formulas", '["visual_id"].drop_nulls().unique(maintain_order=True)'),
}
_TOPICS = 'topics = json.loads(Path("task.json").read_text())["rules"]["topics"]'
_RANKED = """\
import json
from pathlib import Path

import polars as pl

from arqkit.formats.runs.writing import run_of_ranking
from arqkit.retrieval.controls import shuffled_items

{topics}
items = {items}
ranking = shuffled_items(topics, items, seed=1, limit={limit})  # topic, item, score
run = run_of_ranking(ranking, tag="random", limit={limit})
Path("run.tsv").write_bytes(run)
"""
_WRITTEN = """\
import json
from pathlib import Path

{topics}
answers = {{topic: "I do not know." for topic in topics}}
rows = [(topic, "1", "1.0", "first", "nothing", answers[topic]) for topic in topics]
run = "".join("\\t".join(row) + "\\n" for row in rows)
Path("run.tsv").write_text(run, encoding="utf-8")
"""
_README = """\
# A first run of {task}

    pip install ./arqkit           in a checkout of ArqLab
    python make_run.py             writes run.tsv
    arqkit check run.tsv --task task-pack.zip

Run these where you unpacked the task pack; the last one takes the file that you downloaded. It
prints the report that you would get after an upload, and ends with exit code 0 if the run is valid.

make_run.py {does}. Put your own system there: the topics are in topics.xml, {todo}.
"""


def starter_files(task: str, rules: RunRules, ids: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a README and of the program `make_run.py`.

    The program reads the unpacked task pack beside it. `ids` says which of the files `posts` and
    `formulas` the pack has; without the one that the task needs, the ids are those of an example.
    """
    program, does = _RANKED, f"ranks {rules.limit:,} items a topic at random"
    todo = "and `ranking` may come from any program that gives a score to items"
    items = ""
    if rules.kind is TaskKind.GENERATED_ANSWERS:
        program, does = _WRITTEN, "writes the same answer to each topic"
        todo = f"and an answer may have {rules.max_characters:,} characters"
    else:
        name, column = _ITEMS[rules.items]
        dot = "" if column.startswith("[") else "."
        items = f'pl.read_parquet("{name}.parquet"){dot}{column}'
        if name not in ids:
            items = 'pl.Series(["1", "2", "3"])  # the ids of your collection'
    readme = _README.format(task=task, does=does, todo=todo)
    yield "README.md", readme.encode()
    text = program.format(topics=_TOPICS, items=items, limit=rules.limit)
    yield "make_run.py", text.encode()
