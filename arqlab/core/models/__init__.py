"""Models of people, labs, tasks, topics and teams, which all other apps build on."""

from arqlab.core.models.corrections import Correction, Corrections
from arqlab.core.models.jobs import MOST_ATTEMPTS, STALE_JOB, Job, JobProblem, new_folder
from arqlab.core.models.labs import Lab, Task, Topic, TopicVersion, TypesetFormula
from arqlab.core.models.lookups import StoredIn
from arqlab.core.models.people import (
    ApiToken,
    AuditEvent,
    Membership,
    Publication,
    Team,
    Upgrade,
    User,
    Visitor,
    new_invitation_token,
)
from arqlab.core.models.roles import Role

__all__ = [
    "MOST_ATTEMPTS",
    "STALE_JOB",
    "ApiToken",
    "AuditEvent",
    "Correction",
    "Corrections",
    "Job",
    "JobProblem",
    "Lab",
    "Membership",
    "Publication",
    "Role",
    "StoredIn",
    "Task",
    "Team",
    "Topic",
    "TopicVersion",
    "TypesetFormula",
    "Upgrade",
    "User",
    "Visitor",
    "new_folder",
    "new_invitation_token",
]
