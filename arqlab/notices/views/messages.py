"""The organizers' pages of messages to teams and assessors, and of the lab's mail."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.notices import selectors
from arqlab.notices.forms import MessageForm
from arqlab.notices.models import Mail
from arqlab.notices.services.mailing import retry_mail
from arqlab.notices.services.messages import send_message

ROWS_A_PAGE = 100


@require_safe
def message_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the messages of a lab, newest first."""
    found = organized_lab_or_404(request.user, lab)
    pages = Paginator(selectors.messages_of(found), ROWS_A_PAGE)
    context = {"lab": found, "page": pages.get_page(request.GET.get("page"))}
    context["sends_mail"] = settings.SENDS_MAIL
    return render(request, "notices/message_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def message_create(request: HttpRequest, lab: str) -> HttpResponse:
    """Write a message, preview it with its recipients, and send it."""
    found = organized_lab_or_404(request.user, lab)
    form = MessageForm(request.POST or None)
    context: dict[str, Any] = {"lab": found, "form": form, "sends_mail": settings.SENDS_MAIL}
    if request.method == "POST" and form.is_valid():
        if "send" in request.POST:
            return _send(request, found, form)
        people = selectors.message_recipients(found, form.cleaned_data["audience"])
        context |= {"preview": form.cleaned_data, "recipients": people.count()}
        context["mails"] = selectors.gets_mail(people).count() if settings.SENDS_MAIL else 0
    return render(request, "notices/message_create.html", context)


@require_safe
def message_detail(request: HttpRequest, lab: str, message: int) -> HttpResponse:
    """Show a message with its recipients: who read it, and the state of their mail."""
    found = organized_lab_or_404(request.user, lab)
    shown = get_object_or_404(selectors.messages_of(found), pk=message)
    notices = shown.notices.select_related("user", "mail").order_by("user__username")
    addresses = ", ".join(one.user.email for one in notices if one.user.email)
    context = {
        "lab": found,
        "shown": shown,
        "notices": notices,
        "addresses": addresses,
        "is_mailed": any(one.mail for one in notices),
        "link": request.build_absolute_uri(reverse("notices:notice-list")),
    }
    return render(request, "notices/message_detail.html", context)


@require_safe
def mail_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the mail of a lab, newest first: the queue, the log and the errors."""
    found = organized_lab_or_404(request.user, lab)
    state = request.GET.get("state", "")
    mails = selectors.mails_of(found, state=state if state in Mail.State else "")
    context = {
        "lab": found,
        "page": Paginator(mails, ROWS_A_PAGE).get_page(request.GET.get("page")),
        "counts": selectors.mail_counts(found),
        "state": state,
        "sends_mail": settings.SENDS_MAIL,
        "sender": settings.DEFAULT_FROM_EMAIL,
    }
    return render(request, "notices/mail_list.html", context)


@require_POST
def mail_retry(request: HttpRequest, lab: str, mail: int) -> HttpResponse:
    """Queue a failed email again."""
    found = organized_lab_or_404(request.user, lab)
    failed = get_object_or_404(found.mails, pk=mail)
    try:
        retry_mail(mail=failed, at=timezone.now(), by=signed_in(request))
    except UserError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The email to {failed.address} is queued again.")
    return redirect("notices:mail-list", lab=lab)


def _send(request: HttpRequest, lab: Lab, form: MessageForm) -> HttpResponse:
    try:
        message = send_message(lab=lab, by=signed_in(request), **form.cleaned_data)
    except UserError as error:
        form.add_error("audience", error.message)
        context = {"lab": lab, "form": form, "sends_mail": settings.SENDS_MAIL}
        return render(request, "notices/message_create.html", context, status=409)
    count = message.notices.count()
    messages.success(request, f"Message sent to {count} {'person' if count == 1 else 'people'}.")
    return redirect("notices:message-detail", lab=lab.slug, message=message.pk)
