"""Notices of a user; messages, invitations, texts and mail of a lab."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, QuerySet
from django.db.models.functions import Lower
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import capfirst

from arqlab.core.errors import UserError
from arqlab.core.forms.addresses import PastedAddress
from arqlab.core.models import Lab, Role
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.core.views.editing import edited
from arqlab.notices import selectors
from arqlab.notices.forms import InvitationForm, MessageForm, TextForm
from arqlab.notices.models import Invitation, Kind, Mail, Notice
from arqlab.notices.selectors import notices_of
from arqlab.notices.services.invitations import (
    Invited,
    accept_invitation,
    invite_new_team,
    invite_people,
    resend_invitation,
    withdraw_invitation,
)
from arqlab.notices.services.mailing import retry_mail, send_message
from arqlab.notices.services.notifying import mark_all_read, set_mail_preference
from arqlab.notices.services.texts import (
    DEFAULTS,
    NoticeText,
    edit_text,
    placeholders,
    text_of,
    texts_of,
)
from arqlab.web.cells import ADDRESS, CHIP, COUNT, TIME, chip, moment
from arqlab.web.lists import Filter
from arqlab.web.pages import LAB, Pages
from arqlab.web.places import url_of
from arqlab.web.tables import Column, Empty, Table, answer, to
from arqlab.web.tabs import Tab, organizers

pages = Pages(access=organized_lab_or_404, section="messages")

NOTICE_COLUMNS = [
    Column(
        "Notice",
        "subject",
        link=to("notices:notice-detail", of="pk"),
        by="subject",
        is_head=True,
        css="wrap",
    ),
    Column("State", lambda row: "read" if row.read_at else "unread", CHIP),
    Column("Lab", "lab.name", by="lab__name", css="wrap"),
    Column("When", "created_at", TIME, by="pk"),
]


@pages.read(f"{LAB}texts/", "text-list")
def text_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the texts of all notices, and which of them the lab has edited."""
    texts = texts_of(lab)
    table = Table(
        "texts",
        [
            Column(
                "Notice", "label", link=to("notices:text-edit", lab.slug, of="value"), is_head=True
            ),
            Column("Subject", lambda kind: texts[kind].subject, css="wrap"),
            Column("Text", lambda kind: "default" if texts[kind] == DEFAULTS[kind] else "edited"),
        ],
        list(DEFAULTS),
    )
    return answer(request, "notices/text_list.html", {}, table)


@pages.form(f"{LAB}texts/<slug:kind>/", "text-edit")
def text_edit(request: HttpRequest, lab: Lab, kind: str) -> HttpResponse:
    """Edit the subject and text of a kind of notice."""
    notice_kind = _kind_or_404(kind)

    def save(form: TextForm) -> HttpResponse:
        text = NoticeText(**form.cleaned_data)
        edit_text(lab=lab, kind=notice_kind, text=text, by=signed_in(request))
        messages.success(request, f"Text of “{notice_kind.label}” saved.")
        return redirect("notices:text-list", lab=lab.slug)

    form, stale = edited(
        request,
        lab,
        lambda data: TextForm(data, initial=text_of(lab, notice_kind)._asdict()),
        save,
        events=lab.audit_events.filter(verb="notices.edit-text", target=notice_kind.label),
    )
    is_edited = text_of(lab, notice_kind) != DEFAULTS[notice_kind]
    context = {"kind": notice_kind, "form": form, "is_edited": is_edited}
    context["placeholders"] = [f"{{{name}}}" for name in placeholders(notice_kind)]
    return stale or render(request, "notices/text_edit.html", context)


@pages.action(f"{LAB}texts/<slug:kind>/restore/", "text-restore")
def text_restore(request: HttpRequest, lab: Lab, kind: str) -> HttpResponse:
    """Restore the default text of a kind of notice."""
    notice_kind = _kind_or_404(kind)
    edit_text(lab=lab, kind=notice_kind, text=DEFAULTS[notice_kind], by=signed_in(request))
    messages.success(request, f"Default text of “{notice_kind.label}” restored.")
    return redirect("notices:text-list", lab=lab.slug)


def _kind_or_404(kind: str) -> Kind:
    """Return the kind of notice, or raise 404 if it has no text to edit."""
    if kind not in [member.value for member in DEFAULTS]:
        raise Http404
    return Kind(kind)


