"""`manage.py export_qrels`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from assessment.models import PoolInstance
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from tests.assessment.factories import NOW, judge, make_pool
from tests.evaluation.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def judged(task, assessor) -> None:
    make_pool(task)
    for doc_id, label in {"10": 3, "11": 2, "12": 6}.items():
        judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id), label)
    judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.2"), 2)


def export(*options: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("export_qrels", "arqmath-x/task1", *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_the_draft_is_printed_in_the_official_form_and_dropped_topics_are_named():
    out, err = export()

    assert out == "A.1\t0\t10\t3\nA.1\t0\t11\t2\n"
    assert err == "A.2 is left out. This topic has 1 relevant item; qrels need at least 2.\n"


def test_complete_qrels_of_all_topics_are_printed_when_they_are_asked_for():
    out, err = export("--complete", "--all-topics")

    assert out.splitlines()[2:] == ["A.1\t0\t12\t6", "A.2\t0\t12\t2"]
    assert err == ""


def test_a_frozen_version_is_printed_as_it_was_frozen(task, organizer):
    freeze_qrels(task=task, choice=QrelsChoice("official", complete=True), by=organizer, at=NOW)
    PoolInstance.objects.get(item__topic__query_id="A.1", doc_id="10").judgments.update(
        is_current=False
    )

    assert export("--qrels", "official")[0].splitlines()[0] == "A.1\t0\t10\t3"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--qrels", "v9"], "no qrels 'v9'. Its qrels: none"),
        (["--qrels", "v9", "--complete", "--all-topics"], "Leave out --complete, --all-topics"),
        (["--level", "visual"], "the task does not retrieve formulas"),
    ],
)
def test_what_cannot_be_printed_is_refused_with_what_to_do(options, told):
    with pytest.raises(CommandError, match=told):
        export(*options)


def test_a_task_without_judgments_shows_a_message(task):
    task.pools.update(
        task=type(task).objects.create(
            lab=task.lab, slug="other", kind="answers", trec_items="posts"
        )
    )

    assert export() == (
        "",
        "arqmath-x/task1 has no qrels to export yet. Freeze a pool and judge its items first.\n",
    )


def test_the_run_map_is_written_beside_the_qrels(task, team, tmp_path):
    run = make_run(team, task, tag="bm25")

    out, _ = export("--run-map", str(tmp_path / "runs.csv"))

    assert out.startswith("A.1\t0\t10\t3\n")
    [head, line] = (tmp_path / "runs.csv").read_text().splitlines()
    assert head.startswith("run_id,team,tag,file,")
    assert line.startswith(f"bm25,Alpha,bm25,{run.file_name},alternate,")
