"""What takes longer than a page may compute: a job makes it, whichever door it is asked at."""

from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.cache import caches
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse
from django.utils import timezone

from arqlab.core.caches import NotComputedError, cached_value, computed_values, computing_at_most
from arqlab.core.models import Job
from arqlab.jobs.services.computing import FAILED_FOR, KIND, MOST_AN_HOUR, MOST_AT_ONCE
from arqlab.jobs.tasks import run_waiting_jobs
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.installed import installed_pages

COMPUTED = {
    "api-leaderboard",
    "api-run-scores",
    "certificate-detail",
    "comparison",
    "comparison-matrix",
    "correlation-matrix",
    "lab-counts",
    "leaderboard",
    "leaderboard-version",
    "progress",
    "breakdown",
    "run-ranking",
    "run-scores",
    "topic-scores",
}
"""The doors at which something is computed, and those of organizers."""
ORGANIZERS = {"qrels-effect", "provisional-board", "paper-kit-detail", "leaderboard-release"}


@pytest.fixture
def released(scene):
    """Return the scene with a released board of four runs, of which nothing is computed."""
    lists = [["p1", "p2"], ["p2", "p3"], ["p3", "p1"], ["p4", "p1"]]
    topics = ["A.1", "A.2", "A.3"]
    qrels = make_qrels(scene.task, {topic: {"p1": 3, "p2": 0, "p3": 2} for topic in topics})
    runs = [
        make_run(team, scene.task, dict.fromkeys(topics, items), tag=f"run-{number}")
        for number, (team, items) in enumerate(
            zip([scene.team, scene.other_team] * 2, lists, strict=True)
        )
    ]
    score_waiting(at=NOW)
    release_leaderboard(qrel_set=qrels, by=None, at=NOW)
    scene.task.published_runs = "all"
    scene.task.save(update_fields=["published_runs"])
    computed_values.clear()
    return SimpleNamespace(**vars(scene), people=scene.people, runs=runs)


@pytest.fixture
def no_time(monkeypatch):
    """Let no page compute anything."""
    monkeypatch.setattr("arqlab.server.middleware.AT_ONCE", 0.0)


def page(scene, name="evaluation:leaderboard", **query):
    return reverse(name, args=[scene.lab.slug, scene.task.slug], query=query)


def doors(scene):
    """Yield the name and the address of each page, file and API of scores that is only read."""
    known = {
        "lab": scene.lab.slug,
        "task": scene.task.slug,
        "run": scene.runs[0].pk,
        "query_id": "A.1",
        "version": 1,
        "measure": "AP",
        "round": "second-1",
        "instance": 1,
    }
    resolvers = get_resolver().namespace_dict
    patterns = {
        f"{app}:{pattern.name}": pattern
        for app in installed_pages(["evaluation", "analyses", "papers"])
        for pattern in resolvers[app][1].url_patterns
    }
    for page_name, pattern in patterns.items():
        assert isinstance(pattern, URLPattern)
        names = pattern.pattern.converters
        address = reverse(page_name, kwargs={name: known[name] for name in names})
        for query in ("", "?format=tsv", "?also=ERR@20", "?format=tsv&also=ERR@20", "?compute=yes"):
            yield pattern.name, address + query


@pytest.mark.parametrize("role", ["visitor", "organizer"])
def test_no_door_computes_while_its_page_waits(role, released, client_of, no_time):
    client, waiting = client_of(released.people[role]), set()
    for name, address in doors(released):
        computed_values.clear()
        answer = client.get(address)
        status = answer.status_code
        assert status in (200, 202, 302, 404, 405, 429), (address, status)
        waiting |= {name} if status in (202, 429) else set()
        if status == 200:  # what a page computes, it keeps; rows are read, not computed
            kept = [key for key in caches["computed"]._cache if "qrels-frame" not in key]
            assert not kept, address

    theirs = ORGANIZERS if role == "organizer" else set()
    left_out = {"paper-kit-detail"} & theirs if "papers" in settings.WITHOUT else set()
    assert waiting == COMPUTED | theirs - left_out


