"""Systems: the runs of one system in several tasks, which its team links for progress tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import User
from arqlab.core.services.audit import record_event
from submissions.models import Run
from submissions.permissions import linkable_runs
from submissions.services.rules import Sender, require_role


@transaction.atomic
def link_runs(*, run: Run, links: Mapping[int, bool], by: User, at: datetime) -> None:
    """Make a run and others the runs of one system; runs of the system that are left out leave it.

    `links` says by the key of each run, that of `run` included, whether the system was trained on
    the topics of its task. A run that was linked elsewhere leaves its system. Raise `UserError` for
    a user outside the team, for a run that the user may not link, and for two runs of one task.
    """
    require_role(Sender(run.task, run.team, by, at))
    others = {one.pk: one for one in linkable_runs(by, run)}
    if unknown := links.keys() - others.keys() - {run.pk}:
        raise UserError(
            f"{len(unknown)} of the chosen runs cannot be linked. Choose valid runs of your teams "
            "in other tasks of the same kind.",
            code="system",
        )
    chosen = [others[key] for key in links if key != run.pk]
    tasks = Counter(f"{one.task.lab.name}, {one.task.name}" for one in chosen)
    if twice := [name for name, count in tasks.items() if count > 1]:
        raise UserError(
            f"A system has one run per task. Choose one run of {'; '.join(twice)}.", code="system"
        )
    if run.system is not None:
        Run.objects.filter(pk__in=[run.pk, *others], system=run.system).update(
            system=None, is_trained=False
        )
    system = uuid4() if chosen else None
    for key, is_trained in links.items():
        Run.objects.filter(pk=key).update(system=system, is_trained=is_trained)
    record_event(
        verb="run.link",
        target=run,
        lab=run.task.lab,
        actor=by,
        task=run.task.slug,
        run=run.pk,
        linked=sorted(one.pk for one in chosen),
    )
