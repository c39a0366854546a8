"""The judging of the demo lab: `judging.toml` read."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from arqlab.pages.demo.posts import FOLDER


@dataclass(frozen=True)
class SharePlan:
    """What an assessor has of a task: topics that are done, one or more begun with the items
    judged, and some that wait.
    """

    assessor: str
    done: tuple[str, ...]
    begun: Mapping[str, int]
    waiting: tuple[str, ...]

    @property
    def topics(self) -> list[str]:
        """Return all topics, in the order in which they are judged."""
        return [*self.done, *self.begun, *self.waiting]

    @property
    def sittings(self) -> list[tuple[str, int | None]]:
        """Return the topics that were judged, each with how many of its items; None for all."""
        return [*((topic, None) for topic in self.done), *self.begun.items()]


@dataclass(frozen=True)
class DemoPool:
    """The pool of a task, who judges it, and the qrels (`TASK/NAME`) whose labels they give."""

    task: str
    seed: int
    primary: int
    alternate: int
    qrels: tuple[str, ...]
    shares: tuple[SharePlan, ...]


@dataclass(frozen=True)
class TicketPlan:
    """What an assessor said to a System failure or Do not know; the organizers' answer is blank
    where none came yet.
    """

    topic: str
    item: str
    comment: str
    answer: str = ""


def read_pools(path: Path = FOLDER / "judging.toml") -> list[DemoPool]:
    """Read what is judged in the demo lab, in the order of the file."""
    return [
        DemoPool(
            pool["task"],
            pool["seed"],
            pool["primary"],
            pool["alternate"],
            tuple(pool["qrels"]),
            tuple(
                SharePlan(
                    share["assessor"], tuple(share["done"]), share["begun"], tuple(share["waiting"])
                )
                for share in pool["shares"]
            ),
        )
        for pool in tomllib.loads(path.read_text())["pools"]
    ]


def read_tickets(path: Path = FOLDER / "judging.toml") -> list[TicketPlan]:
    """Read what the assessors asked the organizers."""
    return [TicketPlan(**ticket) for ticket in tomllib.loads(path.read_text())["tickets"]]
