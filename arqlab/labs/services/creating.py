"""Creation of labs and tasks by organizers."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Max

from arqkit.protocols.presets import PROTOCOLS
from arqkit.records import TaskKind
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Task, User
from arqlab.labs.services.labs import require_future, require_order
from arqlab.labs.services.people import grant_role

COPIED_FIELDS = (
    *("slug", "name", "kind", "description", "position", "trec_items", "overrides"),
    *("shows_own_scores", "takes_post_hoc_runs", "published_runs"),
)
"""The fields of a task that a copy of its lab has too. Dates and topics are of one year only."""


@transaction.atomic
def create_lab(
    *, slug: str, protocol: str, by: User, copy_of: Lab | None = None, **fields: object
) -> Lab:
    """Create a lab without tasks, which the user organizes.

    `fields` are the name, description and visibility. Raise `UserError` (`taken`) if another lab
    has the address.
    """
    lab = Lab(slug=slug, protocol=protocol, **fields)
    _insert(lab)
    detail = {"copy_of": copy_of.slug} if copy_of else {}
    record_event("lab.create", lab, by, **detail)
    grant_role(lab=lab, user=by, role=Membership.Role.ORGANIZER, by=by)
    return lab


@transaction.atomic
def create_task(
    *,
    lab: Lab,
    name: tuple[str, str],
    kind: str,
    by: User,
    at: datetime,
    confirmed: bool | str = False,
    **fields: object,
) -> Task:
    """Create the last task of a lab, with the rules of the lab's preset and without topics.

    `name` is the address and the name, `fields` are the description and the dates. Raise
    `UserError` if the lab has a task with the address (`taken`) or the dates are in the wrong order
    (`dates`, `judging-dates`), and `ConfirmationError` as `require_future` does.
    """
    slug, title = name
    last = lab.tasks.aggregate(last=Max("position"))["last"] or 0
    task = Task(
        lab=lab,
        slug=slug,
        name=title,
        kind=kind,
        position=last + 1,
        trec_items=PROTOCOLS[lab.protocol].tasks[TaskKind(kind)].items.value,
        **fields,
    )
    require_order(task)
    require_future(Task(name=title), fields, at=at, confirmed=confirmed)
    _insert(task)
    record_event("task.create", task, by)
    return task


@transaction.atomic
def copy_tasks(*, source: Lab, to: Lab) -> list[Task]:
    """Create the tasks of another lab in a new lab, with their rules; without dates and topics."""
    return Task.objects.bulk_create(
        Task(lab=to, **{name: getattr(task, name) for name in COPIED_FIELDS})
        for task in source.tasks.all()
    )


def _insert(record: Lab | Task) -> None:
    try:
        with transaction.atomic():
            record.save(force_insert=True)
    except IntegrityError as error:
        what = "lab" if isinstance(record, Lab) else "task"
        raise UserError(
            f"Another {what} has the address {record.slug}. Choose another address.", code="taken"
        ) from error
