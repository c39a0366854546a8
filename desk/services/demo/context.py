"""The context in which the demo lab is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arqkit import records
from arqlab.core.models import Lab, Task, Team, User
from desk.demo.systems import Library


@dataclass(frozen=True)
class DemoContext:
    """The lab, its tasks and topics, its collection and organizer, and the time of the build."""

    lab: Lab
    tasks: Mapping[str, Task]
    topics: Mapping[str, list[records.TopicRecord]]
    library: Library
    organizer: User
    at: datetime


def submitter_of(demo: DemoContext, team: Team) -> User:
    """Return the user who submits for a team: its founder, or the organizer for baselines."""
    founder = team.memberships.select_related("user").order_by("pk").first()
    return founder.user if founder else demo.organizer
