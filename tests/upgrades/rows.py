"""The rows of a frozen database: a small lab with a released leaderboard, and a row in every model.

A later release adds what its own models need; `freeze` refuses to leave one empty.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from allauth.account.models import EmailAddress, EmailConfirmation
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client

from arqlab.core.models import Correction, TopicVersion, TypesetFormula
from arqlab.notices.models import EditedText, MailOptOut
from assessment.models import (
    DismissedFinding,
    DuplicatePosts,
    GuidelineEntry,
    Judgment,
    LateLabel,
    PayRule,
    PoolInstance,
    QrelSet,
    RosterEntry,
    SecondPlan,
    SetAsideTopic,
    TicketPolicy,
    TopicBid,
)
from collection.models import Author, Collection, Comment, PostLink, Tag
from evaluation.models import Erratum, Leaderboard, ScoringFault
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import AnswerId, Run
from tests.assessment.factories import judge
from tests.evaluation.factories import make_run
from tests.factories import Scene, make_lab
from tests.installed import optional
from tests.test_access import fill

AT = datetime(2026, 11, 22, tzinfo=UTC)


def fill_every_model(folder: Path) -> None:
    """Fill the database; the files of the lab's collection are written to a folder first."""
    scene = make_lab()
    fill(scene, folder)
    make_run(scene.other_team, scene.task, {"A.1": ["11", "10"], "A.2": ["12"]}, tag="rival")
    first = scene.task.topics.get(query_id="A.1")
    late = {"A.1": ["10"], "A.2": ["12"]}
    make_run(scene.other_team, scene.task, late, tag="late", is_post_hoc=True)
    for doc_id, label in (("11", 3), ("12", 0)):
        judge(scene.assessor, PoolInstance.official.get(doc_id=doc_id, item__topic=first), label)
    score_waiting(at=AT)
    qrels = QrelSet.objects.get(task=scene.task)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=AT)
    for rows in (_of_people, _of_the_collection, _of_runs, _of_assessment):
        for row in rows(scene):
            row.save()
    Client().force_login(scene.member)  # a session


def empty_models() -> list[str]:
    """Return the models without a row."""
    every = apps.get_models(include_auto_created=True)
    return [model._meta.label for model in every if not model._base_manager.exists()]


def _of_people(scene: Scene) -> Iterator[Model]:
    group, permission = Group.objects.create(name="staff"), Permission.objects.earliest("pk")
    group.permissions.add(permission)
    scene.superuser.groups.add(group)
    scene.superuser.user_permissions.add(permission)
    person, address = scene.superuser, EmailAddress.objects.get(user=scene.outsider)
    yield LogEntry(
        user=person,
        content_type=ContentType.objects.get_for_model(scene.lab),
        object_id=str(scene.lab.pk),
        object_repr=scene.lab.name,
        action_flag=2,
    )
    yield EmailConfirmation(email_address=address, sent=AT, key="k" * 64)
    secret = {"secret": "JBSWY3DPEHPK3PXP"}
    yield Authenticator(user=scene.other_member, type="totp", data=secret)
    browser = {"ip": "127.0.0.1", "user_agent": "Firefox"}
    yield UserSession(user=scene.member, session_key="s" * 40, **browser)
    yield MailOptOut(user=scene.other_member, since=AT)
    yield EditedText(lab=scene.lab, kind="deadline", subject="Soon", text="Submit your runs.")
    author: dict[str, Any] = {"made_by": scene.organizer, "made_at": AT}
    yield Correction(
        lab=scene.lab, kind="formula", key="a^2", digest="d" * 64, value="a^{2}", **author
    )
    topic = scene.task.topics.get(query_id="A.2")
    yield TopicVersion(topic=topic, title="An earlier title", body="<p>Earlier.</p>")
    yield TypesetFormula(
        digest="e" * 64, latex="a^2", is_display=False, mathml="<math></math>", engine="0"
    )


def _of_the_collection(scene: Scene) -> Iterator[Model]:
    collection = {"collection": Collection.objects.get(labs=scene.lab)}
    yield Comment(**collection, comment_id="5", post_id="10", text="Why?", clean_text="Why?")
    yield PostLink(**collection, post_id="1", related_id="2", kind="related", created_at=AT)
    yield Author(**collection, author_id="3", name="Ada", reputation=101, gold=1)
    yield Tag(**collection, name="parity", count=1)


def _of_runs(scene: Scene) -> Iterator[Model]:
    run = Run.objects.get(tag="late")
    yield AnswerId(task=scene.task, run_file="answers.tsv", query_id="A.1", answer_id="A.1-1")
    yield ScoringFault(run=run, qrel_set=scene.task.qrel_sets.get(), attempts=2, failed_at=AT)
    yield Erratum(
        leaderboard=Leaderboard.objects.get(), text="The label of A.1 was wrong.", made_at=AT
    )
    for rows in optional("rows", "rows_of"):
        yield from rows(run)


def _of_assessment(scene: Scene) -> Iterator[Model]:
    task, person = scene.task, scene.assessor
    first, second = task.topics.order_by("position")
    yield RosterEntry(task=task, user=person, hours=8.5, added_by=scene.organizer, added_at=AT)
    yield TopicBid(topic=first, user=person, choice="gladly", changed_at=AT)
    yield SecondPlan(topic=second, assessor=person, planned_by=scene.organizer, planned_at=AT)
    yield SetAsideTopic(
        topic=second, judged=4, relevant=0, probability=0.2, set_aside_at=AT, ended_at=AT
    )
    yield PayRule(lab=scene.lab, hourly_rate="15.50", currency="EUR")
    yield DismissedFinding(task=task, key="k", kind="pace-drift", assessor=person, dismissed_at=AT)
    yield DuplicatePosts(task=task, groups=[["10", "11"]], found_at=AT)
    yield GuidelineEntry(
        task=task, kind="case", since=1, question="And hints?", decision="Low.", decided_at=AT
    )
    yield LateLabel(judgment=Judgment.official.earliest("pk"), cause="role")
    yield TicketPolicy(task=task, actions={})
