"""The files that labs and tasks hand out, to whom and when."""

import csv
import io
import json
import zipfile
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest
import pytrec_eval
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arqkit.formats.topics.files import read_topics
from arqlab.core.models import Task
from assessment.guidelines.services.versions import Decision, record_case, write_guideline
from assessment.models import Judgment, PoolInstance
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.services.changing import withdraw_run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import judge, make_pool
from tests.evaluation.factories import make_qrels
from tests.factories import TeamFactory, make_lab

AT = datetime(2026, 11, 21, tzinfo=UTC)
QRELS = {"A.1": {"10": 3, "11": 0, "12": 2}, "A.2": {"10": 0, "12": 2}}
RUN = (
    b"A.1\t11\t1\t3.5\tours\nA.1\t77\t2\t3.0\tours\nA.1\t10\t3\t2.5\tours\nA.2\t12\t1\t1.5\tours\n"
)
LAB, TASK = "/labs/arqmath-x/downloads/", "/labs/arqmath-x/tasks/task1/downloads/"
TEAMS = f"{LAB}teams.tsv"


def submit(scene, data=RUN, *, tag="ours", name="Alpha-task1-ours-auto-both-A.tsv"):
    file = ContentFile(data.replace(b"ours", tag.encode()), name=name.replace("ours", tag))
    [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=AT)
    validate_uploaded_run(run_id=run.pk, at=AT)
    return run


def release(scene):
    qrels = make_qrels(scene.task, QRELS)
    score_waiting(at=AT)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=AT)


def content(client, path):
    return b"".join(client.get(path).streaming_content)


def table(client, path):
    return list(csv.DictReader(io.StringIO(content(client, path).decode()), delimiter="\t"))


def statuses(clients, path):
    return [client.get(path).status_code for client in clients]


def test_everyone_downloads_the_topics_once_the_task_has_opened(scene, client, client_of):
    clients = [client, client_of(scene.member), client_of(scene.organizer)]
    Task.objects.update(opens_at=timezone.now() + timedelta(days=1))
    assert statuses(clients, f"{TASK}topics.xml") == [404, 404, 200]
    Task.objects.update(opens_at=None)

    assert statuses(clients, f"{TASK}topics.xml") == [200, 200, 200]
    topics = read_topics(content(client, f"{TASK}topics.xml"), path="topics.xml")
    assert [(topic.query_id, topic.title) for topic in topics] == [
        ("A.1", "The title of A.1"),
        ("A.2", "The title of A.2"),
    ]


@pytest.mark.parametrize("name", ["qrels.tsv", "scores.tsv"])
def test_qrels_and_scores_are_public_from_the_release_until_it_is_hidden(
    scene, client, client_of, name
):
    clients = [client, client_of(scene.member), client_of(scene.organizer)]
    submit(scene)
    assert statuses(clients, TASK + name) == [404, 404, 404]
    release(scene)
    assert statuses(clients, TASK + name) == [200, 200, 200]
    hide_leaderboard(task=scene.task, by=scene.organizer, at=AT)

    assert statuses(clients, TASK + name) == [404, 404, 404]


def test_trec_eval_computes_the_scores_from_the_downloaded_runs_and_qrels(scene, client, client_of):
    submit(scene)
    release(scene)

    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in content(client, f"{TASK}qrels.tsv").decode().splitlines():
        topic, _, item, label = line.split("\t")
        qrels[topic][item] = int(label)
    archive = zipfile.ZipFile(io.BytesIO(content(client_of(scene.organizer), f"{TASK}runs.zip")))
    run: dict[str, dict[str, float]] = defaultdict(dict)
    [name] = [
        name for name in archive.namelist() if name.startswith("alpha/") and name[-4:] == ".tsv"
    ]
    for line in archive.read(name).decode().splitlines():
        topic, item, _, score, _ = line.split("\t")
        if item in qrels[topic]:  # nDCG' leaves out what is not judged
            run[topic][item] = float(score)

    expected = pytrec_eval.RelevanceEvaluator(dict(qrels), {"ndcg"}).evaluate(dict(run))
    for row in table(client, f"{TASK}scores.tsv"):
        assert float(row["nDCG'"]) == pytest.approx(expected[row["topic"]]["ndcg"])
    assert {row["team"] for row in table(client, f"{TASK}scores.tsv")} == {"Alpha"}


def test_the_scores_of_more_runs_take_no_more_queries(scene, client):
    counts = []
    for tags in (["ours"], ["second", "third", "fourth"]):
        for tag in tags:
            submit(scene, tag=tag)
        release(scene)
        table(client, f"{TASK}scores.tsv")  # what a process reads once
        with CaptureQueriesContext(connection) as queries:
            rows = table(client, f"{TASK}scores.tsv")
        assert {row["run"] for row in rows} >= set(tags)
        counts.append(len(queries))

    assert counts[0] == counts[1] < 12


def test_the_archive_has_every_submitted_file_with_its_state(scene, client_of):
    submit(scene)
    withdraw_run(run=submit(scene, tag="late"), reason="A bug", by=scene.organizer, at=AT)
    submit(scene, b"A.1\tno number\n", tag="bad")

    data = content(client_of(scene.organizer), f"{TASK}runs.zip")
    archive = zipfile.ZipFile(io.BytesIO(data))
    manifest = csv.DictReader(io.StringIO(archive.read("manifest.tsv").decode()), delimiter="\t")

    rows = {row["tag"]: row for row in manifest}
    assert archive.read(rows["ours"]["file"]) == RUN
    assert archive.read(rows["bad"]["file"]) == b"A.1\tno number\n"
    assert [(rows[tag]["status"], rows[tag]["reason"]) for tag in ("ours", "late", "bad")] == [
        ("valid", ""),
        ("valid", "A bug"),
        ("invalid", ""),
    ]
    assert rows["late"]["withdrawn"] == "2026-11-21T00:00:00+00:00"


