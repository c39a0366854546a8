"""Rows of tables in the API: each table of a page that declares them, with the page's rules."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import get_resolver, reverse

from arqlab.web import ROWS
from assessment.models import Judgment
from tests.assessment.factories import judge, make_pool
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import Scene
from tests.test_access import named_views, parameters_of

pytestmark = pytest.mark.django_db
TASK = "/api/v1/labs/arqmath-x/tasks/task1/"
VALUES = {"lab": "arqmath-x", "task": "task1", "number": 1, "version": 1}
SEARCH = "/api/v1/labs/arqmath-x/systems/"
RELEASED = {"evaluation:api-erratum-list"}
"""The rows of released leaderboards, which everyone sees, and which the scene lacks."""
ROLES = ("outsider", "member", "assessor", "organizer")


def addresses() -> list[str]:
    """Return the path of each address of the API that has rows."""
    views = [*named_views(get_resolver().url_patterns)]
    names = [name for name, view in views if getattr(view, "page", None) and ":api-" in name]
    pages = [name for name, view in views if name in names and view.page.api == ROWS]
    return [
        reverse(name, kwargs={k: VALUES[k] for k in parameters_of(name)})
        for name in pages
        if name not in RELEASED
    ]


@pytest.fixture
def judged(scene: Scene) -> Scene:
    """Return the scene with a pool, two judgments, the second of which replaces the first."""
    pool = make_pool(scene.task, {"A.1": ["10", "11"], "A.2": ["12"]})
    instance = pool.items.get(item="10").instances.get()
    first = judge(scene.assessor, instance, 2, is_current=False)
    later = first.judged_at + timedelta(minutes=1)
    judge(scene.assessor, instance, 3, supersedes=first, judged_at=later)
    make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    return scene


@pytest.mark.needs("retrieval")
def test_each_page_with_rows_answers_its_own_people_and_nobody_else(
    judged: Scene, client_of: Any
) -> None:
    paths = addresses()
    opened = {
        role: [p for p in paths if client_of(getattr(judged, role)).get(p).status_code == 200]
        for role in ROLES
    }

    assert len(paths) > 7
    assert opened == {"outsider": [], "member": []} | {"organizer": paths, "assessor": [SEARCH]}
    for path in paths:
        for table in client_of(judged.organizer).get(path).json()["tables"]:
            answer = client_of(judged.organizer).get(path, {"table": table}).json()
            assert answer["count"] == len(answer["results"])
            assert answer["next"] is answer["previous"] is None
            assert "<" not in str(answer["results"])  # what programs read is no HTML


def test_rows_are_those_of_the_page_with_keys_and_figures(judged: Scene, client_of: Any) -> None:
    def rows(path: str) -> Any:
        return client_of(judged.organizer).get(path).json()["results"]

    [pool], [version] = rows(f"{TASK}pools/"), rows(f"{TASK}qrels/")
    teams = rows("/api/v1/labs/arqmath-x/teams/")

    assert (pool["number"], pool["Items"], pool["Judged"]) == (1, 3, 1)
    assert (version["Version"], version["Lines"], len(version["SHA-256"])) == (1, 2, 64)
    assert [(team["id"], team["Team"], team["Members"]) for team in teams] == [
        (judged.team.pk, "Alpha", 1),
        (judged.other_team.pk, "Beta", 1),
    ]
    assert [row["Topic"] for row in rows(f"{TASK}qrels/?table=topics")] == ["A.1", "A.2"]
    assert client_of(judged.organizer).get(f"{TASK}qrels/?table=none").status_code == 404


def test_judgments_have_their_history_and_those_since_a_time(judged: Scene, client_of: Any) -> None:
    client = client_of(judged.organizer)
    first, second = Judgment.objects.order_by("pk")
    rows = client.get(f"{TASK}judgments/").json()["results"]
    since = client.get(f"{TASK}judgments/", {"since": first.judged_at.isoformat()}).json()
    none = client.get(f"{TASK}judgments/?topic=A.2").json()

    assert [(row["id"], row["label"], row["supersedes"]) for row in rows] == [
        (first.pk, 2, None),
        (second.pk, 3, first.pk),
    ]
    assert [row["id"] for row in since["results"]] == [second.pk]
    assert none["count"] == 0
    assert {row["assessor"] for row in rows}.isdisjoint({judged.assessor.username})


@pytest.mark.parametrize("asked", ["since=yesterday", "topic=X.9"])
def test_a_filter_that_cannot_be_is_refused_and_not_ignored(
    judged: Scene, client_of: Any, asked: str
) -> None:
    answer = client_of(judged.organizer).get(f"{TASK}judgments/?{asked}")

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert [problem["field"] for problem in answer.json()["errors"]] == [asked.partition("=")[0]]


def test_long_rows_come_in_pages(scene: Scene, client_of: Any) -> None:
    for number in range(101):
        scene.lab.audit_events.create(verb="lab.edit", target=str(number))
    client, path = client_of(scene.organizer), "/api/v1/labs/arqmath-x/audit/"
    first = client.get(path, {"verb": "lab.edit"}).json()
    last = client.get(first["next"]).json()

    assert (first["count"], len(first["results"]), len(last["results"])) == (101, 100, 1)
    assert last["next"] is None
    assert client.get(last["previous"]).json()["results"] == first["results"]


@pytest.mark.parametrize(
    ("asked", "tags"),
    [("team=Alpha", ["a"]), ("standing=official", ["b", "a"]), ("state=withdrawn", [])],
)
def test_runs_by_team_standing_and_state(
    scene: Scene, client_of: Any, asked: str, tags: list[str]
) -> None:
    make_run(scene.team, scene.task, {"A.1": ["10"]}, tag="a")
    make_run(scene.other_team, scene.task, {"A.1": ["11"]}, tag="b")
    client = client_of(scene.organizer)

    found = client.get(f"{TASK}runs/?{asked}").json()
    assert [run["tag"] for run in found["results"]] == tags
    assert client.get(f"{TASK}runs/?standing=none").status_code == 400
