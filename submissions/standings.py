"""Runs by their standing: which take part, get scores, count, and use a quota."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Case, Count, Q, Value, When

from arqkit.standings import STANDINGS, Standing

if TYPE_CHECKING:
    from submissions.models import Run


def standings_of(run: Run) -> frozenset[Standing]:
    """Return all standings that apply to a run; its own is the last of them."""
    return frozenset(standing for standing in STANDINGS[1:] if getattr(run, standing.field))


class RunQuerySet(models.QuerySet["Run"]):
    """Filters for submitted, valid and counting runs."""

    def submitted(self) -> RunQuerySet:
        """Return the submissions, without the runs that were only checked."""
        return self.filter(check_only=False)

    def with_standing(self, holds: Callable[[Standing], bool]) -> RunQuerySet:
        """Return the runs without those of a standing for which a rule does not hold."""
        refused = [standing.field for standing in STANDINGS[1:] if not holds(standing)]
        official = self.model()
        return self.filter(**{name: getattr(official, name) for name in refused})

    def valid(self) -> RunQuerySet:
        """Return the runs that pools and leaderboards use: scorable ones, not post-hoc."""
        return self.scorable().with_standing(lambda standing: standing.takes_part)

    def scorable(self) -> RunQuerySet:
        """Return the submitted, valid runs that are not withdrawn, also post-hoc runs."""
        return (
            self.submitted()
            .filter(status="valid")
            .with_standing(lambda standing: standing.is_scored)
        )

    def competing(self) -> RunQuerySet:
        """Return the valid runs that count in statistics."""
        return self.valid().with_standing(lambda standing: standing.counts)

    def counting(self, *, post_hoc: bool = False) -> RunQuerySet:
        """Return the runs that count toward a quota: valid ones, and those still to be checked.

        Post-hoc runs have a quota of their own.
        """
        runs = self.submitted().filter(
            status__in=["uploaded", "validating", "valid"], is_post_hoc=post_hoc
        )
        return runs.with_standing(lambda standing: standing.uses_quota)

    def for_lists(self) -> RunQuerySet:
        """Return the runs with `shown_state` and numbers of kinds of `errors` and `warnings`.

        `shown_state` is `Run.state`. The newest runs come first.
        """
        withdrawn = When(withdrawn_at__isnull=False, then=Value("withdrawn"))
        return self.annotate(
            shown_state=Case(withdrawn, default="status"),
            errors=Count("problems", filter=Q(problems__severity="error")),
            warnings=Count("problems", filter=Q(problems__severity="warning")),
        ).order_by("-submitted_at", "-pk")