def test_judgments_have_their_history_and_assessors_have_pseudonyms(scene, client_of):
    make_pool(scene.task)
    instance = PoolInstance.objects.order_by("pk").first()
    first = judge(scene.assessor, instance, 3, is_current=False)
    second = judge(scene.assessor, instance, 0, comment="No\tproof\nat all", supersedes=first)
    organizer = client_of(scene.organizer)

    rows = table(organizer, f"{TASK}judgments.tsv")
    named = table(organizer, f"{TASK}judgments-with-names.tsv")

    assert Judgment.objects.count() == 2
    assert [(row["label"], row["word"], row["current"]) for row in rows] == [
        ("3", "High", ""),
        ("0", "Not relevant", "yes"),
    ]
    assert rows[1]["supersedes"] == rows[0]["judgment"] == "1"
    assert rows[1]["comment"] == second.comment
    assert scene.assessor.username not in str(rows)
    assert rows[0]["assessor"] == rows[1]["assessor"] != ""
    assert {row["assessor"] for row in named} == {scene.assessor.username}


def test_the_marks_of_a_judgment_are_exported_as_json(scene, client_of):
    make_pool(scene.task)
    marks = [{"exact": 'it is\t"even"', "formulas": []}]
    instances = PoolInstance.objects.order_by("pk")
    judge(scene.assessor, instances[0], 3, marks=marks)
    judge(scene.assessor, instances[1], 0)

    rows = table(client_of(scene.organizer), f"{TASK}judgments.tsv")

    assert [row["marks"] and json.loads(row["marks"]) for row in rows] == [marks, ""]


def test_judgments_tell_the_version_of_the_guidelines(scene, client_of):
    make_pool(scene.task)
    guideline = write_guideline(task=scene.task, text="<p>Judge.</p>", at=AT, by=None)
    instances = PoolInstance.objects.order_by("pk")
    for place, fields in enumerate([{"guideline": guideline}, {}, {"is_imported": True}]):
        judge(scene.assessor, instances[place], 3, **fields)

    rows = table(client_of(scene.organizer), f"{TASK}judgments.tsv")
    assert [row["guidelines"] for row in rows] == ["1", "0", ""]


def test_the_guidelines_are_downloaded_with_the_cases_of_each_version(scene, client_of):
    for word in ("First", "Second"):
        decision = Decision("It counts.", label=1, place="Round 1")
        record_case(task=scene.task, question=f"{word}?", decision=decision, at=AT, by=None)
        write_guideline(task=scene.task, text=f"<p>{word}.</p>", at=AT, by=None)

    found = json.loads(content(client_of(scene.organizer), f"{TASK}guidelines.json"))
    assert [(each["version"], each["text"]) for each in found] == [
        (1, "<p>First.</p>\n"),
        (2, "<p>Second.</p>\n"),
    ]
    assert [[entry["question"] for entry in each["entries"]] for each in found] == [
        ["First?"],
        ["First?", "Second?"],
    ]


def test_a_pseudonym_is_another_one_in_another_lab(scene, client_of):
    other = make_lab("other")
    names = set()
    for each in (scene, other):
        make_pool(each.task)
        judge(scene.assessor, PoolInstance.objects.filter(item__topic__task=each.task)[0], 3)
        path = f"/labs/{each.lab.slug}/tasks/task1/downloads/judgments.tsv"
        names |= {row["assessor"] for row in table(client_of(each.organizer), path)}

    assert len(names) == 2


def test_organizers_download_teams_and_the_audit_log(scene, client_of):
    submit(scene)
    release(scene)
    organizer = client_of(scene.organizer)
    TeamFactory(lab=scene.lab, name="Gamma", affiliation="Nowhere")

    teams = {row["team"]: (row["email"], row["affiliation"]) for row in table(organizer, TEAMS)}
    assert teams == {
        "Alpha": (scene.member.email, ""),
        "Beta": (scene.other_member.email, ""),
        "Gamma": ("", "Nowhere"),
    }
    event = table(organizer, f"{LAB}audit.tsv")[-1]
    assert (event["by"], event["event"]) == (scene.organizer.username, "leaderboard.release")
    assert json.loads(event["detail"])


@pytest.mark.parametrize(
    "path",
    [f"{LAB}teams.tsv", f"{LAB}audit.tsv"]
    + [TASK + name for name in ("runs.zip", "judgments.tsv", "judgments-with-names.tsv")]
    + [f"{TASK}guidelines.json"],
)
def test_only_organizers_download_what_is_not_published(scene, client, client_of, path):
    people = [scene.outsider, scene.member, scene.assessor, scene.organizer, scene.superuser]
    clients = [client, *map(client_of, people)]

    assert statuses(clients, path) == [404, 404, 404, 404, 200, 200]


def test_the_pages_list_what_the_person_may_download(scene, client, client_of):
    submit(scene)
    release(scene)
    page = client.get("/labs/arqmath-x/tasks/task1/").content.decode()
    assert f'href="{TASK}qrels.tsv"' in page
    assert "runs.zip" not in page

    assert f'href="{TASK}runs.zip"' in (
        client_of(scene.organizer).get("/labs/arqmath-x/tasks/task1/").content.decode()
    )
