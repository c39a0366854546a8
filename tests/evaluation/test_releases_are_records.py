"""A released version stays as it was, to the byte, whatever is changed in the lab afterwards.

The addresses are those of the URL configuration, in every format: one that reads live rows fails.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import polars as pl
import pytest
from django.urls import get_resolver, reverse
from lxml import html

from analyses.services.certificates import certification_of
from arqkit.formats.tables import FILE_ENDINGS
from arqkit.loads import LoadChanges
from arqlab.accounts.services.personal import delete_account
from arqlab.core.caches import computed_values
from arqlab.core.models import Lab, Task
from arqlab.labs.services.labs import change_lab, change_task
from arqlab.notices.models import Kind, Notice
from arqlab.teams.services import rename_team
from arqlab.web.archive_tables import archive_tables
from assessment.assignments.services.planning import set_topics_aside
from assessment.models import PoolInstance, QrelSet
from assessment.qrels.services.versions import choose_current_qrels
from contrib.papers.services.kept_kits import keep_kits
from desk.services.archive_documents import lab_documents
from desk.services.exports import task_exports
from desk.services.lab_archives import archive_lab, restore_lab
from evaluation.models import Erratum, Leaderboard, ReleasedRun, RunScore
from evaluation.selectors.boards import released_board, released_leaderboard
from evaluation.services.errata import store_records
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.answer_ids import load_answer_ids
from submissions.services.changing import correct_run, metadata_of, move_run, withdraw_run
from tests.assessment.factories import judge, make_pool
from tests.collection.factories import FORMULAS, load_small
from tests.desk.services.test_lab_archives import destroy
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import Scene, make_lab
from tests.test_access import address, fill, named_addresses
from tests.test_secrets import client_for

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 22, tzinfo=UTC)
LATER = datetime(2026, 12, 3, tzinfo=UTC)
LISTS = {
    "gone": {"A.1": ["10", "47114711"], "A.2": ["12"]},
    "apart": {"A.1": ["47114711", "10"], "A.2": ["12", "11"]},
    "renamed": {"A.1": ["11", "10"], "A.2": ["11", "12"]},
    "moved": {"A.1": ["11", "47114711"], "A.2": ["10", "12"]},
    "same": {"A.1": ["12", "11", "10"], "A.2": ["11"]},
}
LIVE = {
    "breakdown-instances": "compares versions of the qrels by the current scores",
    "provisional-board": "is about the labels so far",
    "leaderboard-release": "is about the next version",
    "lab-counts": "counts what the lab has",
    "qrels-effect": "compares versions of the qrels by the current scores",
    "round-detail": "is about a round",
    "adjudication-list": "is about labels",
    "look-alike-list": "is about the runs that the task has",
    "erratum-list": "lists what was changed",
    "api-erratum-list": "lists what was changed",
    "erratum-create": "is a form",
    "score-link": "leads to another page",
}
"""The addresses of the evaluation that are not about a released version, and why."""
FORMATS = ("", *(f"format={name}" for name in FILE_ENDINGS), "format=zip")
PARTS = {"certificate-detail": ("teams", "runs", "depths")}
ALSO = {"leaderboard", "correlation-matrix"}
"""The addresses that add measures to those of a version."""
TASK_SINCE, LAB_SINCE = "Another task", "Another lab"
RENAMED = {TASK_SINCE: "Answer retrieval", LAB_SINCE: "The lab arqmath-x"}
FILES = ("scores.tsv", "qrels.tsv", "ir-datasets.zip")
"""The files of a task that belong to its released leaderboard."""
SINCE = {
    "judgments.tsv": "has the judgments since",
    "pool.json": "has the standings that the runs of the pool have now",
}
"""The files of a task in a published archive that are not of its released version, and why."""
NO_RECORD = """
    //nav | //header | //form | //script | //section[@aria-label='Errata'] | //*[@class='erratum']
    | //h2[.='Releases'] | //h2[.='Releases']/following-sibling::div[1]
