"""The rounds of a task, with their progress."""

from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_uppercase
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from arqlab.core.models import Task, User
from assessment.models import Judgment, PoolItem, Round
from assessment.models.kinds import Opening


class CopiedInstance(NamedTuple):
    """An instance of a copied item: its id in qrels, and the post that contains it."""

    doc_id: str
    post_id: str


class CopiedItem(NamedTuple):
    """An item as it is copied for each assessor of a round."""

    topic_id: int
    kind: str
    item: str
    text: str
    instances: tuple[CopiedInstance, ...]


def copied_items(items: QuerySet[PoolItem]) -> list[CopiedItem]:
    """Return items of pools as they are copied, in their order, in two queries."""
    return [
        CopiedItem(
            item.topic_id,
            item.kind,
            item.item,
            item.text,
            tuple(
                CopiedInstance(instance.doc_id, instance.post_id)
                for instance in item.instances.all()
            ),
        )
        for item in items.prefetch_related("instances")
    ]


@dataclass(frozen=True)
class RoundRow:
    """A round with the number of its assessors, topics and items, and of the judged items."""

    round: Round
    people: int = 0
    topics: int = 0
    items: int = 0
    done: int = 0

    @property
    def state(self) -> str:
        """Return the state of judging: `archived`, `closed`, `done` or `open`."""
        if self.round.archived_at:
            return "archived"
        if self.round.pool.closed_at:
            return "closed"
        return "done" if self.items and self.items == self.done else "open"

    @property
    def shows_labels(self) -> bool:
        """Return whether organizers see the labels, as `Rounds.opened` does."""
        opens = self.round.rules.opens
        is_complete = opens is Opening.TOGETHER and self.items == self.done
        return opens is Opening.AT_ONCE or is_complete or self.round.revealed_at is not None


def round_rows(task: Task) -> list[RoundRow]:
    """Return the rounds of a task, by kind and number, archived ones last, in two queries."""
    rounds = Round.objects.filter(task=task).select_related("pool", "made_by", "task__lab")
    items = PoolItem.objects.filter(pool__round__task=task).order_by().values("pool__round")
    counted = items.annotate(
        people=Count("assessor", distinct=True),
        topics=Count("topic", distinct=True),
        items=Count("pk"),
        done=Count("done_at"),
    )
    counts = {
        key: tuple(numbers)
        for key, *numbers in counted.values_list("pool__round", "people", "topics", "items", "done")
    }
    ordered = rounds.order_by(F("archived_at").asc(nulls_first=True), "kind", "number")
    return [RoundRow(round_, *counts.get(round_.pk, ())) for round_ in ordered]


def complete_rounds() -> QuerySet[Round]:
    """Return the rounds whose assessors wait for the votes, which are all in and not revealed."""
    items = PoolItem.objects.filter(pool__round=OuterRef("pk"))
    rounds = Round.objects.that(tells_judges=True).filter(revealed_at=None, archived_at=None)
    complete = rounds.filter(Exists(items), ~Exists(items.filter(done_at=None)))
    return complete.select_related("task__lab")


def shows_labels(round_: Round) -> bool:
    """Return whether organizers see the labels of a round."""
    if round_.rules.opens is Opening.AFTER_EXPERT:
        return not round_.pool.items.filter(assessor=round_.expert, done_at=None).exists()
    return Round.objects.filter(pk=round_.pk).opened().exists()


def is_unused(round_: Round) -> bool:
    """Return whether nobody has judged in a round or applied for it."""
    judged = Judgment.objects.filter(instance__item__pool__round=round_)
    return not judged.exists() and not round_.applicants.exists()


@dataclass(frozen=True)
class PersonProgress:
    """The number of items of an assessor in a round, and how many of them are judged."""

    person: User
    items: int
    done: int

    @property
    def is_done(self) -> bool:
        """Return whether the assessor has judged all items."""
        return self.items == self.done


def round_progress(round_: Round) -> list[PersonProgress]:
    """Return the progress of the assessors of a round, by name."""
    items = PoolItem.objects.filter(pool__round=round_).order_by().values("assessor")
    counted = items.annotate(items=Count("pk"), done=Count("done_at"))
    counts = {
        key: (count, done) for key, count, done in counted.values_list("assessor", "items", "done")
    }
    return [PersonProgress(person, *counts[person.pk]) for person in by_name(counts)]


@dataclass(frozen=True, kw_only=True)
class RoundState:
    """How far a round is, which only its organizers see: nobody else has progress.

    - people: the progress of its assessors, together `done` of `items`.
    - is_complete: whether all is judged, where nobody can apply any more.
    - is_open, is_unused: as of `shows_labels` and `is_unused`.
    """

    people: list[PersonProgress]
    items: int
    done: int
    is_complete: bool
    is_open: bool
    is_unused: bool


def round_state(round_: Round, *, organizes: bool) -> RoundState:
    """Return how far a round is; for somebody who does not organize it, as if nothing was."""
    people = round_progress(round_) if organizes else []
    items, done = sum(row.items for row in people), sum(row.done for row in people)
    return RoundState(
        people=people,
        items=items,
        done=done,
        is_complete=items == done and organizes and not round_.token,
        is_open=organizes and shows_labels(round_),
        is_unused=organizes and is_unused(round_),
    )


def by_name(keys: Iterable[int | str]) -> QuerySet[User]:
    """Return the users with these keys in the order of their names."""
    return User.objects.filter(pk__in=keys).order_by("first_name", "last_name", "username")


def letters_at(place: int) -> str:
    """Return the letters that name an assessor by their place: A to Z, then AA, AB and so on."""
    letters = ""
    while place >= 0:
        place, last = divmod(place, len(ascii_uppercase))
        letters, place = ascii_uppercase[last] + letters, place - 1
    return letters
