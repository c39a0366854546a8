"""No address and no format shows a team what it must not see: unreleased runs of other teams,
names of assessors, comments, and unreleased labels.

Each secret is a word that occurs nowhere else. The organizer, who may see all of them, must find
each, so that the search proves something.
"""

import io
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import get_resolver

from arqlab.core.models import Task
from assessment.models import QrelSet
from evaluation.models import Leaderboard
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.factories import assign
from tests.assessment.judging.desk import Desk
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import AssessorFactory, Scene, make_lab
from tests.test_access import address, fill, named_addresses

pytestmark = pytest.mark.once
NOW = datetime(2026, 11, 22, tzinfo=UTC)
UNTIL_THE_RELEASE = {"rival-run": "run of another team", "47114711": "labelled item"}
ALWAYS = {
    "rival-late": "post-hoc run of another team",
    "rival-check": "checked run of another team",
    "rival-described": "description of a run of another team",
    "48154815": "item in qrels that are not released",
    "Judgename": "name of an assessor",
    "judge-user": "user name of an assessor",
    "judge-mail": "email address of an assessor",
    "quiet-comment": "comment on a judgment",
}
LIVE = "live=1&qrels=v1&also=ERR@20&chart=MAP'&judged=1"
OTHERS = "qrels=v2&before=1&after=2&first=1&second=2&part=state"
REFUSED = (LIVE, f"{LIVE}&format=tsv")
SHOWN = (*REFUSED, OTHERS, *(f"format={name}" for name in ("tsv", "csv", "json", "latex", "zip")))
WITH_FORMATS = (
    "evaluation:",
    "analyses:",
    "submissions:",
    "assessment:qrels",
    "desk:run",
    "desk:task",
)
NOT_OF_A_TASK = ("account", "mfa", "admin", "server:api-schema", "server:api-docs")


class Secret(NamedTuple):
    """A filled lab with secrets, and the run of team Alpha."""

    scene: Scene
    run: Run
    paths: dict[str, str]


@pytest.fixture(scope="module")
def secret(kept_db: None, tmp_path_factory) -> Secret:
    scene = make_lab()
    run = fill(scene, tmp_path_factory.mktemp("secret"))
    judge = AssessorFactory(
        lab=scene.lab,
        user__username="judge-user",
        user__first_name="Judgename",
        user__email="judge-mail@example.org",
    ).user
    assign(judge, scene.task.topics.get(query_id="A.2"))
    desk = Desk(judge, "A.2")
    item = desk.next()
    desk.submit(item, *[2] * len(item["instances"]), comment="quiet-comment")
    make_qrels(scene.task, {"A.1": {"10": 3, "48154815": 2}, "A.2": {"12": 2}})
    rival = {"A.1": ["10", "11"], "A.2": ["12"]}
    make_run(scene.other_team, scene.task, rival, tag="rival-run", description="rival-described")
    make_run(scene.other_team, scene.task, rival, tag="rival-late", is_post_hoc=True)
    make_run(scene.other_team, scene.task, rival, tag="rival-check", check_only=True)
    score_waiting(at=NOW)
    names = [
        name
        for name in sorted(named_addresses(get_resolver().url_patterns))
        if not name.startswith(NOT_OF_A_TASK)
    ]
    return Secret(scene, run, {name: address(name, scene, run.pk) for name in names})


def client_for(person: Any) -> Client:
    client = Client(raise_request_exception=False)
    if not isinstance(person, AnonymousUser):
        client.force_login(person)
    return client


def text_of(answer: Any) -> str:
    """Return the text of an answer with its headers, and of the files in an archive."""
    content = answer.getvalue() if answer.streaming else answer.content
    parts = [str(answer.headers).encode(), content]
    if content[:4] == b"PK\x03\x04":
        archive = zipfile.ZipFile(io.BytesIO(content))
        parts += [name.encode() + archive.read(name) for name in archive.namelist()]
    return b"\n".join(parts).decode("utf-8", "replace")


def answers(secret: Secret, person: Any) -> Iterator[tuple[str, str]]:
    """Yield what a user gets from each address, in each format, and with parameters."""
    client = client_for(person)
    for name, path in secret.paths.items():
        plain = client.get(path)
        others = REFUSED if plain.status_code == 404 else SHOWN
        urls = [f"{path}?{query}" for query in others if name.startswith(WITH_FORMATS)]
        for url, answer in [(path, plain), *((url, client.get(url)) for url in urls)]:
            assert answer.status_code < 500, url
            if answer.status_code == 200:
                yield url, text_of(answer)


def bring_to(state: str, scene: Scene) -> None:
    Task.objects.filter(pk=scene.task.pk).update(shows_own_scores=True)
    if state != "before the release":
        qrels = QrelSet.objects.get(task=scene.task, name="v1")
        release_leaderboard(qrel_set=qrels, by=None, at=NOW)
    if state == "hidden again":
        Leaderboard.objects.update(hidden_at=NOW + timedelta(days=1))


@pytest.mark.parametrize("state", ["before the release", "released", "hidden again"])
@pytest.mark.parametrize("role", ["visitor", "member", "assessor"])
def test_nobody_reads_a_secret(role, state, secret, db):
    bring_to(state, secret.scene)
    words = ALWAYS | ({} if state == "released" else UNTIL_THE_RELEASE)

    found = [
        (url, words[word])
        for url, text in answers(secret, secret.scene.people[role])
        for word in words
        if word in text
    ]

    assert found == []


def test_the_organizer_reads_every_secret(secret, db):
    bring_to("before the release", secret.scene)
    words = set(ALWAYS | UNTIL_THE_RELEASE)

    for _, text in answers(secret, secret.scene.organizer):
        words -= {word for word in words if word in text}
        if not words:
            break

    assert words == set()


def test_everyone_reads_what_is_released(secret, db):
    bring_to("released", secret.scene)
    words = set(UNTIL_THE_RELEASE)

    for _, text in answers(secret, AnonymousUser()):
        words -= {word for word in words if word in text}
        if not words:
            break

    assert words == set()
