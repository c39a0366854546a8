"""After a release, everyone opens the rankings and the certificate of the runs that a task
publishes, and of no others: for each role, setting and state, on all pages and in all files.

Each run has an item that no other run has, so that a page that shows its ranking shows its name.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest
from django.urls import get_resolver, reverse

from analyses.services.certificates import certify_released
from arqlab.core.caches import computed_values
from arqlab.core.models import Task
from assessment.models import QrelSet
from evaluation.models import Leaderboard
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from tests.evaluation.factories import made_by_job, make_run
from tests.factories import Scene, make_lab
from tests.test_access import address, fill, named_addresses, parameters_of
from tests.test_secrets import NOT_OF_A_TASK, client_for, text_of

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 22, tzinfo=UTC)
KINDS: dict[str, dict[str, Any]] = {
    "prime": {"is_primary": True},
    "other": {},
    "basic": {"is_baseline": True},
    "apart": {"out_of_competition": "Made by the organizers."},
    "later": {"is_post_hoc": True},
    "taken": {},
}
"""The runs of team Beta: a primary and an alternate run, a baseline, a run out of competition, a
post-hoc run, and one withdrawn after the release, which stays published. Team Alpha has the run
`ours`, not primary."""
PUBLISHED = {
    "all": {"ours", "prime", "other", "basic", "apart", "taken"},
    "primary": {"prime", "basic"},
    "none": set(),
}
OWN = {"member": {"ours"}, "other_member": set(KINDS)}
COUNTING = {"ours", "prime", "other", "basic"}
ORGANIZING = {"organizer", "superuser"}
ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
CLOSED = (("all", "unreleased"), ("all", "hidden again"))


class Published(NamedTuple):
    """A filled lab with its runs by tag."""

    scene: Scene
    runs: dict[str, Run]


def item_of(tag: str) -> str:
    return f"item-only-in-{tag}"


@pytest.fixture(scope="module")
def published(kept_db: None, tmp_path_factory) -> Published:
    scene = make_lab()
    fill(scene, tmp_path_factory.mktemp("published"))
    Run.objects.all().delete()
    teams = {"ours": scene.team} | dict.fromkeys(KINDS, scene.other_team)
    for tag, team in teams.items():
        lists = {"A.1": ["10", item_of(tag)], "A.2": ["12"]}
        make_run(team, scene.task, lists, tag=tag, **KINDS.get(tag, {}))
    score_waiting(at=NOW)
    return Published(scene, {run.tag: run for run in Run.objects.all()})


def bring_to(state: str, setting: str, published: Published) -> None:
    Task.objects.update(published_runs=setting)
    if state != "unreleased":
        qrels = QrelSet.objects.get(task=published.scene.task)
        release_leaderboard(qrel_set=qrels, by=None, at=NOW)
        gone = Run.objects.get(pk=published.runs["taken"].pk)
        withdraw_run(run=gone, reason="A mistake.", by=published.scene.organizer, at=NOW)
        certify_released()
    if state == "hidden again":
        Leaderboard.objects.update(hidden_at=NOW)


def url_of(name: str, published: Published, *rest: object, **query: Any) -> str:
    place = published.scene.lab.slug, published.scene.task.slug
    return reverse(name, args=[*place, *rest], query=query)


def expected(role: str, setting: str, state: str) -> set[str]:
    """Return the tags of the runs that a user without the role of an organizer opens."""
    return PUBLISHED[setting] | OWN.get(role, set()) if state == "released" else set()


matrix = pytest.mark.parametrize(
    ("role", "setting", "state"),
    [
        (role, setting, state)
        for role in ROLES
        for setting, state in [*((one, "released") for one in PUBLISHED), *CLOSED]
    ],
)


@matrix
def test_the_rankings_of_published_and_own_runs_open(role, setting, state, published, db):
    bring_to(state, setting, published)
    client = client_for(published.scene.people[role])

    opened = {
        tag
        for tag, run in published.runs.items()
        if client.get(url_of("evaluation:run-ranking", published, run.pk, "A.1")).status_code == 200
    }

    on_boards = set(published.runs) - ({"taken"} if state == "hidden again" else set())
    may = on_boards if role in ORGANIZING else expected(role, setting, state)
    assert opened == may
    page = client.get(url_of("evaluation:topic-scores", published, "A.1")).text
    numbers = set(map(int, re.findall(r"/runs/(\d+)/scores/A\.1/", page)))
    linked = {tag for tag, run in published.runs.items() if run.pk in numbers}
    assert linked == may - {"later"}  # which is on the page of its run only


@matrix
def test_the_certificate_has_the_published_and_own_runs(role, setting, state, published, db):
    bring_to(state, setting, published)
    client = client_for(published.scene.people[role])
    url = url_of("analyses:certificate-detail", published, 1)
    if role in ORGANIZING:
        made_by_job(client, url)
    page = client.get(url)
    files = [client.get(f"{url}?format=tsv&part={part}") for part in ("teams", "runs")]

    is_open = role in ORGANIZING or (state == "released" and setting != "none")
    assert {answer.status_code for answer in (page, *files)} == ({200} if is_open else {404})
    if is_open:
        may = set(published.runs) if role in ORGANIZING else expected(role, setting, state)
        counting = COUNTING | ({"taken"} if state != "hidden again" else set())
        for text in map(tables_of, (page, *files)):
            listed = {tag for tag in published.runs if re.search(rf"\b{tag}\b", text)}
            assert listed == may & counting


def tables_of(answer: Any) -> str:
    """Return a file, or the table of runs and the data of the chart of a page."""
    text = text_of(answer)
    parts = re.findall(r'<table[^>]*id="runs".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    data = re.findall(r'"runs-data" type="application/json">(.*?)</script>', text, re.DOTALL)
    return re.sub(r"<[^>]*>", " ", parts[0]) + data[0] if parts else text


@pytest.mark.parametrize(
    ("setting", "links"),
    [("all", (True, True)), ("primary", (True, True)), ("none", (True, False))],
)
def test_the_board_leads_a_visitor_to_labels_and_certificate(setting, links, published, db):
    bring_to("released", setting, published)
    page = (
        client_for(published.scene.people["visitor"])
        .get(url_of("evaluation:leaderboard", published))
        .text
    )

    certificate = url_of("analyses:certificate-detail", published, 1)
    assert ("/downloads/qrels.tsv" in page, f'href="{certificate}"' in page) == links


@pytest.mark.parametrize(("tag", "is_open"), [("prime", True), ("other", False)])
def test_a_cell_leads_a_visitor_to_scores_by_topic_and_to_the_ranking(tag, is_open, published, db):
    bring_to("released", "primary", published)
    client, run = client_for(published.scene.people["visitor"]), published.runs[tag]
    board = client.get(url_of("evaluation:leaderboard", published)).text
    [cell, *_] = re.findall(rf'<a href="({run.pk}/[^"]*)">', board)

    scores = client.get(url_of("evaluation:leaderboard", published) + cell, follow=True)

    assert scores.status_code == 200
    assert (url_of("evaluation:run-ranking", published, run.pk, "A.1") in scores.text) == is_open


def pages(published: Published, role: str) -> Iterator[tuple[str, str]]:
    """Yield all addresses that answer a user, those of runs for each run, with their text."""
    client = client_for(published.scene.people[role])
    for name in sorted(named_addresses(get_resolver().url_patterns)):
        if name.startswith(NOT_OF_A_TASK) or "task" not in parameters_of(name):
            continue
        runs = list(published.runs.values())
        for run in runs if "run" in parameters_of(name) else runs[:1]:
            path = address(name, published.scene, run.pk)
            queries = (
                [f"?beside={one.pk}" for one in runs] if "ranking" in name else ["?format=tsv"]
            )
            for url in (path, *(f"{path}{query}" for query in queries)):
                answer = client.get(url)
                if answer.status_code == 200:
                    yield url, text_of(answer)


@pytest.mark.parametrize(
    ("role", "setting"), [("visitor", "none"), ("visitor", "primary"), ("member", "primary")]
)
def test_no_address_shows_what_an_unpublished_run_retrieved(role, setting, published, db):
    bring_to("released", setting, published)

    shown = {
        (tag, url if tag not in expected(role, setting, "released") else "")
        for url, text in pages(published, role)
        for tag in published.runs
        if item_of(tag) in text
    }

    assert shown == {(tag, "") for tag in expected(role, setting, "released")}


def test_a_visitor_computes_no_certificate(published, db):
    bring_to("released", "all", published)
    computed_values.clear()
    client = client_for(published.scene.people["visitor"])
    url = url_of("analyses:certificate-detail", published, 1)

    client.post(url)
    assert "has not been computed yet" in client.get(url).text
    certify_released()
    assert 'id="runs"' in client.get(url).text
