"""Tabs of labs and tasks, which pages declare, and who sees them and other pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

A = TypeVar("A", bound=Callable[..., object])


class Roles(Protocol):
    """What a user may do in a lab."""

    @property
    def organizes(self) -> bool:
        """Return whether the user runs the lab."""

    @property
    def assesses(self) -> bool:
        """Return whether the user judges by default."""

    @property
    def teams(self) -> Sequence[object]:
        """Return the user's teams."""


def everybody(roles: Roles) -> bool:
    """Return whether everybody who sees the lab sees a tab: always."""
    return True


def organizers(roles: Roles) -> bool:
    """Return whether organizers see a tab."""
    return roles.organizes


def judges(roles: Roles) -> bool:
    """Return whether those see a tab who judge, and those who organize it."""
    return roles.assesses or roles.organizes


def only_assessors(roles: Roles) -> bool:
    """Return whether those see a tab who judge without organizing it."""
    return roles.assesses and not roles.organizes


def submitters(roles: Roles) -> bool:
    """Return whether teams and organizers see a tab."""
    return roles.organizes or bool(roles.teams)


@dataclass(frozen=True)
class Tab:
    """A tab that leads to a page, on the pages of a lab or of a task (`thing`).

    Tabs stand in their `order`; `seen` is asked with the user's roles in the lab. The section of
    its page marks it. `guide` is the chapter of the guides about the pages of that section that
    not only organizers open; theirs has a section for each tab.
    """

    thing: Literal["lab", "task"]
    words: str
    order: int
    seen: Callable[[Roles], bool] = everybody
    guide: str = ""


def for_organizers(access: A) -> A:
    """Mark a question that only organizers pass: their guide has the chapter of its pages."""
    access.is_for_organizers = True  # type: ignore[attr-defined]
    return access