@pages.read(f"{LAB}messages/", "message-list", tabs=(Tab("lab", "Messages", 60, organizers),))
def message_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the messages of a lab, newest first."""
    context = {"sends_mail": settings.SENDS_MAIL}
    return answer(request, "notices/message_list.html", context, _messages_table(request, lab))


def _messages_table(request: HttpRequest, lab: Lab) -> Table:
    return Table(
        "sent",
        [
            Column(
                "Subject",
                "subject",
                link=to("notices:message-detail", lab.slug, of="pk"),
                by="subject",
                is_head=True,
                css="wrap",
            ),
            Column("Recipients", "get_audience_display"),
            Column("People", "recipients", COUNT, by="recipients"),
            Column("Read", "read", COUNT, by="read"),
            Column("Emails sent", "mail_sent", COUNT),
            Column("Queued", lambda row: row.mail_queued + row.mail_sending, COUNT),
            Column("Failed", "mail_failed", COUNT, by="mail_failed"),
            Column("From", "sent_by.name"),
            Column("When", "sent_at", TIME, by="pk"),
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
    context: dict[str, Any] = {"form": form, "sends_mail": settings.SENDS_MAIL}
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


def _recipients_table(notices: QuerySet[Notice]) -> Table:
    return Table(
        "recipients",
        [
            Column("Person", "user.name", is_head=True),
            Column(
                "Email",
                lambda row: (
                    format_html("{} {}", row.mail.address, chip(row.mail.state))
                    if row.mail
                    else "not emailed"
                ),
            ),
            Column("Error", "mail.error", css="wrap"),
            Column("Read", "read_at", TIME),
        ],
        notices,
        has_tools=True,
    )


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


def _mail_table(request: HttpRequest, lab: Lab, states: list[Mail.State]) -> Table:
    def due(mail: Mail) -> str:
        is_due = mail.error and mail.state == Mail.State.QUEUED
        return format_html("Next attempt: {}", moment(mail.due_at)) if is_due else ""

    return Table(
        "mail",
        [
            Column("Address", "address", ADDRESS, by="address", is_head=True),
            Column("Subject", "subject", by="subject", css="wrap"),
            Column("State", "state", CHIP),
            Column("Attempts", "attempts", COUNT, by="attempts"),
            Column("Since", "changed_at", TIME, by="changed_at"),
            Column("Error", "error", note=due, css="wrap"),
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


@pages.form(f"{LAB}invitations/", "invitation-list")
def invitation_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the invitations of a lab with their links, and invite people."""
    form = InvitationForm(request.POST or None, lab=lab)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            messages.success(request, _summary(_invite(request, lab, form), form.repeated))
            return redirect("notices:invitation-list", lab=lab.slug)
    context = {"form": form, "sends_mail": settings.SENDS_MAIL}
    return answer(request, "notices/invitation_list.html", context, _invitations(request, lab))


def _invitations(request: HttpRequest, lab: Lab) -> Table:
    return Table(
        "invitations",
        [
            Column("Address", "address", ADDRESS, by=Lower("address"), is_head=True),
            Column("Role", lambda row: capfirst(row.words), by="role", css="wrap"),
            Column(
                "State",
                "state",
                CHIP,
                note=lambda row: f"by {row.accepted_by.name}" if row.accepted_by else "",
            ),
            Column(
                "Email",
                lambda row: chip(row.mail.state) if row.mail else "not emailed",
                note="mail.error",
            ),
            Column("Invited", "invited_at", TIME, by="pk"),
            Column("Link", template="notices/_invitation_link.html"),
            Column("Change", template="notices/_invitation_buttons.html", hides_heading=True),
        ],
        lab.invitations.select_related("team", "mail", "accepted_by", "invited_by"),
        asked=request.GET,
        order="-invited",
        searched=("address", "team__name"),
        filters=[Filter("role", "Role", "role", Role.choices)],
        has_tools=True,
        empty=Empty(
            "No invitations yet", "Paste email addresses above and choose what the people become."
        ),
    )


def _invite(request: HttpRequest, lab: Lab, form: InvitationForm) -> Invited:
    addresses, by = form.cleaned_data["addresses"], signed_in(request)
    if name := form.cleaned_data["team_name"]:
        confirmed = request.POST.get("confirm", "")
        return invite_new_team(lab=lab, addresses=addresses, name=name, confirmed=confirmed, by=by)
    role, team = form.place
    return invite_people(lab=lab, addresses=addresses, role=role, team=team, by=by)


