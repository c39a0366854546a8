"""The tabs of labs and tasks."""

import re

import pytest
from django.utils import timezone

from arqlab.core.models import Job, Lab
from tests.desk.views.test_home import text_of

LAB, TASK = "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"
ALL = [
    "Overview",
    "Topics",
    "Runs",
    "Pools",
    "Judging",
    "Rounds",
    "Qrels",
    "Leaderboard",
    "Settings",
]
OF_LAB = [
    "Overview",
    "Judging",
    "Search",
    "Collection",
    "People",
    "Messages",
    "Tickets",
    "Audit log",
    "Settings",
]


def tabs(client, path: str) -> list[tuple[str, str]]:
    """Return the words of each tab, and its aria-current."""
    page = re.search('<nav class="tabs".*?</nav>', text_of(client.get(path)), re.DOTALL)
    found = re.findall(r'<a href="[^"]*"(?: aria-current="(\w+)")?>([^<]*)</a>', page[0])
    return [(words, current) for current, words in found]


@pytest.mark.parametrize(
    ("role", "path", "expected"),
    [
        ("visitor", TASK, ["Overview", "Topics", "Leaderboard"]),
        ("outsider", TASK, ["Overview", "Topics", "Leaderboard"]),
        ("member", TASK, ["Overview", "Topics", "Runs", "Leaderboard"]),
        ("assessor", TASK, ["Overview", "Topics", "Judging", "Leaderboard"]),
        ("organizer", TASK, ALL),
        ("superuser", TASK, ALL),
        ("visitor", LAB, ["Overview"]),
        ("member", LAB, ["Overview"]),
        ("assessor", LAB, ["Overview", "Judging", "Search"]),
        ("organizer", LAB, OF_LAB),
    ],
)
def test_a_person_has_the_tabs_of_their_role(scene, client_of, role, path, expected):
    assert [words for words, _ in tabs(client_of(scene.people[role]), path)] == expected


@pytest.mark.parametrize("path", [LAB, TASK])
@pytest.mark.parametrize("role", ["visitor", "outsider", "member", "assessor", "organizer"])
def test_every_tab_opens(scene, client_of, role, path):
    client = client_of(scene.people[role])
    nav = re.search('<nav class="tabs".*?</nav>', text_of(client.get(path)), re.DOTALL)[0]

    assert {client.get(address).status_code for address in re.findall('href="(.*?)"', nav)} == {200}


@pytest.mark.parametrize(
    ("path", "current"),
    [
        (LAB, ("Overview", "page")),
        (f"{LAB}edit/", ("Settings", "page")),
        (f"{LAB}new-task/", ("Settings", "true")),
        (f"{LAB}people/", ("People", "page")),
        (f"{LAB}collection/load/", ("Collection", "true")),
        (TASK, ("Overview", "page")),
        (f"{TASK}topics/", ("Topics", "page")),
        (f"{TASK}topics/A.1/", ("Topics", "true")),
        (f"{TASK}load/topics/", ("Topics", "true")),
        (f"{TASK}load/judgments/", ("Judging", "true")),
        (f"{TASK}runs/upload/", ("Runs", "true")),
        (f"{TASK}pools/plan/", ("Pools", "true")),
        (f"{TASK}guidelines/", ("Judging", "true")),
        (f"{TASK}qrels/diff/", ("Qrels", "true")),
        (f"{TASK}leaderboard/", ("Leaderboard", "page")),
        (f"{TASK}edit/", ("Settings", "page")),
        (f"{TASK}delete/", ("Settings", "true")),
    ],
)
def test_one_tab_is_current(scene, client_of, path, current):
    found = tabs(client_of(scene.organizer), path)

    assert [tab for tab in found if tab[1]] == [current]


@pytest.mark.parametrize(
    ("kind", "current"), [("topics", "Topics"), ("qrels", "Qrels"), ("judgments", "Judging")]
)
def test_the_page_of_a_load_is_in_the_section_it_is_for(scene, client_of, kind, current):
    now = timezone.now()
    load = Job.objects.create(
        kind=kind, lab=scene.lab, task=scene.task, created_at=now, updated_at=now
    )

    found = tabs(client_of(scene.organizer), f"/loads/{load.pk}/")

    assert [tab for tab in found if tab[1]] == [(current, "true")]


@pytest.mark.parametrize("path", ["/", "/labs/", "/account/"])
def test_pages_of_no_lab_have_no_tabs(scene, client_of, path):
    assert 'class="tabs"' not in text_of(client_of(scene.organizer).get(path))


def test_an_invitation_to_a_draft_has_no_tabs(scene, client_of):
    Lab.objects.update(is_public=False)

    page = text_of(client_of(scene.outsider).get(f"/join/{scene.team.invitation_token}/"))

    assert scene.team.name in page
    assert 'class="tabs"' not in page
