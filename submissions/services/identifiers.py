"""The immutable identifiers of runs, by which pools, judgments and qrels name their answers."""

from __future__ import annotations

import re

from arqlab.core.models import Lab
from submissions.models import Run

NOT_IN_IDS = re.compile(r"[\s:]+")
"""What the id of an answer in qrels, `RUN:TOPIC` between blanks, cannot contain."""


def assign_identifier(run: Run) -> None:
    """Store the identifier of a run that takes part from now on, unless it already has one.

    It is the run's tag, with the primary key if another run of the lab's tasks of this kind has
    that identifier: the pool of Task 1 may contain the answers of several tasks. It never changes.
    Call this in the transaction that makes the run take part.
    """
    # Lock the lab: of two runs with the same tag, the second waits and then finds the first.
    Lab.objects.select_for_update(no_key=True).get(pk=run.task.lab_id)
    run.refresh_from_db(fields=["identifier", "tag"])
    if run.identifier:
        return
    named = Run.objects.filter(task__lab=run.task.lab_id, task__kind=run.task.kind)
    taken = set(named.values_list("identifier", flat=True))
    identifier = NOT_IN_IDS.sub("_", run.tag)
    while identifier in taken:
        identifier = f"{identifier}-{run.pk}"
    Run.objects.filter(pk=run.pk).update(identifier=identifier)
