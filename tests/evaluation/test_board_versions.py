"""Earlier released versions of a leaderboard: what each role sees, and in which formats."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from evaluation.models import Leaderboard
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

ROLES = ("visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser")
LATER = NOW + timedelta(days=1)
REASON = "The labels of A.1 were corrected."


@pytest.fixture
def corrected(scene):
    """Return the scene with two released versions; the run beta is withdrawn before the second."""
    first = make_qrels(scene.task, name="first")
    second = make_qrels(scene.task, {"A.1": {"p3": 3, "p1": 0}}, name="second")
    make_run(scene.team, scene.task, GOOD, tag="alpha-run")
    beta = make_run(scene.other_team, scene.task, POOR, tag="beta-run")
    score_waiting(at=NOW)
    apart = {beta.pk: "It read the qrels."}
    release_leaderboard(qrel_set=first, by=scene.organizer, at=NOW, apart=apart)
    Run.objects.filter(pk=beta.pk).update(withdrawn_at=NOW)
    release_leaderboard(qrel_set=second, by=None, at=LATER, reason=REASON)
    return SimpleNamespace(**vars(scene), people=scene.people, beta=beta)


def board_url(scene, version: int = 0, **query: str) -> str:
    page, more = ("leaderboard-version", [version]) if version else ("leaderboard", [])
    return reverse(f"evaluation:{page}", args=[scene.lab.slug, scene.task.slug, *more], query=query)


@pytest.mark.parametrize("role", ROLES)
def test_everyone_opens_each_version_that_is_not_hidden(role, corrected, client_of):
    client = client_of(corrected.people[role])
    board = client.get(board_url(corrected)).content.decode()
    old = client.get(board_url(corrected, 1)).content.decode()

    assert f'href="{board_url(corrected, 1)}"' in board
    assert REASON in board
    assert "beta-run" in old
    organizes = role in {"organizer", "superuser"}
    assert ("It read the qrels." in old) is organizes
    assert client.get(board_url(corrected, 3)).status_code == 404


@pytest.mark.parametrize("role", ROLES)
def test_nobody_opens_a_hidden_version_even_after_another_release(role, corrected, client_of):
    hide_leaderboard(task=corrected.task, by=None, at=LATER)
    client = client_of(corrected.people[role])
    hidden = [client.get(board_url(corrected, number)).status_code for number in (1, 2)]
    Leaderboard.objects.filter(version=2).update(hidden_at=None)

    assert hidden == [404, 404]
    assert client.get(board_url(corrected, 1)).status_code == 404
    assert client.get(board_url(corrected, 2)).status_code == 200
    assert (
        f'href="{board_url(corrected, 1)}"' not in client.get(board_url(corrected)).content.decode()
    )


@pytest.mark.parametrize("format_", ["csv", "json", "latex"])
def test_each_version_and_each_qrels_have_their_files(format_, corrected, client_of):
    visitor, organizer = (client_of(corrected.people[one]) for one in ("visitor", "organizer"))
    old = visitor.get(board_url(corrected, 1, format=format_))
    by_qrels = organizer.get(board_url(corrected, qrels="first", format=format_))
    new = visitor.get(board_url(corrected, 2, format=format_))

    assert f'-first-version-1.{format_.replace("latex", "tex")}"' in old["Content-Disposition"]
    assert [b"beta-run" in one.content for one in (old, by_qrels, new)] == [True, False, False]
    assert all(b"alpha-run" in one.content for one in (old, by_qrels, new))
    assert by_qrels.content != new.content
    assert visitor.get(board_url(corrected, 1, format="xml")).status_code == 404
    assert visitor.get(board_url(corrected, qrels="first", format=format_)).status_code == 404


def test_a_version_leads_only_to_what_the_reader_may_open(corrected, client_of):
    page = f"../../../runs/{corrected.beta.pk}/"

    texts = {
        role: client_of(corrected.people[role]).get(board_url(corrected, 1)).content.decode()
        for role in ("visitor", "other_member", "organizer")
    }
    assert {role: page in text for role, text in texts.items()} == {
        "visitor": False,
        "other_member": True,
        "organizer": True,
    }
    assert "/scores/" in texts["visitor"]


def test_the_first_release_has_no_list_of_versions(scene, client_of):
    qrels = make_qrels(scene.task)
    make_run(scene.team, scene.task)
    release_leaderboard(qrel_set=qrels, by=None, at=NOW)

    assert (
        "<h2>Releases</h2>"
        not in client_of(scene.people["visitor"]).get(board_url(scene)).content.decode()
    )


def test_an_organizer_hides_an_earlier_version_alone(corrected, client_of):
    hide = reverse("evaluation:leaderboard-hide", args=[corrected.lab.slug, corrected.task.slug])
    organizer, visitor = (client_of(corrected.people[one]) for one in ("organizer", "visitor"))
    assert "Hide version 1" in organizer.get(board_url(corrected)).content.decode()

    for version in ("2", "x", "9" * 5000, "1"):
        organizer.post(hide, {"version": version})
    assert visitor.get(board_url(corrected, 1)).status_code == 404
    assert visitor.get(board_url(corrected, 2)).status_code == 200
    assert "Hide version" not in organizer.get(board_url(corrected)).content.decode()
    event = AuditEvent.objects.get(verb="leaderboard.hide-version")
    assert event.detail["version"] == 1
