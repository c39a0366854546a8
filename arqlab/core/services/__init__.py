"""What changes people, labs, tasks and topics."""

from arqlab.core.services.audit import record_event
from arqlab.core.services.formulas import typeset_formulas
from arqlab.core.services.labs import change_lab, change_task
from arqlab.core.services.loading import load_lab_file
from arqlab.core.services.people import change_name, grant_role, revoke_role
from arqlab.core.services.teams import create_team, join_team, leave_team, remove_member, renew_invitation
from arqlab.core.services.topics import change_topic_information

__all__ = [
    "change_lab",
    "change_name",
    "change_task",
    "change_topic_information",
    "create_team",
    "grant_role",
    "join_team",
    "leave_team",
    "load_lab_file",
    "record_event",
    "remove_member",
    "renew_invitation",
    "revoke_role",
    "typeset_formulas",
]
