"""The page of the sessions of a person."""

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from arqlab.accounts.services.sessions import (
    browser_name,
    end_other_sessions,
    end_session,
    idle_limit,
    sessions_of,
)
from arqlab.core.views import signed_in
from arqlab.web import Column, Empty, Pages, Table, answer, cells

pages = Pages(sign_in=True)


@pages.read("account/sessions/", "session-list")
def session_list(request: HttpRequest) -> HttpResponse:
    """Show the sessions of the user, with a button to end each of the others."""
    person, key = signed_in(request), request.session.session_key
    sessions = sessions_of(person)
    context = {"days": idle_limit().days, "others": sessions.exclude(session_key=key).count()}
    table = Table[UserSession](
        "sessions",
        [
            Column(
                "Browser",
                lambda row: browser_name(row.user_agent),
                note=lambda row: "this session" if row.session_key == key else "",
                is_head=True,
            ),
            Column("Address", lambda row: row.ip),
            Column("Signed in", lambda row: row.created_at, cells.TIME),
            Column("Last used", lambda row: row.last_seen_at, cells.TIME),
            Column("End", template="accounts/_session_end.html", hides_heading=True),
        ],
        sessions,
        empty=Empty("No sessions recorded yet", "Yours is listed within an hour of its use."),
    )
    return answer(request, "accounts/session_list.html", context, table)


@pages.action("account/sessions/<number:session>/end/", "session-end")
def session_end(request: HttpRequest, session: int) -> HttpResponse:
    """End one of the user's sessions."""
    person = signed_in(request)
    end_session(session=get_object_or_404(sessions_of(person), pk=session), by=person)
    messages.success(request, "Session ended. Its browser is signed out.")
    return redirect("accounts:session-list")


@pages.action("account/sessions/end-others/", "session-end-others")
def session_end_others(request: HttpRequest) -> HttpResponse:
    """End all sessions of the user but this one."""
    count = end_other_sessions(user=signed_in(request))
    messages.success(request, f"{count} session{'s' * (count != 1)} ended.")
    return redirect("accounts:session-list")
