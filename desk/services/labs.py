"""Copy and delete labs and tasks."""

from collections import Counter
from datetime import datetime
from functools import partial

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import ProtectedError, QuerySet
from django.db.models.deletion import Collector

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.files import kept
from arqlab.core.models import Job, Lab, Role, Task, User
from arqlab.labs.services.creating import copy_tasks, create_lab
from arqlab.labs.services.people import grant_role
from assessment.guidelines.services.versions import copy_guidelines
from collection.selectors.collections import collection_of
from collection.services.loading import assign_collection
from desk.services.load_files import load_folder
from submissions.models import Run, Upload


@transaction.atomic
def delete_record(*, record: Lab | Task, typed: str, by: User) -> None:
    """Delete a lab with its tasks, teams and audit log, or a task with its topics and qrels.

    A collection is kept. Raise `UserError` (`name`) if the typed name is another one, and
    (`in-use`) for a lab or task with submitted runs, pools, assignments or leaderboards, which can
    only be archived.
    """
    if " ".join(typed.split()) != " ".join(record.name.split()):
        raise UserError(f"Type the name to confirm: {record.name}", code="name")
    if isinstance(record, Lab):
        jobs, runs = Job.objects.filter(lab=record), Run.objects.filter(task__lab=record)
        record_event("lab.delete", f"{record.slug}: {record}", by)
    else:
        jobs, runs = Job.objects.filter(task=record), Run.objects.filter(task=record)
        record_event("task.delete", record, by, name=record.name)
    folders = [load_folder(load) for load in jobs]
    _delete_checked_runs(runs)
    try:
        for part in _parts(record):
            part.delete()
    except ProtectedError as error:
        raise UserError(_refusal(record, error), code="in-use") from error
    for folder in folders:
        # After the commit: a deletion that fails must keep the files.
        transaction.on_commit(partial(kept.delete_folder, folder))


def _parts(record: Lab | Task) -> list[Lab | Task]:
    # Tasks before teams: both protect what teams submitted.
    return [*record.tasks.all(), record] if isinstance(record, Lab) else [record]


def deletion_refusal(record: Lab | Task) -> str:
    """Return why a lab or task can only be archived, or an empty string if it can be deleted."""
    try:
        for part in _parts(record):
            Collector(DEFAULT_DB_ALIAS, origin=part).collect([part])
    except ProtectedError as error:
        return _refusal(record, error)
    return ""


def _refusal(record: Lab | Task, error: ProtectedError) -> str:
    """Return the reason, or an empty string for runs that were only checked."""
    dependents = Counter(
        str(type(protected)._meta.verbose_name)
        for protected in error.protected_objects
        if not (isinstance(protected, Run) and protected.check_only)
    )
    counts = ", ".join(
        f"{count} {noun}{'s' * (count != 1)}" for noun, count in sorted(dependents.items())
    )
    reason = f"{record.name} cannot be deleted, because it has {counts}. Archive it instead."
    return reason if dependents else ""


def _delete_checked_runs(runs: QuerySet[Run]) -> None:
    """Delete runs that were only checked, with their files."""
    checked = list(runs.filter(check_only=True).select_related("upload"))
    names = [
        str(file.name) for run in checked for file in (run.index, run.occurrences) if file.name
    ]
    Run.objects.filter(pk__in=[run.pk for run in checked]).delete()
    unused = Upload.objects.filter(pk__in=[run.upload_id for run in checked], runs=None)
    names += [str(upload.file.name) for upload in unused]
    unused.delete()
    for name in names:
        # After the commit: a deletion that fails must keep the files.
        transaction.on_commit(partial(kept.delete, name))


@transaction.atomic
def copy_lab(
    *, source: Lab, slug: str, name: str, with_people: bool, at: datetime, by: User
) -> Lab:
    """Create a draft with the tasks, rules, guidelines and collection of a lab.

    Dates, topics, teams, runs and judgments are not copied. `with_people` copies the organizers and
    assessors. Raise `UserError` (`taken`) if another lab has the address.
    """
    lab = create_lab(
        slug=slug,
        name=name,
        protocol=source.protocol,
        description=source.description,
        is_public=False,
        copy_of=source,
        by=by,
    )
    copy_tasks(source=source, to=lab)
    for task in lab.tasks.all():
        copy_guidelines(source=source.tasks.get(slug=task.slug), to=task, at=at, by=by)
    if collection := collection_of(source):
        assign_collection(lab=lab, collection=collection)
    people = source.memberships.filter(role__in=Role.granted()).select_related("user")
    for membership in people if with_people else ():
        grant_role(lab=lab, user=membership.user, role=membership.role, by=by)
    return lab
