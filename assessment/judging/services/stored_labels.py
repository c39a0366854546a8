"""Labels as the page sends them, and as they are stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from arqlab.core.models import User
from assessment.errors import JudgingError, RequestProblem
from assessment.judging.selectors.items import Current
from assessment.models import Judgment

MEANWHILE = (
    "This item was judged in another tab or by another assessor first. That label counts; yours is "
    "kept beside it."
)
GIVEN_BACK = (
    "The organizers returned this item to its topic to be judged again. Your label stays in its "
    "history and no longer counts; judge the item again."
)


class Label(NamedTuple):
    """A label as the page sends it. `seen` is the id of the current judgment that the page knew of,
    `after` the key of the one that was on its way then; `given_at` is when it was given by the
    page's clock."""

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


class Submission(NamedTuple):
    """Labels for instances of one item, the version of the instructions that they were judged by,
    and the items that the page has at hand."""

    item: int
    labels: tuple[Label, ...]
    guideline: int | None = None
    have: Collection[int] = ()


class SavedLabel(NamedTuple):
    """A judgment as it stands in the database; the message is for the assessor, blank where all is
    as wished.
    """

    judgment: Judgment
    counts: bool
    message: str


def takes_effect(label: Label, current: Current | None, user: User) -> bool:
    """Return whether a label counts: it is the first, or it changes the assessor's own label that
    the page showed.
    """
    if current is None:
        return True
    return current.assessor == user.pk and (
        current.judgment == label.seen or current.key == label.after
    )


def saved_label(judgment: Judgment) -> SavedLabel:
    """Report of a judgment what was told when it was stored: one that was changed later did count.

    Where nothing counts for its instance any more, an organizer gave that back since.
    """
    if judgment.is_current or Judgment.objects.filter(supersedes=judgment.pk).exists():
        return SavedLabel(judgment, counts=True, message="")
    is_judged = Judgment.objects.filter(instance=judgment.instance_id, is_current=True).exists()
    return SavedLabel(judgment, counts=False, message=MEANWHILE if is_judged else GIVEN_BACK)


def known_labels(submission: Submission, user: User) -> Mapping[UUID, Judgment]:
    """Return the labels that were stored before, by their keys.

    Raises `JudgingError` when a key belongs to another label: the page made it twice.
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
