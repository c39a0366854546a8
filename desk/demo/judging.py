"""The plan of the judging in the demo lab, read from `judging.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from desk.demo.posts import FOLDER


@dataclass(frozen=True)
class SharePlan:
    """The topics of an assessor in a task: done, started (with judged items) and waiting."""

    assessor: str
    done: tuple[str, ...]
    started: Mapping[str, int]
    waiting: tuple[str, ...]

    @property
    def topics(self) -> list[str]:
        """Return all topics in judging order."""
        return [*self.done, *self.started, *self.waiting]

    @property
    def sittings(self) -> list[tuple[str, int | None]]:
        """Return the judged topics and the number of judged items of each; None means all."""
        return [*((topic, None) for topic in self.done), *self.started.items()]


@dataclass(frozen=True)
class DemoPool:
    """The pool of a task, its assessors, and the qrels (`TASK/NAME`) with the labels they give."""

    task: str
    seed: int
    primary: int
    alternate: int
    qrels: tuple[str, ...]
    shares: tuple[SharePlan, ...]


@dataclass(frozen=True)
class TicketPlan:
    """An assessor's comment on a label that is not a judgment, and the organizers' answer.

    The answer is "" until the ticket is handled.
    """

    topic: str
    item: str
    comment: str
    answer: str = ""


def read_pools(path: Path = FOLDER / "judging.toml") -> list[DemoPool]:
    """Read the pools and their judging, in the order of the file."""
    return [
        DemoPool(
            pool["task"],
            pool["seed"],
            pool["primary"],
            pool["alternate"],
            tuple(pool["qrels"]),
            tuple(
                SharePlan(
                    share["assessor"],
                    tuple(share["done"]),
                    share["started"],
                    tuple(share["waiting"]),
                )
                for share in pool["shares"]
            ),
        )
        for pool in tomllib.loads(path.read_text())["pools"]
    ]


def read_tickets(path: Path = FOLDER / "judging.toml") -> list[TicketPlan]:
    """Read the assessors' questions to the organizers."""
    return [TicketPlan(**ticket) for ticket in tomllib.loads(path.read_text())["tickets"]]
