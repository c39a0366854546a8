"""What is stored about a person: their sign-ins, their data in a file, the end of their account."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from secrets import token_hex

from allauth.account import signals as account
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.db.models import CASCADE, EmailField, ForeignKey, Model, TextField
from django.db.models.functions import Cast
from django.dispatch import Signal
from django.http import HttpRequest
from django.utils import timezone

from arqlab.audit.services.identity import Action, require_identity
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError
from arqlab.core.models import ApiToken, AuditEvent, Lab, Role, User
from arqlab.labs.services.people import require_another_organizer

SIGN_IN = "person.sign-in"
SIGN_INS_ARE_KEPT = timedelta(days=365)
HISTORY: dict[str, Signal] = {
    SIGN_IN: account.user_logged_in,
    "person.change-password": account.password_changed,
    "person.reset-password": account.password_reset,
    "person.add-address": account.email_added,
    "person.change-address": account.email_changed,
    "person.remove-address": account.email_removed,
    "person.add-factor": mfa.authenticator_added,
    "person.remove-factor": mfa.authenticator_removed,
    "person.new-recovery-codes": mfa.authenticator_reset,
    "person.wrong-code": mfa.authentication_failed,
}
"""What is recorded about an account, by event. A wrong code follows the right password."""
SECRETS = {
    (User, "password"),
    (ApiToken, "digest"),
    (Authenticator, "data"),
    (UserSession, "session_key"),
}
"""The fields that nobody reads, not even their owner."""


def record_history() -> None:
    """Record the events of accounts from now on."""
    for verb, signal in HISTORY.items():

        def record(
            request: HttpRequest | None, user: User, *, verb: str = verb, **details: object
        ) -> None:
            _record(verb, request, user, details.get("authenticator"))

        signal.connect(record, weak=False, dispatch_uid=verb)


def _record(verb: str, request: HttpRequest | None, user: User, factor: object) -> None:
    """Record an event of an account with the address and the browser from which it came."""
    detail = {}
    if request is not None:
        detail["address"] = get_adapter().get_client_ip(request)
        detail["browser"] = request.headers.get("User-Agent", "")[:200]
    if factor is not None:
        detail["factor"] = str(factor)
    old = AuditEvent.objects.filter(person=user, verb=SIGN_IN)
    old.filter(at__lt=timezone.now() - SIGN_INS_ARE_KEPT).delete()
    record_event(verb, user, user, **detail)


def _places() -> Iterator[tuple[type[Model], ForeignKey[object, object]]]:
    """Yield each table and column that names a person."""
    for relation in User._meta.get_fields(include_hidden=True):
        field = getattr(relation, "field", None)
        if relation.auto_created and isinstance(field, ForeignKey):
            yield field.model, field


def personal_data(user: User) -> dict[str, list[dict[str, object]]]:
    """Return every row that is about a person or names them, by table; secrets are left out."""
    rows: dict[str, list[dict[str, object]]] = {"core.User": _rows(User, pk=user.pk)}
    for model, field in _places():
        if rows_of_field := _rows(model, **{field.name: user.pk}):
            rows[f"{model._meta.label} ({field.name})"] = rows_of_field
    return rows


def _rows(model: type[Model], **of: object) -> list[dict[str, object]]:
    names = [
        field.attname for field in model._meta.concrete_fields if (model, field.name) not in SECRETS
    ]
    return list(model._base_manager.filter(**of).order_by("pk").values(*names))


@transaction.atomic
def delete_account(*, user: User, by: User | None) -> str:
    """Delete what is about a person alone, and return the pseudonym under which the rest stays.

    Judgments, runs and decisions belong to the labs. The column that names a person says so: rows
    that the database would delete with the account (`CASCADE`) are deleted, all others stay. The
    log of the administration stays, too.

    Raises `UserError` for the last organizer of a lab and for the last administrator, and asks who
    they are (`require_identity`).
    """
    _refuse_the_last(user)
    require_identity(Action.DELETE_ACCOUNT, by=user)
    for model, field in _places():
        if field.remote_field.on_delete is CASCADE and model is not LogEntry:
            model._base_manager.filter(**{field.name: user.pk}).delete()
    pseudonym = f"deleted-{token_hex(4)}"
    _rename_in_log(user, pseudonym)
    if user.email:
        _forget_address(user.email, f"{pseudonym}@deleted.invalid")
    user.username, user.first_name, user.last_name, user.email = pseudonym, "", "", ""
    user.is_active = user.is_staff = user.is_superuser = False
    user.set_unusable_password()
    user.save()
    record_event("person.delete", user, by)
    return pseudonym


def _refuse_the_last(user: User) -> None:
    organized = user.memberships.filter(role__in=Role.organizing()).values("lab")
    # Lock the labs: two organizers who delete their accounts at once must not both be another one.
    for lab in Lab.objects.select_for_update().filter(pk__in=organized):
        require_another_organizer(lab, user)
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not others.exists():
        raise UserError(
            f"{user.name} is the last administrator of this server. Create another one first, with "
            "`manage.py createsuperuser`.",
            code="last-administrator",
        )


def _rename_in_log(user: User, pseudonym: str) -> None:
    """Replace the user name in the audit log, and delete the history of the account."""
    history = AuditEvent.objects.filter(person=user)
    history.filter(verb__in=HISTORY).delete()
    name = re.compile(rf"(?<![\w.@+-]){re.escape(user.username)}(?![\w.@+-])")
    for event in history:
        event.target = name.sub(pseudonym, event.target)
        event.save(update_fields=["target"])
    quoted = json.dumps(user.username)
    texts = AuditEvent.objects.annotate(text=Cast("detail", TextField()))
    for event in texts.filter(text__contains=quoted):
        event.detail = json.loads(json.dumps(event.detail).replace(quoted, json.dumps(pseudonym)))
        event.save(update_fields=["detail"])


def _forget_address(address: str, replacement: str) -> None:
    """Replace an address in every field for addresses, such as that of an invitation: not by an
    empty one, because open invitations of a lab must differ.
    """
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EmailField) and model not in (User, EmailAddress):
                named = model._base_manager.filter(**{f"{field.name}__iexact": address})
                named.update(**{field.name: replacement})


@transaction.atomic
def remove_second_factor(*, user: User) -> int:
    """Remove the authenticators of a user who has lost them; return their number."""
    removed = Authenticator.objects.filter(user=user).delete()[0]
    if removed:
        record_event("person.remove-factor", user, None, factor="all, by the administrator")
    return int(removed)
