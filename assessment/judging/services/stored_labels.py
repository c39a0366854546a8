"""Labels as the page sends them, and as they are stored."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from arqlab.core.errors import RequestProblem
from arqlab.core.models import User
from assessment.errors import JudgingError
from assessment.judging.selectors.items import Held, Submitted
from assessment.models import Judgment, LateLabel, PoolItem

LATE_MESSAGES: dict[str, str] = {
    LateLabel.Decision.OPEN: "You may no longer judge this topic, so your label is stored but does "
    "not count. The organizers see it and decide whether to keep it.",
    LateLabel.Decision.EXCLUDED: "Your label arrived when you could no longer judge this topic, "
    "and the organizers excluded it.",
}
"""Why a late label does not count, by the decision about it."""
# maximum time between a judgment and its arrival; a clock beyond that is wrong
LONGEST_AWAY = timedelta(days=30)
MILLISECOND = timedelta(milliseconds=1)


class Label(NamedTuple):
    """A label as the page sends it.

    `seen` is the id of the current judgment when the page loaded it, `after` the key of a judgment
    still being sent, `given_at` the time of the label by the browser's clock, and `marks` the
    passages that decided it.
    """

    instance: int
    label: int
    key: UUID
    comment: str = ""
    reason: str = ""
    active_ms: int | None = None
    seen: int | None = None
    after: UUID | None = None
    shown: str = ""
    given_at: datetime | None = None
    marks: Sequence[Mapping[str, object]] = ()

    def given_before(self, at: datetime) -> datetime | None:
        """Return the time of a label that arrives now, or None if the browser's clock is wrong."""
        is_possible = self.given_at and at - LONGEST_AWAY <= self.given_at <= at
        return self.given_at if is_possible else None


class Submission(NamedTuple):
    """Labels for instances of one item.

    `leased_at` is when the lease that the page sends was signed, `guideline` the version that the
    assessor followed, `have` the items that the page has loaded.
    """

    item: int
    labels: tuple[Label, ...]
    leased_at: datetime
    guideline: int | None = None
    have: Collection[int] = ()


class SavedLabel(NamedTuple):
    """A judgment as stored; the message tells the assessor why it does not count, if so."""

    judgment: Judgment
    counts: bool
    message: str


def takes_effect(label: Label, item: Submitted, user: User) -> bool:
    """Return whether a label counts.

    It counts if the assessor may still judge the item, and if it is the first, or changes their
    own label as the page showed it. A round asks the assessor of an item that is not completed for
    the first.
    """
    if item.lateness:
        return False
    current = item.current[label.instance]
    if current is None:
        return item.stack.pool is None or (item.is_assigned and not item.is_done)
    return current.assessor == user.pk and (
        current.judgment == label.seen or current.key == label.after
    )


def seen_times(labels: Collection[Label], hold: Held, at: datetime) -> Mapping[UUID, int]:
    """Return the active milliseconds of each label of an item by its key: what the page reported,
    but together at most what the server saw. Labels without a time have none.
    """
    reported = {label.key: label.active_ms for label in labels if label.active_ms is not None}
    given_at = max((label.given_before(at) or at for label in labels), default=at)
    room, total = _room(hold, given_at, at) // MILLISECOND, sum(reported.values())
    if total <= room:
        return reported
    return {key: active_ms * room // total for key, active_ms in reported.items()}


def _room(hold: Held, given_at: datetime, at: datetime) -> timedelta:
    """Return how long an assessor can have worked on an item at most.

    The first limit is the time since they got it, less the time of the labels that arrived since.
    The second is the time since the previous label that changed no other, by the browser's clock,
    because labels from a lost connection arrive together. It does not apply to an item that was
    skipped or prepared for a trip, because its work began earlier.
    """
    times = (min(label.active, label.arrived_at - hold.since) for label in hold.labels)
    room = at - hold.since - sum(times, timedelta())
    before = [
        label.given_at for label in hold.labels if label.is_first and label.given_at <= given_at
    ]
    if before and not hold.is_set_aside:
        room = min(room, given_at - max(before))
    return max(room, timedelta())


def saved_label(judgment: Judgment) -> SavedLabel:
    """Return the result of a label as of when it was stored, even if it was changed later.

    If no label of its instance counts any more, the item was returned, or is not asked for.
    """
    if judgment.is_current or Judgment.objects.filter(supersedes=judgment.pk).exists():
        return SavedLabel(judgment, counts=True, message="")
    late = LateLabel.objects.filter(judgment=judgment.pk, decision__in=LATE_MESSAGES).first()
    if late:
        return SavedLabel(judgment, counts=False, message=LATE_MESSAGES[late.decision])
    is_judged = Judgment.objects.filter(instance=judgment.instance_id, is_current=True).exists()
    if is_judged:
        message = (
            "This item was judged in another tab or by another assessor first. That label counts; "
            "yours is kept beside it."
        )
        return SavedLabel(judgment, counts=False, message=message)
    item = PoolItem.objects.only("assessor", "done_at").get(instances=judgment.instance_id)
    if item.assessor_id in (None, judgment.assessor_id) and item.done_at is None:
        message = (
            "The organizers returned this item to its topic to be judged again. Your label stays "
            "in its history and no longer counts; judge the item again."
        )
    else:
        message = (
            "The organizers decided about this item, or asked somebody else. Your label is kept, "
            "but does not count."
        )
    return SavedLabel(judgment, counts=False, message=message)


def known_labels(submission: Submission, user: User) -> Mapping[UUID, Judgment]:
    """Return the labels stored before, by key; raise `JudgingError` for a key of another label."""
    instances = {label.key: label.instance for label in submission.labels}
    stored = {judgment.key: judgment for judgment in Judgment.objects.filter(key__in=instances)}
    problems = [
        RequestProblem(
            instances[key],
            "key",
            str(key),
            "a new UUID for each label",
            "Reload the page and submit again.",
        )
        for key, judgment in stored.items()
        if (judgment.instance_id, judgment.assessor_id) != (instances[key], user.pk)
    ]
    if problems:
        raise JudgingError(
            "The key of a label was used for another one.", code="key-used", problems=problems
        )
    return stored
