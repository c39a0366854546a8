"""Who and what plays in the demo lab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from arqlab.core.models import Lab, Task, Team, User
from arqlab.ir import records
from arqlab.pages.demo.systems import Library


@dataclass(frozen=True)
class Stage:
    """Who and what the demo plays with while it is built."""

    lab: Lab
    tasks: Mapping[str, Task]
    topics: Mapping[str, list[records.TopicRecord]]
    library: Library
    organizer: User
    at: datetime


def sender_of(stage: Stage, team: Team) -> User:
    """Return the person who submits for a team: its founder, or an organizer for the baselines."""
    founder = team.memberships.select_related("user").order_by("pk").first()
    return founder.user if founder else stage.organizer