"""
"""What belongs to no version: what frames a page, errata, and the list of releases."""


class Released(NamedTuple):
    """A filled lab with a released leaderboard, and its runs of team Beta by tag."""

    scene: Scene
    runs: dict[str, Run]


@pytest.fixture(scope="module")
def released(kept_db: None, tmp_path_factory) -> Released:
    scene = make_lab()
    for query_id, difficulty in (("A.1", "easy"), ("A.2", "hard")):
        scene.task.topics.filter(query_id=query_id).update(info={"difficulty": difficulty})
    fill(scene, tmp_path_factory.mktemp("released"))
    runs = {
        tag: make_run(scene.other_team, scene.task, lists, tag=tag) for tag, lists in LISTS.items()
    }
    score_waiting(at=NOW)
    qrels = QrelSet.objects.get(task=scene.task, name="v1")
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=NOW)
    return Released(scene, runs)


@pytest.fixture(scope="module")
def with_formulas(kept_db: None, tmp_path_factory) -> Released:
    """Return a task whose runs have formula ids, and whose qrels have visual ids."""
    scene = make_lab("formulas")
    load_small(scene.lab, tmp_path_factory.mktemp("formulas"), slug="formulas")
    scene.task.kind, scene.task.trec_items = Task.Kind.FORMULAS, Task.Items.VISUAL_IDS
    scene.task.save()
    report = {"items": "formula-ids", "order": "score"}
    runs = {
        tag: make_run(scene.other_team, scene.task, lists, tag=tag, report=report)
        for tag, lists in (
            ("same", {"A.1": ["7", "8"], "A.2": ["8", "9"]}),
            ("other", {"A.1": ["8", "9"], "A.2": ["9", "8"]}),
        )
    }
    qrels = make_qrels(scene.task, {"A.1": {"70": 3}, "A.2": {"71": 3}}, items="visual-ids")
    score_waiting(at=NOW)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=NOW)
    return Released(scene, runs)


def test_each_change_of_a_run_is_an_erratum_with_date_reason_and_author(released, db):
    change_runs(released)

    errata = {one.name: one for one in store_and_list(released.scene.task)}
    assert errata["Beta gone"].sentence == "Withdrawn on 3 Dec 2026 by team Beta: A bug."
    assert errata["Beta gone"].author == released.scene.other_member
    assert "Out of competition" in errata["Beta apart"].sentence
    assert errata["Beta apart"].sentence.endswith("by the organizers: Saw the labels.")
    assert "tag changed to new-name" in errata["Beta renamed"].sentence.lower()
    assert errata["Beta renamed"].sentence.endswith("by the organizers: A wrong name.")
    assert "Team changed to Alpha" in errata["Beta moved"].sentence
    assert errata["Beta moved"].sentence.endswith("by the organizers: Sent by Alpha.")
    assert errata["Beta moved"].author == released.scene.organizer
    assert "Beta same" not in errata


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        ("run-edit", {"tag": "new-name"}),
        ("run-edit", {"tag": "renamed", "is_primary": "True"}),
        ("run-move", {"team": "Alpha"}),
    ],
)
def test_a_page_that_changes_a_released_run_asks_for_the_reason(released, db, page, fields):
    team = {"team": released.scene.team.pk} if "team" in fields else {}
    path = address(f"submissions:{page}", released.scene, released.runs["renamed"].pk)
    client = client_for(released.scene.organizer)

    assert "Enter a reason for the change" in client.post(path, fields | team).text
    assert not store_and_list(released.scene.task)
    assert client.post(path, {**fields, **team, "reason": "A slip."}).status_code == 302
    [erratum] = store_and_list(released.scene.task)
    assert erratum.sentence.endswith("by the organizers: A slip.")


def test_the_api_that_changes_a_released_run_asks_for_the_reason(released, db):
    path = address("submissions:api-run-detail", released.scene, released.runs["renamed"].pk)
    client = client_for(released.scene.organizer)

    def change(**fields: str) -> int:
        return client.patch(path, fields, content_type="application/json").status_code

    assert change(description="What is not listed needs none.") == 200
    assert change(tag="new-name") == 409
    assert change(tag="new-name", reason="A slip.") == 200
    [erratum] = store_and_list(released.scene.task)
    assert erratum.sentence.endswith("by the organizers: A slip.")


def test_a_run_that_another_replaces_as_primary_gets_that_as_its_reason(released, db):
    task, by = released.scene.task, released.scene.organizer
    change = {"by": by, "at": LATER, "reason": "The team asked for it."}
    for tag in ("same", "renamed"):
        run = Run.objects.get(pk=released.runs[tag].pk)
        correct_run(run=run, metadata=replace(metadata_of(run), is_primary=True), **change)
        errata = {one.name: one.reason for one in store_and_list(task)}
    assert errata["Beta renamed"] == "The team asked for it."
    assert errata["Beta same"] == "renamed became the primary run."


def store_and_list(task: Task) -> list[Erratum]:
    store_records(at=LATER)
    return list(Erratum.objects.filter(leaderboard__task=task))


def test_organizers_are_notified_of_an_erratum_once(released, db):
    withdraw(released)
    assert (store_records(at=LATER), store_records(at=LATER)) == (1, 0)

    [notice] = Notice.objects.filter(kind=Kind.LEADERBOARD_ERRATUM)
    assert notice.user == released.scene.organizer
    assert "Beta gone: Withdrawn on 3 Dec 2026 by team Beta: A bug." in notice.text
    client = client_for(released.scene.organizer)
    assert "A bug." in client.get(notice.path).text


def withdraw(released: Released) -> None:
    member = released.scene.other_member
    run = Run.objects.get(pk=released.runs["gone"].pk)
    withdraw_run(run=run, reason="A bug.", by=member, at=LATER)


def change_runs(released: Released) -> None:
    """Change a run in each way that there is."""
    withdraw(released)
    by = released.scene.organizer
    for tag, fields in (
        ("apart", {"out_of_competition": "Saw the labels."}),
        ("renamed", {"tag": "new-name", "is_manual": True, "data_used": "math"}),
    ):
        run = Run.objects.get(pk=released.runs[tag].pk)
        metadata = replace(metadata_of(run), **fields)
        correct_run(run=run, metadata=metadata, by=by, at=LATER, reason="A wrong name.")
    moved = Run.objects.get(pk=released.runs["moved"].pk)
    move_run(run=moved, team=released.scene.team, by=by, at=LATER, reason="Sent by Alpha.")


def change_everything(released: Released) -> None:
    """Change everything that a version might be read from."""
    scene = released.scene
    by, task = scene.organizer, scene.task
    change_runs(released)
    rename_team(team=scene.other_team, name="Gamma", by=by)
    change_lab(lab=scene.lab, changes={"name": LAB_SINCE, "description": "Other"}, by=by)
    change_task(
        task=task,
        changes={"name": TASK_SINCE},
        protocol={"measures": ("P@5", "AP"), "order": "rank", "answered_only": True},
        by=by,
    )
    for topic in task.topics.all():
        topic.title, topic.title_html, topic.body = "Corrected", "Corrected", "<p>Corrected</p>"
        topic.info_edits, topic.tags = {"difficulty": "medium"}, ["corrected"]
        topic.save()
    set_topics_aside(task=task, topics=task.topics.all(), at=LATER, by=by)
    judge(scene.assessor, PoolInstance.official.filter(item__topic__task=task).last(), 1)
    make_pool(task, reason="A late run.")
    make_run(scene.team, task, {"A.1": ["47114711", "10"], "A.2": ["12"]}, tag="best")
    Run.objects.filter(pk=released.runs["same"].pk).update(retrieval_times="A.1 1.5")
    newer = make_qrels(task, {"A.1": {"10": 0, "11": 3}, "A.2": {"12": 0, "11": 3}})
    choose_current_qrels(qrel_set=newer, by=by)
    score_waiting(at=LATER)
    delete_account(user=scene.other_member, by=None)
    computed_values.clear()


def test_every_address_of_a_released_version_stays_as_it_was(released, db):
    keep_kits()
    before = {role: dict(answers(released, role)) for role in ("visitor", "organizer")}
    change_everything(released)
    certification_of(QrelSet.objects.get(task=released.scene.task, version=1), computes=True)

    assert len(before["visitor"]) > 60
    assert changed(released, before) == []


def test_a_version_keeps_the_visual_ids_of_the_release(with_formulas, db, tmp_path):
    task = with_formulas.scene.task
    qrels = QrelSet.objects.get(task=task)
    certification_of(qrels, computes=True)
    before = {role: dict(answers(with_formulas, role)) for role in ("visitor", "organizer")}
    # The formulas 7 and 9 get the id 99, and 8 gets that of theirs.
    given = FORMULAS.replace("\t70\t", "\t99\t").replace("answer\t\t", "answer\t70\t")
    load_small(with_formulas.scene.lab, tmp_path, formulas=given, slug="formulas")
    score_waiting(at=LATER)
    computed_values.clear()
    certification_of(qrels, computes=True)

    assert changed(with_formulas, before) == []
    [live] = RunScore.objects.filter(run=with_formulas.runs["same"], measure="RR(rel=2)")
    assert live.value == 0.25


@pytest.mark.needs("exchange")
def test_the_published_archive_has_the_files_of_the_release(released, db):
    task = released.scene.task
    before = published_files(task)
    change_everything(released)
    # A team may add times at any time.
    Run.objects.filter(pk=released.runs["same"].pk).update(retrieval_times="")

    after = published_files(task)
    assert {"topics.xml", "topic-info.csv", "ir_dataset.yaml", "runs/manifest.tsv"} < {*before}
    assert [name for name in before if before[name] != after.get(name)] == []
    assert {*after} == {*before}


def published_files(task: Task) -> dict[str, bytes]:
    """Return the files of a published archive in the folder of a task that are of its version."""
    return {
        name: b"".join(document.chunks)
        for document in lab_documents(Lab.objects.get(pk=task.lab_id), published=True)
        for folder, _, name in [document.path.partition("/")]
        if folder == task.slug and name not in SINCE
    }


@pytest.fixture(scope="module")
def with_answers(kept_db: None) -> Released:
    """Return Task 3 with two runs whose answers have ids in published qrels."""
    scene = make_lab("answers")
    scene.task.kind, scene.task.trec_items = Task.Kind.GENERATED_ANSWERS, Task.Items.ANSWERS
    scene.task.save()
    topics = {"A.1": ["A.1"], "A.2": ["A.2"]}
    runs = {
        tag: make_run(
            scene.other_team, scene.task, topics, tag=tag, answers=dict.fromkeys(topics, tag)
        )
        for tag in ("same", "other")
    }
    name_answers(scene.task, {"same": "good", "other": "poor"})
    labels = {name: {f"good-{name}": 3, f"poor-{name}": 0} for name in topics}
    qrels = make_qrels(scene.task, labels, items="answers")
    score_waiting(at=NOW)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=NOW)
    return Released(scene, runs)


def name_answers(task: Task, words: dict[str, str]) -> None:
    """Load ids of the answers of runs, by the names of their files: a word and the topic."""
    rows = [(run, name, f"{word}-{name}") for run, word in words.items() for name in ("A.1", "A.2")]
    ids = pl.DataFrame(rows, ["run", "topic", "answer"], orient="row")
    load_answer_ids(task=task, ids=ids, by=None, changes=LoadChanges())


def test_a_version_keeps_the_ids_of_answers(with_answers, db):
    task = with_answers.scene.task
    before = {role: dict(answers(with_answers, role)) for role in ("visitor", "organizer")}
    name_answers(task, {"same": "poor", "other": "good"})
    score_waiting(at=LATER)
    computed_values.clear()

    assert changed(with_answers, before) == []
    [live] = RunScore.objects.filter(run=with_answers.runs["same"], measure="AR")
    assert live.value == 0


def changed(released: Released, before: dict[str, dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the roles and addresses that answer otherwise than before."""
    return [
        (role, url)
        for role, contents in before.items()
        for after in [dict(answers(released, role))]
        for url, content in contents.items()
        if content != after.get(url)
    ]


