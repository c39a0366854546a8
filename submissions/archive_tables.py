"""The models of runs in archives of labs."""

from arqlab.core.models import AuditEvent
from arqlab.web.archive_tables import ArchiveTables, declare_archive_tables
from submissions.models import Run, Upload

declare_archive_tables(
    ArchiveTables(
        lookups={Upload: "runs__task__lab"},
        named={"run": Run, "gave_way_to": Run},
        naming={AuditEvent: Run},
    )
)