def test_a_page_says_that_it_is_computed_and_opens_when_it_is(released, no_time):
    client = Client()
    first = client.get(page(released))
    run_waiting_jobs()
    [job] = Job.objects.filter(kind=KIND)
    text = first.content.decode()

    assert (first.status_code, first["Retry-After"]) == (202, "2")
    assert f"computing={job.key.replace(':', '%3A')}" in text
    assert (job.by, job.state) == (None, "done")
    assert client.get(page(released)).status_code == 200
    news = client.get(page(released, computing=job.key), headers={"HX-Request": "true"})
    assert news["HX-Refresh"] == "true"


def test_who_waits_for_the_same_waits_for_one_job(released, no_time):
    job = Job.objects.create(kind=KIND, key="value:1", created_at=NOW, updated_at=timezone.now())
    address = page(released, computing=job.key)

    assert Client().get(address, headers={"HX-Request": "true"}).status_code == 204


def test_a_file_and_the_api_are_computed_too(released, no_time):
    file, api = (
        page(released, format="tsv", also="ERR@20"),
        page(released, "evaluation:api-leaderboard"),
    )
    answers = [Client().get(address) for address in (api, file)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json()["code"] == "being-computed"
    run_waiting_jobs()
    Client().get(file)  # the first job computed what both lacked
    run_waiting_jobs()
    assert "ERR@20" in Client().get(file).content.decode()


def many(count, **fields):
    at = timezone.now()
    common = {"kind": KIND, "created_at": at, "updated_at": at}
    Job.objects.bulk_create(Job(key=f"v:{n}", **common, **fields) for n in range(count))


def test_only_some_pages_are_computed_for_a_visitor_at_once(released, no_time, client_of):
    many(MOST_AT_ONCE, options={"visitor": "address 127.0.0.1"})
    refused = Client().get(page(released))

    assert refused.status_code == 429
    assert f"computes {MOST_AT_ONCE} other pages for you" in refused.content.decode()
    assert client_of(released.member).get(page(released)).status_code == 202


def test_only_some_pages_are_computed_for_an_address_within_an_hour(released, no_time):
    many(MOST_AN_HOUR, options={"visitor": "address 127.0.0.1"}, state="done")

    assert Client().get(page(released)).status_code == 429


def test_a_page_that_failed_is_not_computed_again_at_once(released, no_time, client_of):
    client = client_of(released.member)
    client.get(page(released))
    computed_values.clear()
    Job.objects.update(state="failed", message="It broke.", updated_at=timezone.now())
    failed = client.get(page(released))
    Job.objects.update(updated_at=timezone.now() - 2 * FAILED_FOR)

    assert (failed.status_code, b"It broke." in failed.content) == (503, True)
    assert client.get(page(released)).status_code == 202


def test_a_part_of_a_page_opens_the_whole_page(released, no_time):
    answer = Client().get(page(released), headers={"HX-Request": "true"})

    assert answer["HX-Redirect"] == page(released)


def test_a_job_of_a_visitor_who_lost_the_page_makes_nothing(released, no_time):
    many(1, options={"path": page(released), "query": "", "host": "testserver", "visitor": "x"})
    released.lab.is_public = False
    released.lab.save()
    run_waiting_jobs()

    assert Job.objects.get(kind=KIND).state == "done"
    assert not caches["computed"]._cache


@pytest.mark.parametrize(
    ("role", "text", "is_refused"),
    [
        ("visitor", "ERR@500", True),
        ("visitor", "P(rel=1)@10", True),
        ("visitor", "ERR@20 P@5", False),
        ("member", "ERR@500", False),
    ],
)
def test_visitors_may_ask_for_measures_of_a_list(role, text, is_refused, released, client_of):
    client = client_of(released.people[role])
    for name in ("evaluation:leaderboard", "analyses:correlation-matrix"):
        answer = client.get(page(released, name, also=text)).content.decode()
        assert ("Sign in to ask for" in answer) == is_refused
    file = client.get(page(released, also=text, format="tsv")).content.decode()
    assert (text.split("@")[0] in file) != is_refused


def test_a_value_is_computed_once_within_the_time_that_is_left():
    with computing_at_most(0.3):
        first = [cached_value(f"once:{n}", lambda: 1, work=0.1) for n in (1, 2, 2)]
        with pytest.raises(NotComputedError, match="A job computes it"):
            cached_value("once:3", lambda: 1, work=0.2)

    assert first == [1, 1, 1]
    assert cached_value("once:3", lambda: 1, work=100.0) == 1
