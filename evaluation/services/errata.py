"""Records and errata of released leaderboards are stored, and organizers notified of errata."""

from datetime import datetime

from django.core.files.base import ContentFile
from django.db import transaction

from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.labs.selectors import organizers_of, topics_xml
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import task_url
from evaluation.models import Erratum, Leaderboard, ReleasedRun
from evaluation.selectors.errata import errata_of, party_of
from evaluation.selectors.records import drafted_runs, task_record


def record_release(leaderboard: Leaderboard, *, at: datetime) -> None:
    """Store the record of a version, in the transaction of its release or later."""
    leaderboard.record, leaderboard.recorded_at = task_record(leaderboard.qrel_set), at
    topics = ContentFile(topics_xml(leaderboard.task))
    leaderboard.topics_file.save("topics.xml", topics, save=False)
    ReleasedRun.objects.bulk_create(drafted_runs(leaderboard), batch_size=200)
    leaderboard.save(update_fields=["record", "recorded_at", "topics_file"])


def store_records(*, at: datetime, task: Task | None = None) -> int:
    """Store the records that versions lack, and the errata that nobody has stored, of all tasks.

    A version lacks its record if it was released by an ArqLab before 0.2, or restored from an
    archive of it. Return the number of new errata; organizers are notified of each.
    """
    boards = Leaderboard.objects.filter(hidden_at=None).order_by("pk")
    boards_of_task = boards if task is None else boards.filter(task=task)
    return sum(_store(key, at=at) for key in list(boards_of_task.values_list("pk", flat=True)))


@transaction.atomic
def _store(key: int, *, at: datetime) -> int:
    board = Leaderboard.objects.select_related("task__lab", "qrel_set__task__lab").get(pk=key)
    new = _new_errata(board) if board.recorded_at else []
    if board.recorded_at and not new:
        return 0
    # Of two workers, the other one waits here and has nothing left to store.
    Leaderboard.objects.select_for_update(no_key=True, of=("self",)).get(pk=key)
    board.refresh_from_db(fields=["recorded_at"])
    if board.recorded_at is None:
        record_release(board, at=at)
    new = _new_errata(board)
    for erratum in new:
        erratum.save()
        _notify(erratum)
    return len(new)


def _new_errata(board: Leaderboard) -> list[Erratum]:
    return [erratum for erratum in errata_of(board) if erratum.pk is None]


@transaction.atomic
def add_erratum(
    *, leaderboard: Leaderboard, text: str, reason: str, by: User, at: datetime
) -> Erratum:
    """Store an erratum of the organizers about a version. Raise `UserError` without a reason."""
    if not (text.strip() and reason.strip()):
        raise UserError(
            f"Enter what the erratum of version {leaderboard.version} says, and its reason.",
            code="erratum",
        )
    erratum = Erratum.objects.create(
        leaderboard=leaderboard,
        text=text.strip(),
        reason=reason.strip(),
        made_at=at,
        author=by,
        party=party_of(by, leaderboard.task.lab),
    )
    record_event(
        "leaderboard.erratum", leaderboard.task, by, version=leaderboard.version, text=text.strip()
    )
    _notify(erratum)
    return erratum


def _notify(erratum: Erratum) -> None:
    board = erratum.leaderboard
    notify(
        board.task,
        Kind.LEADERBOARD_ERRATUM,
        organizers_of(board.task.lab),
        path=task_url("evaluation:erratum-list", board.task, board.version),
        key=f"erratum {erratum.pk}",
        version=str(board.version),
        erratum=f"{erratum.name}: {erratum.sentence}" if erratum.name else erratum.sentence,
    )
