"""The rounds of a task, with their progress."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count

from arqlab.core.models import Task, User
from assessment.models import PoolItem, Round


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
        """Return the state of judging: `closed`, `done` or `open`."""
        if self.round.pool.closed_at:
            return "closed"
        return "done" if self.items and self.items == self.done else "open"

    @property
    def shows_labels(self) -> bool:
        """Return whether organizers see the labels: of a second judging also when all are in."""
        is_complete = self.round.kind == Round.Kind.SECOND and self.items == self.done
        is_open = self.round.kind == Round.Kind.ADJUDICATION or is_complete
        return is_open or self.round.revealed_at is not None


def round_rows(task: Task) -> list[RoundRow]:
    """Return the rounds of a task, by kind and number, in two queries."""
    found = Round.objects.filter(task=task).select_related("pool", "made_by")
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
    return [RoundRow(one, *counts.get(one.pk, ())) for one in found.order_by("kind", "number")]


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


def round_progress(found: Round) -> list[PersonProgress]:
    """Return the progress of the assessors of a round, by name."""
    items = PoolItem.objects.filter(pool__round=found).order_by().values("assessor")
    counted = items.annotate(items=Count("pk"), done=Count("done_at"))
    counts = {
        key: (count, done) for key, count, done in counted.values_list("assessor", "items", "done")
    }
    people = User.objects.filter(pk__in=counts)
    ordered = people.order_by("first_name", "last_name", "username")
    return [PersonProgress(person, *counts[person.pk]) for person in ordered]
