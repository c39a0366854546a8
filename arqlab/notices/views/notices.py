"""A user's notices, and whether they come by mail, too."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.notices.models import Notice
from arqlab.notices.selectors import notices_of
from arqlab.notices.services.notifying import mark_all_read, set_mail_preference
from arqlab.web import Column, Empty, Pages, Table, answer, cells, to

pages = Pages(access=organized_lab_or_404, section="messages")

NOTICE_COLUMNS: list[Column[Notice]] = [
    Column(
        "Notice",
        lambda row: row.subject,
        link=to("notices:notice-detail", of=lambda row: row.pk),
        by="subject",
        is_head=True,
        css="wrap",
    ),
    Column("State", lambda row: "read" if row.read_at else "unread", cells.CHIP),
    Column("Lab", lambda row: row.lab and row.lab.name, by="lab__name", css="wrap"),
    Column("When", lambda row: row.created_at, cells.TIME, by="pk"),
]


@pages.read("notices/", "notice-list", shows="notices", access=None, section="", sign_in=True)
def notice_list(request: HttpRequest) -> HttpResponse:
    """Show the user's notices, newest first."""
    user = signed_in(request)
    table = Table[Notice](
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
    return redirect("accounts:account")
