"""The bytes of uploads that people, teams and labs may store, and files that are not kept."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Sum
from django.template.defaultfilters import filesizeformat

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from submissions.models import Run, Upload
from submissions.services.rules import Sender

log = logging.getLogger(__name__)
CHECKS_KEPT = timedelta(days=30)
"""How long runs are kept that were only checked."""
INVALID_KEPT = timedelta(days=90)
"""How long invalid runs are kept after their check."""
_ASK = "Ask an organizer."


class Budget(NamedTuple):
    """The bytes that are stored of the most that may be, and what to do when they are used up."""

    owner: str
    used: int
    most: int
    todo: str = _ASK


def lab_budget(lab: Lab) -> Budget:
    """Return the budget of all uploads in a lab."""
    todo = f"{_ASK} The administrator of the server can raise ARQLAB_LAB_MAX_BYTES."
    return Budget(f"Lab {lab.name}", _stored(Q(task__lab=lab)), settings.LAB_MAX_BYTES, todo)


def require_room(sender: Sender, files: Sequence[File], *, check_only: bool) -> None:
    """Raise `UserError` (`storage`) for files that do not fit into a budget of their sender."""
    sent = sum(file.size for file in files)
    for owner, stored, most, todo in _budgets(sender, check_only=check_only):
        if stored + sent > most:
            raise UserError(
                f"There is no room for {filesizeformat(sent)}: {owner} has stored "
                f"{filesizeformat(stored)} of {filesizeformat(most)}. {todo}",
                code="storage",
            )


def _budgets(sender: Sender, *, check_only: bool) -> Iterator[Budget]:
    """Yield what binds a sender: organizers by their lab only, commands on the server by none."""
    if sender.by is None:
        return
    if not sender.organizes:
        of_submitter, most = Q(submitted_by=sender.by), settings.TEAM_MAX_BYTES
        yield Budget("your account", _stored(of_submitter), most)
        yield Budget(f"team {sender.team.name}", _stored(Q(team=sender.team)), most)
        if check_only:
            todo = f"Checked files are deleted after {CHECKS_KEPT.days} days."
            checks = _stored(of_submitter & Q(check_only=True))
            yield Budget("your account, in checks,", checks, settings.CHECKS_MAX_BYTES, todo)
    whole = lab_budget(sender.task.lab)
    # Half of a lab is for submissions only, whatever strangers check.
    yield whole._replace(most=whole.most // 2) if check_only else whole


def _stored(runs: Q) -> int:
    """Return the bytes of the uploads with such runs. An archive with several of them counts once.

    What ArqLab computes from them, reports and indexes, is smaller and does not count.
    """
    uploaded_runs = Run.objects.filter(runs, upload=OuterRef("pk"))
    return Upload.objects.filter(Exists(uploaded_runs)).aggregate(total=Sum("size"))["total"] or 0


@transaction.atomic
def expire_runs(*, at: datetime) -> int:
    """Delete old runs that were only checked or are invalid, and return how many.

    The sweep then puts their files aside for a month. Archives stay as they are.
    """
    is_expired = Q(check_only=True, submitted_at__lt=at - CHECKS_KEPT) | Q(
        check_only=False, status=Run.Status.INVALID, status_changed_at__lt=at - INVALID_KEPT
    )
    old = Run.objects.filter(is_expired, task__archived_at=None, task__lab__archived_at=None)
    _, deleted = old.delete()
    count = deleted.get("submissions.Run", 0)
    if count:
        without = ~Exists(Run.objects.filter(upload=OuterRef("pk")))
        Upload.objects.filter(without).delete()
        log.info("Runs that were only checked, or invalid for long, were deleted: %s.", count)
    return count
