"""Labels as the page sends them, and as they are stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from arqlab.core.errors import RequestProblem
from arqlab.core.models import User
from assessment.errors import JudgingError
from assessment.judging.selectors.items import Submitted
from assessment.models import Judgment, LateLabel, PoolItem

MEANWHILE = (
    "This item was judged in another tab or by another assessor first. That label counts; yours is "
    "kept beside it."
)
GIVEN_BACK = (
    "The organizers returned this item to its topic to be judged again. Your label stays in its "
    "history and no longer counts; judge the item again."
)


LATE = {
    LateLabel.Decision.OPEN: "You may no longer judge this topic, so your label is stored but does "
    "not count. The organizers see it and decide whether to keep it.",
    LateLabel.Decision.EXCLUDED: "Your label arrived when you could no longer judge this topic, "
    "and the organizers excluded it.",
}
NOT_ASKED = (
    "The organizers decided about this item, or asked somebody else. Your label is kept, but does "
    "not count."
)


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
    marks: Sequence[Mapping[str, Any]] = ()


class Submission(NamedTuple):
    """Labels for instances of one item.

    `guideline` is the version that the assessor followed, `have` the items that the page has
    loaded.
    """

    item: int
    labels: tuple[Label, ...]
    guideline: int | None = None
    have: Collection[int] = ()


class SavedLabel(NamedTuple):
    """A judgment as stored; the message tells the assessor why it does not count, if so."""

    judgment: Judgment
    counts: bool
    message: str


def takes_effect(label: Label, found: Submitted, user: User) -> bool:
    """Return whether a label counts.

    It counts if the assessor may still judge the item, and if it is the first, or changes their
    own label as the page showed it. A round asks the assessor of an item that is not completed for
    the first.
    """
    if found.lateness:
        return False
    current = found.current[label.instance]
    if current is None:
        return found.stack.pool is None or (found.is_assigned and not found.is_done)
    return current.assessor == user.pk and (
        current.judgment == label.seen or current.key == label.after
    )


def saved_label(judgment: Judgment) -> SavedLabel:
    """Return the result of a label as when it was stored, even if it was changed later.

    If no label of its instance counts any more, an organizer has returned the item, or withdrawn
    the request for it.
    """
    if judgment.is_current or Judgment.objects.filter(supersedes=judgment.pk).exists():
        return SavedLabel(judgment, counts=True, message="")
    late = LateLabel.objects.filter(judgment=judgment.pk, decision__in=LATE).first()
    if late:
        return SavedLabel(judgment, counts=False, message=LATE[LateLabel.Decision(late.decision)])
    is_judged = Judgment.objects.filter(instance=judgment.instance_id, is_current=True).exists()
    message = MEANWHILE
    if not is_judged:
        item = PoolItem.objects.only("assessor", "done_at").get(instances=judgment.instance_id)
        is_asked = item.assessor_id in (None, judgment.assessor_id) and item.done_at is None
        message = GIVEN_BACK if is_asked else NOT_ASKED
    return SavedLabel(judgment, counts=False, message=message)


def known_labels(submission: Submission, user: User) -> Mapping[UUID, Judgment]:
    """Return the labels stored before, by key.

    Raises `JudgingError` if a key belongs to another label, because keys are unique.
    """
    instances = {label.key: label.instance for label in submission.labels}
    known = {judgment.key: judgment for judgment in Judgment.objects.filter(key__in=instances)}
    problems = [
        RequestProblem(
            instances[key],
            "key",
            str(key),
            "a new UUID for each label",
            "Reload the page and submit again.",
        )
        for key, judgment in known.items()
        if (judgment.instance_id, judgment.assessor_id) != (instances[key], user.pk)
    ]
    if problems:
        raise JudgingError(
            "The key of a label was used for another one.", code="key-used", problems=problems
        )
    return known
