"""The page of a lab in numbers, against Table 5 of 003 and the roles that may see it."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from arqlab.core.models import Lab, Topic, User
from assessment.models import Qrel
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, POOR, make_qrels, make_run

# 003, Table 5: topics, judged and relevant items per topic (min, max, mean).
OF_003 = {
    "test": (58, (110, 300, 178.9), (7, 175, 74.0)),
    "train": (12, (143, 214, 177.7), (10, 165, 87.6)),
}


@pytest.mark.shared_data
@pytest.mark.django_db
def test_the_numbers_by_split_are_those_of_the_paper(shared_data: Path, admin_client):
    call_command("load_lab", str(shared_data / "arqmath-2"), stdout=StringIO())
    formulas = Topic.objects.filter(task__lab__slug="arqmath-2", task__slug="task2")
    test = Qrel.objects.filter(qrel_set__name="visual-v2").values("query_id")
    formulas.update(info={"split": "train"})
    formulas.filter(query_id__in=test).update(info={"split": "test"})

    page = admin_client.get("/labs/arqmath-2/counts/")
    rows = [row for row in page.context["judged"].rows if row.qrels.name == "instances"]
    found = {row.part: (row.topics, *rounded(row)) for row in rows}
    assert found.pop("all")[0] == 70
    assert found == OF_003


def rounded(row) -> list[tuple[int, int, float]]:
    sides = [row.judged, row.positive]
    return [(side.least, side.most, round(side.mean, 1)) for side in sides]


def test_the_page_has_topics_teams_and_runs(scene, client_of):
    Topic.objects.create(task=scene.task, query_id="A.8", position=8, info={"category": "proof"})
    info = {"category": "proof", "split": "train"}
    Topic.objects.create(task=scene.task, query_id="A.9", position=9, info=info)
    make_run(scene.team, scene.task)
    make_run(scene.team, scene.task, POOR, tag="apart", out_of_competition="Late.")
    make_run(scene.other_team, scene.task, is_baseline=True)

    page = client_of(scene.organizer).get(url(scene.lab))
    [row] = page.context["submissions"].rows
    assert (row.teams, row.runs, row.baselines) == (1, 1, 1)
    [row] = page.context["attributes"].rows
    assert (row.field, row.value, row.topics, row.train) == ("Category", "proof", 2, 1)


@pytest.mark.parametrize("role", ["visitor", "member", "assessor", "organizer"])
@pytest.mark.parametrize("is_released", [False, True])
def test_only_organizers_see_the_numbers_before_a_release(scene, client_of, role, is_released):
    for name in ("v1", "v2"):
        qrels = make_qrels(scene.task, name=name)
    make_run(scene.team, scene.task)
    score_waiting(at=NOW)
    if is_released:
        release_leaderboard(qrel_set=qrels, by=None, at=NOW)

    user: User | None = scene.people[role]
    page = client_of(user).get(url(scene.lab))
    known = ["v1", "v2"] if role == "organizer" else ["v2"] if is_released else []
    assert [row.qrels.name for row in page.context["judged"].rows] == known
    assert len(page.context["submissions"].rows) == bool(known)


def url(lab: Lab) -> str:
    return reverse("analyses:lab-counts", args=[lab.slug])
