"""The audit log of a lab."""

from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse

from arqlab.core.models import AuditEvent, Lab
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.web import (
    LAB,
    ROWS,
    Column,
    Empty,
    Filter,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    organizers,
)

pages = Pages(access=organized_lab_or_404)


@pages.read(
    f"{LAB}audit/",
    "audit-list",
    tabs=(Tab("lab", "Audit log", 80, organizers),),
    api=ROWS,
    section="audit",
)
def audit_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the audit log of a lab, newest first."""
    return answer(request, "labs/audit_list.html", {}, _events_table(request, lab))


def _events_table(request: HttpRequest, lab: Lab) -> Table[AuditEvent]:
    """Return the audit log with a filter by events, and by their subjects such as `run`."""
    verbs = set(lab.audit_events.order_by().values_list("verb", flat=True).distinct())
    verbs |= {verb.partition(".")[0] for verb in verbs}
    return Table[AuditEvent](
        "events",
        [
            Column("When", lambda row: row.at, cells.TIME, by="at"),
            Column(
                "Who",
                lambda event: event.actor.name if event.actor else "ArqLab",
                by="actor__username",
            ),
            Column(
                "Event",
                lambda row: row.verb,
                cells.ID,
                link=lambda event: f"?verb={quote(event.verb)}",
                by="verb",
            ),
            Column("Target", lambda row: row.target, by="target"),
            Column("Details", lambda event: "\n".join(detail_lines(event.detail)), cells.PROSE),
        ],
        lab.audit_events.select_related("actor"),
        asked=request.GET,
        order="-when",
        searched=("actor__username", "actor__first_name", "actor__last_name", "verb", "target"),
        filters=[Filter("verb", "Event", "verb__startswith", [(v, v) for v in sorted(verbs)])],
        empty=Empty(
            "No events yet",
            "The log records every change to people, teams, tasks, runs and leaderboards, with its "
            "time and author.",
        ),
    )


def detail_lines(detail: dict[str, Any]) -> list[str]:
    """Return the details of an audit event, with old and new values of changed fields."""
    lines = [
        f"{name}: {_formatted(old)} → {_formatted(new)}"
        for name, (old, new) in detail.get("changes", {}).items()
    ]
    return lines + [
        f"{name}: {_formatted(value)}"
        for name, value in detail.items()
        if name != "changes" and value != []
    ]


def _formatted(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_formatted(part)}" for name, part in value.items()) or "–"
    if isinstance(value, list):
        return ", ".join(map(_formatted, value))
    return "–" if value in (None, "") else str(value)
