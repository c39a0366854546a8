"""The audit log."""

from collections.abc import Collection, Mapping

from django.db.models import Model

from arqlab.core.models import AuditEvent, Lab, User


def record_event(
    verb: str, target: object, actor: User | None, /, *, lab: object = None, **detail: object
) -> None:
    """Record an audit event in the transaction of the change.

    Its lab is that of the target or of its task, if `lab` is not given; its person is the target
    or the one whom the target names, such as the owner of a token.
    """
    about = (target, getattr(target, "user", None), getattr(target, "assessor", None))
    owner = lab or getattr(target, "task", target)
    AuditEvent.objects.create(
        verb=verb,
        target=str(target)[:300],
        lab=owner if isinstance(owner, Lab) else getattr(owner, "lab", None),
        actor=actor,
        person=next((one for one in about if isinstance(one, User)), None),
        detail=detail,
    )


def save_changes(
    record: Model, changes: Mapping[str, object], *, allowed: Collection[str]
) -> dict[str, list[object]]:
    """Save the fields that differ and return them as `{field: [old, new]}`, ready for JSON."""
    unknown = changes.keys() - set(allowed)
    if unknown:
        raise ValueError(f"fields that cannot be changed here: {sorted(unknown)}")
    changed = {
        name: [getattr(record, name), value]
        for name, value in changes.items()
        if getattr(record, name) != value
    }
    for name, (_, value) in changed.items():
        setattr(record, name, value)
    record.save(update_fields=list(changed))
    return {name: [_plain(old), _plain(new)] for name, (old, new) in changed.items()}


def _plain(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else value