def answers(released: Released, role: str) -> Iterator[tuple[str, Any]]:
    """Yield each address of the version, in each format that it has, with what it answers."""
    scene = released.scene
    client = client_for(scene.people[role])
    for url in addresses(released):
        answer = client.get(url)
        if answer.status_code == 200:
            content = answer.getvalue()
            yield url, shown(content) if b"</html>" in content else content


def addresses(released: Released) -> Iterator[str]:
    scene = released.scene
    for name in sorted(named_addresses(get_resolver().url_patterns)):
        app, _, short = name.partition(":")
        if app in ("evaluation", "analyses") and short not in LIVE:
            for run in released.runs.values() if "run-" in name else [released.runs["same"]]:
                path = address(name, scene, run.pk)
                parts = [f"&part={part}" for part in PARTS.get(short, ())]
                parts += ["", "&also=P@1"] if short in ALSO else []
                yield from (f"{path}?{form}{part}" for form in FORMATS for part in parts or [""])
    for file in FILES:
        yield reverse("desk:task-download", args=[scene.lab.slug, scene.task.slug, file])


def shown(content: bytes) -> tuple[str, list[str]]:
    """Return the words and the data of charts of a page, without errata and what frames it."""
    # Pages name the lab and the task where they are as these are called now.
    for later, earlier in RENAMED.items():
        content = content.replace(later.encode(), earlier.encode())
    page: Any = html.fromstring(content)
    data = [script.text for script in page.xpath("//script[@type='application/json']")]
    for element in page.xpath(NO_RECORD):
        if element.getparent() is not None:
            element.drop_tree()
    [main] = page.xpath("//main")
    return "".join(main.text_content().split()), data


