"""Changes of what a lab pays."""

from decimal import Decimal

from django.db import transaction

from arqlab.audit.services.recording import record_event, save_changes
from arqlab.core.models import Lab, User
from assessment.models import PayRule


@transaction.atomic
def change_pay_rule(
    *, lab: Lab, hourly_rate: Decimal | None, currency: str, time_zone: str, by: User | None
) -> None:
    """Store what a lab pays, and record the old and new values."""
    # Locked, so that the audit log has the rate that was really there before.
    rule, _ = PayRule.objects.select_for_update().get_or_create(lab=lab)
    new = {"hourly_rate": hourly_rate, "currency": currency, "time_zone": time_zone}
    changed = save_changes(rule, new, allowed=new)
    for name, values in changed.items():
        changed[name] = [None if value is None else str(value) for value in values]
    if changed:
        record_event("pay.change", lab, by, changes=changed)
