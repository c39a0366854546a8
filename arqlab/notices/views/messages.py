"""Messages to the people of a lab."""

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.notices import selectors
from arqlab.notices.forms import MessageForm
from arqlab.notices.models import Message, Notice
from arqlab.notices.services.mailing import send_message
from arqlab.web import LAB, Column, Empty, Pages, Tab, Table, answer, cells, organizers, to

pages = Pages(access=organized_lab_or_404, section="messages")


@pages.read(f"{LAB}messages/", "message-list", tabs=(Tab("lab", "Messages", 60, organizers),))
def message_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the messages of a lab, newest first."""
    context = {"sends_mail": settings.SENDS_MAIL}
    return answer(request, "notices/message_list.html", context, _messages_table(request, lab))


def _messages_table(request: HttpRequest, lab: Lab) -> Table[Message]:
    return Table[Message](
        "sent",
        [
            Column(
                "Subject",
                lambda row: row.subject,
                link=to("notices:message-detail", lab.slug, of=lambda row: row.pk),
                by="subject",
                is_head=True,
                css="wrap",
            ),
            Column("Recipients", lambda row: row.get_audience_display()),
            Column("People", lambda row: row.recipients, cells.COUNT, by="recipients"),
            Column("Read", lambda row: row.read, cells.COUNT, by="read"),
            Column("Emails sent", lambda row: row.mail_sent, cells.COUNT),
            Column("Queued", lambda row: row.mail_queued + row.mail_sending, cells.COUNT),
            Column("Failed", lambda row: row.mail_failed, cells.COUNT, by="mail_failed"),
            Column("From", lambda row: row.sent_by and row.sent_by.name),
            Column("When", lambda row: row.sent_at, cells.TIME, by="pk"),
        ],
        selectors.messages_of(lab),
        asked=request.GET,
        order="-when",
        empty=Empty(
            "No messages yet",
            "Write to all teams, all assessors or both. You see a preview with the number of "
            "recipients first.",
            reverse("notices:message-create", args=[lab.slug]),
            "Write message",
        ),
    )


@pages.form(f"{LAB}messages/new/", "message-create")
def message_create(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Write a message, preview it with its recipients, and send it."""
    form = MessageForm(request.POST or None)
    context: dict[str, object] = {"form": form, "sends_mail": settings.SENDS_MAIL}
    if request.method == "POST" and form.is_valid():
        if "send" in request.POST:
            return _send(request, lab, form)
        people = selectors.message_recipients(lab, form.cleaned_data["audience"])
        context |= {"preview": form.cleaned_data, "recipients": people.count()}
        context["mails"] = selectors.gets_mail(people).count() if settings.SENDS_MAIL else 0
    return render(request, "notices/message_create.html", context)


@pages.read(f"{LAB}messages/<number:message>/", "message-detail")
def message_detail(request: HttpRequest, lab: Lab, message: int) -> HttpResponse:
    """Show a message with its recipients: who read it, and the state of their mail."""
    sent = get_object_or_404(selectors.messages_of(lab), pk=message)
    notices = sent.notices.select_related("user", "mail").order_by("user__username")
    addresses = ", ".join(notice.user.email for notice in notices if notice.user.email)
    context = {
        "message": sent,
        "addresses": addresses,
        "is_mailed": any(notice.mail for notice in notices),
        "link": request.build_absolute_uri(reverse("notices:notice-list")),
    }
    return answer(request, "notices/message_detail.html", context, _recipients_table(notices))


def _recipients_table(notices: QuerySet[Notice]) -> Table[Notice]:
    return Table[Notice](
        "recipients",
        [
            Column("Person", lambda row: row.user.name, is_head=True),
            Column(
                "Email",
                lambda row: (
                    format_html("{} {}", row.mail.address, cells.chip(row.mail.state))
                    if row.mail
                    else "not emailed"
                ),
            ),
            Column("Error", lambda row: row.mail and row.mail.error, css="wrap"),
            Column("Read", lambda row: row.read_at, cells.TIME),
        ],
        notices,
        has_tools=True,
    )


def _send(request: HttpRequest, lab: Lab, form: MessageForm) -> HttpResponse:
    try:
        message = send_message(lab=lab, by=signed_in(request), **form.cleaned_data)
    except UserError as error:
        form.add_error("audience", error.message)
        context = {"form": form, "sends_mail": settings.SENDS_MAIL}
        return render(request, "notices/message_create.html", context, status=409)
    count = message.notices.count()
    messages.success(request, f"Message sent to {count} {'person' if count == 1 else 'people'}.")
    return redirect("notices:message-detail", lab=lab.slug, message=message.pk)
