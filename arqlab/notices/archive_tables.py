"""The models of notices in archives of labs."""

from arqlab.notices.models import Invitation, Mail, MailOptOut, Notice
from arqlab.web.archive_tables import ArchiveTables, declare_archive_tables

declare_archive_tables(
    ArchiveTables(
        left_out={
            Invitation: "secrets of people",
            MailOptOut: "belongs to a person, not to a lab",
            Mail: "was sent by this server",
            Notice: "points to pages of this server; the tables have what it tells",
        }
    )
)
