"""The primary mark: a team has one primary run in a task."""

from __future__ import annotations

from arqlab.core.models import Team, User
from arqlab.core.services.audit import record_event
from submissions.models import Run


def demote_primary_run(run: Run, *, by: User | None) -> None:
    """Make the team's current primary run an alternate run, so that `run` can take its place.

    Baselines keep their marks. Call this for a run that is not a baseline, in the transaction that
    makes it primary.
    """
    # Lock the team: when two runs become primary at once, one waits here.
    Team.objects.select_for_update().get(pk=run.team_id)
    earlier = Run.objects.valid().filter(
        task=run.task_id, team=run.team_id, is_primary=True, is_baseline=False
    )
    for other in earlier.exclude(pk=run.pk).select_related("team"):
        Run.objects.filter(pk=other.pk).update(is_primary=False)
        record_event(
            verb="run.alternate",
            target=other,
            lab=run.task.lab,
            actor=by,
            run=other.pk,
            gave_way_to=run.pk,
        )
