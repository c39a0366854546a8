"""The audit log."""

from __future__ import annotations

from typing import Any

from arqlab.core.models import AuditEvent, Lab, User


def record_event(
    *, verb: str, target: object, lab: Lab | None, actor: User | None, **detail: Any
) -> None:
    """Record an audit event in the transaction of the change."""
    AuditEvent.objects.create(
        verb=verb, target=str(target)[:300], lab=lab, actor=actor, detail=detail
    )
