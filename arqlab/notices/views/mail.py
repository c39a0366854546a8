"""The mail of a lab, and what failed of it."""

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.html import format_html

from arqlab.core.models import Lab
from arqlab.core.views import signed_in, told
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.notices.models import Mail
from arqlab.notices.services.mailing import retry_mail
from arqlab.web import LAB, Column, Empty, Filter, Pages, Table, answer, cells

pages = Pages(access=organized_lab_or_404, section="messages")


@pages.read(f"{LAB}mail/", "mail-list")
def mail_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the mail of a lab, newest first: the queue, the log and the errors."""
    counted = dict(lab.mails.order_by().values_list("state").annotate(Count("pk")))
    counts = [(state, counted[state]) for state in Mail.State if state in counted]
    context = {
        "counts": counts,
        "sends_mail": settings.SENDS_MAIL,
        "sender": settings.DEFAULT_FROM_EMAIL,
    }
    table = _mail_table(request, lab, [state for state, _ in counts])
    return answer(request, "notices/mail_list.html", context, table)


def _mail_table(request: HttpRequest, lab: Lab, states: list[Mail.State]) -> Table[Mail]:
    def due(mail: Mail) -> str:
        is_due = mail.error and mail.state == Mail.State.QUEUED
        return format_html("Next attempt: {}", cells.moment(mail.due_at)) if is_due else ""

    return Table[Mail](
        "mail",
        [
            Column("Address", lambda row: row.address, cells.ADDRESS, by="address", is_head=True),
            Column("Subject", lambda row: row.subject, by="subject", css="wrap"),
            Column("State", lambda row: row.state, cells.CHIP),
            Column("Attempts", lambda row: row.attempts, cells.COUNT, by="attempts"),
            Column("Since", lambda row: row.changed_at, cells.TIME, by="changed_at"),
            Column("Error", lambda row: row.error, note=due, css="wrap"),
            Column("Change", template="notices/_mail_retry.html", hides_heading=True),
            Column("", order="queued", by="pk", name=None),
        ],
        lab.mails.all(),
        asked=request.GET,
        order="-queued",
        searched=("address", "subject", "error"),
        filters=[Filter("state", "State", "state", [(s.value, s.label) for s in states])],
        empty=Empty(
            "No email", "Email appears here when notices, messages and invitations are sent."
        ),
    )


@pages.action(f"{LAB}mail/<number:mail>/retry/", "mail-retry")
def mail_retry(request: HttpRequest, lab: Lab, mail: int) -> HttpResponse:
    """Queue a failed email again."""
    failed = get_object_or_404(lab.mails, pk=mail)
    with told(request):
        retry_mail(mail=failed, at=timezone.now(), by=signed_in(request))
        messages.success(request, f"The email to {failed.address} is queued again.")
    return redirect("notices:mail-list", lab=lab.slug)
