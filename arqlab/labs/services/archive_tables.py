"""The core's models in archives of labs."""

from collections.abc import Mapping

from arqlab.core.errors import UserError
from arqlab.core.models import (
    ApiToken,
    Job,
    JobProblem,
    Lab,
    Membership,
    Team,
    TypesetFormula,
    Upgrade,
    User,
)
from arqlab.labs.services.memberships import store_memberships
from arqlab.web.archive_tables import ArchiveTables, Key, declare_archive_tables


def _refuse_existing(row: Mapping[str, object], _: Key) -> None:
    if Lab.objects.filter(slug=row["slug"]).exists():
        raise UserError(
            f"There is a lab {row['slug']!r} here already. Restore it on another server.",
            code="exists",
        )


declare_archive_tables(
    ArchiveTables(
        left_out={
            User.groups.through: "rights on this server",
            User.user_permissions.through: "rights on this server",
            ApiToken: "secrets of people",
            Job: "work of this server; the audit log has what it changed",
            JobProblem: "work of this server",
            TypesetFormula: "computed from the texts",
            Upgrade: "of the database of this server",
        },
        unwritten={Team: {"invitation_token"}},
        named={"expert": User},
        found={Lab: _refuse_existing},
        stored_by={Membership: store_memberships},
    )
)
