"""The labs' official labels, given anew: items shown, judged over HTTP, exported; the lines are the
official ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from django.core.management import call_command
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.formulas.index import read_index
from arqkit.formats.labs.folder import read_lab
from arqkit.formats.qrels.read import read_qrels
from arqkit.texts.maths.typesetting import Typeset
from arqlab.core.models import Lab, Task, Topic, User
from arqlab.labs.selectors import topic_ids
from arqlab.labs.services.loading import load_lab_file
from collection.services.loading import load_collection
from tests.assessment.factories import assign, make_formula_pool, make_pool
from tests.assessment.judging.desk import Desk, doc_id_of
from tests.factories import AssessorFactory

pytestmark = pytest.mark.django_db

LABS = ("arqmath-1", "arqmath-2", "arqmath-3")
Line = tuple[str, str, int]


@pytest.fixture(scope="module")
def labs(kept_db: None, shared_data: Path) -> dict[str, Lab]:
    """Load the real labs with the posts of their collection, whose formulas nobody judges here."""
    loaded = {}
    for name in LABS:
        file = read_lab(SourceFolder(shared_data / name, reads_beside=True))
        loaded[name] = load_lab_file(file, by=None)
        assert file.collection is not None
        posts = replace(file.collection, formulas={})
        load_collection(lab=loaded[name], file=posts, at=timezone.now())
    return loaded


@pytest.fixture(autouse=True)
def _formulas_of_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typeset none of the 17,000 formulas, unseen here; `tests/arqkit/texts` does."""
    monkeypatch.setattr(
        "arqlab.labs.services.formulas.typeset",
        lambda latex, *, display: Typeset("<math></math>", latex),
    )


def judge_all(assessor: User, task: Task, labels: Mapping[tuple[str, str], int]) -> int:
    """Judge every item that the assessor is given, topic by topic, with the official labels; give
    their number.
    """
    count = 0
    for topic in sorted({topic for topic, _ in labels}):
        assign(assessor, Topic.objects.get(task=task, query_id=topic))
        desk = Desk(assessor, topic, task=task.slug, lab=task.lab.slug)
        item = desk.next()
        while item:
            texts = {instance["instance"]: instance["html"] for instance in item["instances"]}
            assert all(texts[instance["text_of"]] for instance in item["instances"])
            given = [labels[topic, doc_id_of(instance)] for instance in item["instances"]]
            # No time passes: it would rewrite all judgments so far, whose old versions stay in the
            # transaction of the test, at 90 ms for the 400th on PostgreSQL.
            item = desk.submit(item, *given, active_ms=None)["next"]
            assert desk.last.status_code == 200
            count += len(given)
    return count


def exported(task: Task, *options: str) -> set[Line]:
    """Return the lines that the command prints."""
    out = StringIO()
    call_command("export_qrels", str(task), *options, stdout=out, stderr=StringIO())
    lines = out.getvalue().splitlines()
    assert {line.split("\t")[1] for line in lines} <= {"0"}
    return {
        (topic, item, int(label)) for topic, _, item, label in (line.split("\t") for line in lines)
    }


def enough(lines: Iterable[Line]) -> set[Line]:
    """Return the lines of the topics with two High or Medium at least."""
    frame = pl.DataFrame(sorted(lines), schema=["topic", "item", "label"], orient="row")
    return set(frame.filter((pl.col("label") >= 2).sum().over("topic") >= 2).rows())


def test_all_official_answers_judged_again_over_http_are_the_official_qrels(shared_data, labs):
    every = read_qrels(
        (shared_data / "collection/judged-with-body.task1.tsv").read_bytes(), path="judged"
    )
    judged = 0
    for lab in labs.values():
        task = Task.objects.get(lab=lab, slug="task1")
        official = set(every.filter(pl.col("topic").is_in(topic_ids(task))).rows())
        labels = {(topic, post): label for topic, post, label in sorted(official)}
        make_pool(
            task, {topic: [post for other, post in labels if other == topic] for topic, _ in labels}
        )

        judged += judge_all(AssessorFactory(lab=task.lab).user, task, labels)

        assert exported(task, "--all-topics") == official
        assert exported(task) == enough(official)
    assert judged == every.height == 2673


def test_arqmath_2s_instances_judged_again_over_http_give_the_official_visual_qrels(
    shared_data, labs
):
    index = [part.frame for part in read_index(shared_data / "collection/formulas.latex.tsv.gz")]
    known = pl.concat(index).drop_nulls("visual_id").unique("formula_id")
    folder = shared_data / "arqmath-2"
    visual = read_qrels((folder / "qrels.task2.visual-v2.tsv").read_bytes(), path="visual")
    instances = read_qrels((folder / "qrels.task2.instances.tsv").read_bytes(), path="instances")
    rows = instances.join(known, left_on="item", right_on="formula_id").join(
        visual.select("topic").unique(), on="topic"
    )
    task = Task.objects.get(lab=labs["arqmath-2"], slug="task2")
    pool: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for topic, item, visual_id, post in rows.select(
        "topic", "item", "visual_id", "post_id"
    ).iter_rows():
        pool.setdefault(topic, {}).setdefault(visual_id, []).append((item, post))
    make_formula_pool(task, pool)

    labels = {
        (topic, item): label
        for topic, item, label in rows.select("topic", "item", "label").iter_rows()
    }
    judge_all(AssessorFactory(lab=task.lab).user, task, labels)

    wanted = visual.join(
        rows, left_on=["topic", "item"], right_on=["topic", "visual_id"], how="semi"
    )
    assert wanted.height > 250
    assert exported(task, "--level", "visual", "--all-topics") == set(wanted.rows())
    assert exported(task, "--all-topics") == set(rows.select("topic", "item", "label").rows())
