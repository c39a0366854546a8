"""Post-hoc runs: submitted by a team after the deadline, scored, and never official."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.http import Http404
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arqkit.protocols.presets import PoolProtocol
from arqlab.core.errors import UserError
from arqlab.core.models import User
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.sources import task_sources
from evaluation.permissions import board_with_run, may_see_scores, score_access_of, visible_board
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.selectors import quotas_of, run_map
from submissions.services.changing import correct_run, mark_primary, metadata_of, submit_checked_run
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, submit_upload
from tests.evaluation.factories import (
    GOOD,
    MORE_LISTS,
    MORE_QRELS,
    POOR,
    QRELS,
    make_qrels,
    make_run,
)
from tests.factories import Scene
from tests.submissions.factories import sent

pytestmark = pytest.mark.django_db
PRIMARY = "Alpha-task1-bm25-auto-both-P.tsv"
SEES_THE_SCORES = {"member", "organizer", "superuser"}


@pytest.fixture
def over(scene: Scene) -> Scene:
    """A task after its deadline that takes post-hoc runs."""
    scene.task.deadline = timezone.now() - timedelta(days=1)
    scene.task.takes_post_hoc_runs = True
    scene.task.save()
    return scene


def submit(scene: Scene, by: User | None = None, name: str = PRIMARY) -> Run:
    upload = {"file": sent(name=name), "task": scene.task, "team": scene.team}
    return submit_upload(**upload, by=by or scene.member, at=timezone.now())[0]


def test_a_run_after_the_deadline_is_post_hoc_and_not_primary(over: Scene) -> None:
    run = submit(over)
    assert (run.is_post_hoc, run.is_primary) == (True, False)


@pytest.mark.parametrize("reason", ["not chosen", "archived"])
def test_other_tasks_take_no_run_after_the_deadline(over: Scene, reason: str) -> None:
    over.task.takes_post_hoc_runs = reason != "not chosen"
    over.task.archived_at = timezone.now() if reason == "archived" else None
    with pytest.raises(UserError, match="closed on"):
        submit(over)


def test_a_run_in_time_and_an_organizers_late_run_are_official(over: Scene) -> None:
    late = submit(over, by=over.organizer)
    over.task.deadline = None
    in_time = submit(over, name="Alpha-task1-lm-auto-both-A.tsv")
    assert not late.is_post_hoc
    assert not in_time.is_post_hoc


def test_post_hoc_runs_have_a_quota_of_their_own(over: Scene) -> None:
    over.task.overrides = {"quota": 1}
    over.task.save()
    over.task.__dict__.pop("protocol", None)
    make_run(over.team, over.task)
    submit(over)
    assert [quota.left for quota in quotas_of([over.team], over.task)] == [0]
    with pytest.raises(UserError, match="0 of its 1 post-hoc runs"):
        submit(over, name="Alpha-task1-lm-auto-both-A.tsv")


def test_a_checked_run_is_post_hoc_when_it_is_submitted(over: Scene) -> None:
    upload = {"file": sent(name=PRIMARY), "task": over.task, "team": over.team}
    run = check_upload(**upload, by=over.member, at=timezone.now())[0]
    submit_checked_run(run=run, by=over.member, at=timezone.now())
    run.refresh_from_db()
    assert (run.check_only, run.is_post_hoc, run.is_primary) == (False, True, False)


def test_only_post_hoc_runs_can_be_changed_after_the_deadline(over: Scene) -> None:
    official = make_run(over.team, over.task, tag="official")
    late = make_run(over.team, over.task, tag="afterwards", is_post_hoc=True)
    now = timezone.now()
    correct_run(run=late, metadata=_renamed(late, "later"), by=over.member, at=now)
    assert Run.objects.get(pk=late.pk).tag == "later"
    with pytest.raises(UserError, match="closed on"):
        correct_run(run=official, metadata=_renamed(official, "x"), by=over.member, at=now)


def test_a_post_hoc_run_cannot_become_primary(over: Scene) -> None:
    official = make_run(over.team, over.task, tag="official", is_primary=True)
    late = make_run(over.team, over.task, tag="afterwards", is_post_hoc=True)
    metadata, now = _renamed(late, late.tag, is_primary=True), timezone.now()
    with pytest.raises(UserError, match="cannot be primary"):
        mark_primary(run=late, by=over.member, at=now)
    with pytest.raises(UserError, match="cannot be primary"):
        correct_run(run=late, metadata=metadata, by=over.member, at=now)
    assert Run.objects.get(pk=official.pk).is_primary


def test_only_pools_that_include_them_have_post_hoc_runs(over: Scene) -> None:
    official = make_run(over.team, over.task, tag="official")
    late = make_run(over.team, over.task, tag="afterwards", is_post_hoc=True)

    def pooled(**settings: bool) -> set[int]:
        choice = PoolChoice(PoolProtocol(primary=2, alternate=2, **settings), seed=1)
        return {run.pk for run in task_sources(over.task, choice).runs}

    assert pooled() == {official.pk}
    assert pooled(includes_post_hoc_runs=True) == {official.pk, late.pk}


@pytest.fixture
def scored(over: Scene) -> tuple[Scene, Run, Run]:
    """A scored official run and a scored post-hoc run of the same team."""
    make_qrels(over.task, QRELS | MORE_QRELS)
    official = make_run(over.team, over.task, POOR, tag="official")
    lists = GOOD | MORE_LISTS
    late = make_run(over.team, over.task, lists, tag="afterwards", is_post_hoc=True)
    score_waiting(at=timezone.now())
    return over, official, late


@pytest.mark.parametrize("role", ["member", "other_member", "visitor", "assessor", "organizer"])
@pytest.mark.parametrize("state", ["hidden", "own shown", "released"])
def test_no_board_or_file_has_post_hoc_runs_and_only_its_team_sees_the_scores(
    scored: tuple[Scene, Run, Run], client: Client, role: str, state: str
) -> None:
    scene, official, late = scored
    task, person = scene.task, scene.people[role]
    if state == "released":
        release_leaderboard(qrel_set=task.qrel_sets.get(), by=None, at=timezone.now())
    task.shows_own_scores = state == "own shown"
    task.save()
    access = score_access_of(person, task)
    shown = visible_board(access)
    assert late.pk not in {row.run.key for row in shown.board.rows} if shown else True

    sees = role in SEES_THE_SCORES and (state == "released" or role == "organizer")
    assert may_see_scores(score_access_of(person, late.task), late) is sees
    if person.is_authenticated:
        client.force_login(person)
    at = [task.lab.slug, task.slug]
    board = reverse("evaluation:leaderboard", args=at)
    sees_means = role in SEES_THE_SCORES and state == "own shown"
    assert (">afterwards</a>" in client.get(board).content.decode()) is (sees or sees_means)
    for format_ in ("csv", "json", "latex"):
        assert b"afterwards" not in client.get(board, {"format": format_}).content
    assert b">afterwards<" not in client.get(reverse("analyses:comparison-matrix", args=at)).content
    pages = [
        reverse("evaluation:run-scores", args=[*at, late.pk]),
        reverse("evaluation:run-ranking", args=[*at, late.pk, "A.1"]),
        f"{reverse('analyses:comparison', args=at)}?first={late.pk}&second={official.pk}",
    ]
    assert [client.get(page).status_code for page in pages] == [200 if sees else 404] * 3


def test_a_post_hoc_run_is_marked_and_no_peer_of_official_runs(
    scored: tuple[Scene, Run, Run], client: Client
) -> None:
    scene, _official, late = scored
    shown = board_with_run(score_access_of(scene.organizer, scene.task), late)
    assert [row.run.tag for row in shown.board.rows if row.run.counts] == ["official"]
    own = next(row for row in shown.board.rows if row.run.key == late.pk)
    assert own.cells[0].value > 0
    assert not any(cell.is_best for cell in own.cells)
    assert dict(run_map(scene.task).select("tag", "kind").iter_rows()) == {
        "afterwards": "post-hoc",
        "official": "alternate",
    }
    client.force_login(scene.member)
    page = client.get(reverse("desk:run-detail", args=[*_at(scene), late.pk])).content.decode()
    assert "Post-hoc" in page
    assert "Mark as primary" not in page
    with pytest.raises(Http404):
        board_with_run(score_access_of(scene.other_member, scene.task), late)


def test_the_upload_page_says_that_runs_are_post_hoc(over: Scene, client: Client) -> None:
    client.force_login(over.member)
    page = client.get(reverse("submissions:run-upload", args=_at(over))).content.decode()
    assert "post-hoc runs" in page
    assert "Submit runs" in page


def _renamed(run: Run, tag: str, **changed: bool) -> RunMetadata:
    return replace(metadata_of(run), tag=tag, **changed)


def _at(scene: Scene) -> list[str]:
    return [scene.task.lab.slug, scene.task.slug]