@pytest.mark.needs("exchange")
def test_a_version_survives_archive_and_restore(released, db, tmp_path):
    change_runs(released)
    store_records(at=LATER)
    files = [export(released.scene.task, name) for name in FILES]
    errata = [one.sentence for one in Erratum.objects.order_by("pk")]
    archive_lab(released.scene.lab, path=tmp_path / "lab.zip")
    for model in archive_tables().left_out:
        model._base_manager.all().delete()
    destroy(released.scene.lab)
    task = restore_lab(tmp_path / "lab.zip").tasks.get(slug=released.scene.task.slug)

    board = released_leaderboard(task)
    assert board.entries.count() == len(LISTS) + 1
    assert [export(task, name) for name in FILES] == files
    assert [one.sentence for one in board.errata.order_by("pk")] == errata


def export(task: Task, name: str) -> bytes:
    [chosen] = [one for one in task_exports(task, organizes=False) if one.name == name]
    return b"".join(chosen.chunks(task))


def test_a_version_from_before_records_is_recorded_from_what_is_known(released, db):
    leaderboard = released_leaderboard(released.scene.task)
    before = released_board(leaderboard)
    ReleasedRun.objects.all().delete()
    Leaderboard.objects.update(recorded_at=None, record={})
    withdraw(released)
    assert store_records(at=LATER + timedelta(days=1)) == 1

    after = released_board(released_leaderboard(released.scene.task))
    runs = [replace(row.run, erratum="") for row in after.rows]
    assert runs == [row.run for row in before.rows]
    # Its reason was written for the organizers.
    assert Erratum.objects.get().sentence == "Withdrawn on 3 Dec 2026 by team Beta."
    path = reverse("evaluation:leaderboard", args=["arqmath-x", "task1"])
    assert "It was recorded on" in client_for(released.scene.people["visitor"]).get(path).text
