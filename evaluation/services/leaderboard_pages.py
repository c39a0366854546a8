"""What the pages of leaderboards show beside the board: releases, errata, and what lacks scores."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from arqkit.measures.names import MEASURE_KINDS
from arqlab.web import task_url
from assessment.models import QrelSet
from evaluation.models import Erratum, Leaderboard
from evaluation.permissions import ScoreAccess, VisibleBoard, released_versions
from evaluation.selectors.boards import released_board
from evaluation.selectors.errata import errata_of
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.selectors.records import recorded_qrels
from evaluation.selectors.references import missing_model
from evaluation.services.own_means import OwnMeans, own_means
from submissions.models import Run


@dataclass(frozen=True, kw_only=True)
class LeaderboardPage:
    """What a user sees beside the leaderboard, or in place of it.

    - own: the means that a team sees of its own runs before a release.
    - kinds: the definitions of measures.
    - unscored: the runs without scores, with the reason.
    - released, errata: the release that the page shows, and what has changed since.
    """

    sight: ScoreAccess
    own: OwnMeans | None
    kinds: object
    missing_model: str
    unscored: Sequence[tuple[Run, str]]
    versions: Iterable[QrelSet]
    history: QuerySet[Leaderboard]
    certificate_url: str
    released: Leaderboard | None
    errata: Iterable[Erratum]


@dataclass(frozen=True, kw_only=True)
class ReleasedPage:
    """A version of the leaderboard with its errata, and the other ones."""

    sight: ScoreAccess
    released: Leaderboard
    errata: Iterable[Erratum]
    history: QuerySet[Leaderboard]

    @property
    def board(self) -> VisibleBoard:
        """Return the board as it was released."""
        qrel_set = recorded_qrels(self.released)
        return VisibleBoard("version", qrel_set, released_board(self.released))


def leaderboard_page(sight: ScoreAccess, visible: VisibleBoard | None) -> LeaderboardPage:
    """Return what a user sees beside the board that they see, if any."""
    task, released = sight.task, sight.leaderboard
    certificate_url = ""
    if released and sight.may_open_certificate(released.qrel_set):
        certificate_url = task_url("certificate", task, released.qrel_set.version)
    shown_release = released if visible and visible.state == "released" else None
    return LeaderboardPage(
        sight=sight,
        own=None if visible else own_means(sight),
        kinds=MEASURE_KINDS,
        missing_model=missing_model(task) if visible and sight.organizes else "",
        unscored=_unscored(visible, sight) if visible else (),
        versions=QrelSet.objects.filter(task=task) if sight.organizes else (),
        history=_history(sight),
        certificate_url=certificate_url,
        released=shown_release,
        errata=errata_of(shown_release) if shown_release else (),
    )


def released_page(sight: ScoreAccess, version: int) -> ReleasedPage:
    """Return a version of the leaderboard; raise `Http404` if the user may not see it."""
    released = get_object_or_404(released_versions(sight), version=version)
    return ReleasedPage(
        sight=sight, released=released, errata=errata_of(released), history=_history(sight)
    )


def _history(sight: ScoreAccess) -> QuerySet[Leaderboard]:
    """Return the releases: all for organizers, others see those that are not hidden."""
    if sight.organizes:
        return sight.task.leaderboards.select_related("qrel_set", "released_by")
    return released_versions(sight)


def _unscored(visible: VisibleBoard, sight: ScoreAccess) -> list[tuple[Run, str]]:
    if visible.state == "released":
        return []
    runs = unscored_runs(visible.qrel_set, [row.run.key for row in visible.board.rows])
    return [(run, reason) for run, reason in runs if sight.may_see_run(run.pk)]