@pages.action(f"{LAB}invitations/<number:invitation>/resend/", "invitation-resend")
def invitation_resend(request: HttpRequest, lab: Lab, invitation: int) -> HttpResponse:
    """Send the email of an invitation again."""
    pending = get_object_or_404(lab.invitations, pk=invitation)
    with told(request):
        resend_invitation(invitation=pending, by=signed_in(request))
        messages.success(request, f"The invitation to {pending.address} is queued again.")
    return redirect("notices:invitation-list", lab=lab.slug)


@pages.action(f"{LAB}invitations/<number:invitation>/withdraw/", "invitation-withdraw")
def invitation_withdraw(request: HttpRequest, lab: Lab, invitation: int) -> HttpResponse:
    """Withdraw an invitation."""
    pending = get_object_or_404(lab.invitations.select_related("team"), pk=invitation)
    with told(request):
        withdraw_invitation(invitation=pending, by=signed_in(request))
        messages.success(request, f"The link of {pending.address} no longer works.")
    return redirect("notices:invitation-list", lab=lab.slug)


@pages.form("invitations/<str:token>/", "invitation-accept", access=None)
def invitation_accept(request: HttpRequest, token: str) -> HttpResponse:
    """Show an invitation to whoever has its link, and let a signed-in user accept it once."""
    invitations = Invitation.objects.select_related("lab", "team__lab", "invited_by")
    invitation = get_object_or_404(invitations, token=token)
    if request.method == "POST":
        return _accept(request, invitation)
    context: dict[str, Any] = {"invitation": invitation, "lab": invitation.lab}
    return render(request, "notices/invitation_accept.html", context)


@login_required
def _accept(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    with told(request):
        accept_invitation(invitation=invitation, user=signed_in(request))
        lab, team = invitation.lab, invitation.team
        messages.success(request, f"You are now {invitation.words_with_article} in {lab}.")
        if team:
            return redirect("core:team-detail", lab=lab.slug, team=team.pk)
        return redirect(url_of("lab", lab=lab.slug))
    return redirect("notices:invitation-accept", token=invitation.token)


def _summary(invited: Invited, repeated: list[PastedAddress]) -> str:
    """Return what happened to the addresses, in sentences."""
    count = len(invited.new)
    people = "1 person" if count == 1 else f"{count} people"
    after = (
        "The emails are queued."
        if settings.SENDS_MAIL
        else "Nothing was sent. Pass on the links below."
    )
    sentences = [f"{people} invited. {after}" if count else "Nobody was invited."]
    if invited.waiting:
        sentences.append(f"Already invited: {', '.join(invited.waiting)}.")
    if invited.having:
        sentences.append(f"Already have the role: {', '.join(invited.having)}.")
    if repeated:
        listed = ", ".join(f"{address.text} (line {address.line})" for address in repeated)
        sentences.append(f"Listed again, and invited once: {listed}.")
    return " ".join(sentences)


@pages.read("notices/", "notice-list", access=None, section="", sign_in=True)
def notice_list(request: HttpRequest) -> HttpResponse:
    """Show the user's notices, newest first."""
    user = signed_in(request)
    table = Table(
        "notices",
        NOTICE_COLUMNS,
        notices_of(user),
        asked=request.GET,
        order="-when",
        row_css=lambda row: "" if row.read_at else "is-own",
        empty=Empty(
            "No notices yet",
            "You are notified when your runs are validated, a deadline approaches, topics are "
            "assigned to you, a ticket is answered or a leaderboard is released.",
        ),
    )
    context = {"unread": user.notices.unread().count(), "sends_mail": settings.SENDS_MAIL}
    return answer(request, "notices/notice_list.html", context, table)


@pages.read(
    "notices/<number:notice>/", "notice-detail", access=None, section="overview", sign_in=True
)
def notice_detail(request: HttpRequest, notice: int) -> HttpResponse:
    """Show a notice."""
    own_notice = get_object_or_404(notices_of(signed_in(request)), pk=notice)
    return render(
        request, "notices/notice_detail.html", {"notice": own_notice, "lab": own_notice.lab}
    )


@pages.action("notices/read/", "notices-read", access=None, section="", sign_in=True)
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark all notices of the user as read."""
    mark_all_read(user=signed_in(request), at=timezone.now())
    return redirect("notices:notice-list")


@pages.action("notices/mail/", "mail-preference", access=None, sign_in=True)
def mail_preference(request: HttpRequest) -> HttpResponse:
    """Turn the user's email on or off."""
    gets_mail = request.POST.get("mail") == "on"
    set_mail_preference(user=signed_in(request), gets_mail=gets_mail)
    state = "on" if gets_mail else "off. Notices still appear here"
    messages.success(request, f"Email is {state}.")
    return redirect("core:account")
