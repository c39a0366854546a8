"""Real topics with real answers and formulas to judge, from the field's data: the assessor's A.282
and B.203.
"""

import csv
import gzip
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from arqkit.formats.topics.files import read_topics
from arqlab.core.models import Task, Topic
from arqlab.labs.services.topic_pages import topic_pages
from tests.assessment.factories import assign, make_formula_pool, make_pool
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, Scene

ANSWERS, FORMULAS = "A.282", "B.203"
MAX_INSTANCES = 5


def judged_answers(data: Path, topics: Iterable[str]) -> list[str]:
    """Return the posts that were judged for topics and that the sample holds."""
    pairs = [
        line.split("\t")
        for line in (data / "collection/judged-with-body.task1.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    return list(dict.fromkeys(pair[2] for pair in pairs if pair[0] in topics))


def judged_formulas(data: Path, topics: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the formulas that were judged for topics: by visual id, their instances in posts of
    the sample.
    """
    rows = [
        line.split("\t")
        for line in (data / "arqmath-2/qrels.task2.instances.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    ]
    judged = {row[2] for row in rows if row[0] in topics}
    found = defaultdict(list)
    with gzip.open(data / "collection/formulas.latex.tsv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["id"] in judged and row["type"] in {"question", "answer"}:
                found[row["visual_id"] or row["formula"]].append((row["id"], row["post_id"]))
    return {visual_id: found[visual_id][:MAX_INSTANCES] for visual_id in found}


def rows_of(data: Path, wanted: set[str]) -> str:
    """Return a Posts.xml with only these posts and the questions of their threads."""
    with gzip.open(data / "collection/Posts.xml.gz", "rt", encoding="utf-8") as file:
        rows = {match[1]: line for line in file if (match := re.search(r'<row Id="(\d+)"', line))}
    chosen = {post_id for post_id in wanted if post_id in rows}
    chosen |= {
        match[1] for post_id in chosen if (match := re.search(r'ParentId="(\d+)"', rows[post_id]))
    }
    kept = (line for post_id, line in rows.items() if post_id in chosen)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<posts>\n{"".join(kept)}</posts>\n'


def real_topic(task: Task, data: Path, query_id: str) -> Topic:
    """Return a task a topic of ARQMath-2 as a loaded lab has it."""
    path = data / f"arqmath-2/topics.{'task2' if query_id.startswith('B') else 'task1'}.xml"
    topics = read_topics(path.read_bytes(), path=path.name, formulas=query_id.startswith("B"))
    found = next(topic for topic in topics if topic.query_id == query_id)
    [page] = topic_pages([found])
    known = {"title": found.title, "body": found.body, "tags": list(found.tags)}
    known |= {"title_html": page.title, "body_html": page.body, "formula_html": page.formula}
    return Topic.objects.create(
        task=task,
        query_id=query_id,
        position=9,
        latex=found.latex or "",
        formula_id=found.formula_id or "",
        **known,
    )


def real_items(
    scene: Scene,
    data: Path,
    folder: Path,
    *,
    answers_of: Iterable[str] = (ANSWERS,),
    formulas_of: Iterable[str] = (FORMULAS,),
) -> None:
    """Return the assessor the topics with pools of the answers and formulas that were judged for
    these topics.
    """
    answers, formulas = judged_answers(data, answers_of), judged_formulas(data, formulas_of)
    in_formulas = {post for instances in formulas.values() for _, post in instances}
    load_small(scene.lab, folder, posts=rows_of(data, {*answers, *in_formulas}), formulas=None)
    formula_task = FormulaTaskFactory(lab=scene.lab, slug="task2", position=2)
    topics = [real_topic(scene.task, data, ANSWERS), real_topic(formula_task, data, FORMULAS)]
    make_pool(scene.task, {ANSWERS: answers})
    # Those with most instances first, for they ask most of the page.
    make_formula_pool(
        formula_task, {FORMULAS: dict(sorted(formulas.items(), key=lambda item: -len(item[1])))}
    )
    assign(scene.assessor, *topics)
