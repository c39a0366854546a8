"""A user's own notices, and whether they also come by email."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from arqlab.core.permissions import signed_in
from arqlab.notices.selectors import notices_of
from arqlab.notices.services.reading import mark_all_read, set_mail_preference

NOTICES_A_PAGE = 50


@login_required
@require_safe
def notice_list(request: HttpRequest) -> HttpResponse:
    """Show the user's notices, newest first."""
    user = signed_in(request)
    pages = Paginator(notices_of(user), NOTICES_A_PAGE)
    context = {
        "page": pages.get_page(request.GET.get("page")),
        "unread": user.notices.unread().count(),
        "sends_mail": settings.SENDS_MAIL,
    }
    return render(request, "notices/notice_list.html", context)


@login_required
@require_safe
def notice_detail(request: HttpRequest, notice: int) -> HttpResponse:
    """Show a notice."""
    found = get_object_or_404(notices_of(signed_in(request)), pk=notice)
    return render(request, "notices/notice_detail.html", {"notice": found, "lab": found.lab})


@login_required
@require_POST
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark all notices of the user as read."""
    mark_all_read(user=signed_in(request), at=timezone.now())
    return redirect("notices:notice-list")


@login_required
@require_POST
def mail_preference(request: HttpRequest) -> HttpResponse:
    """Turn the user's email on or off."""
    gets_mail = request.POST.get("mail") == "on"
    set_mail_preference(user=signed_in(request), gets_mail=gets_mail)
    state = "on" if gets_mail else "off. Notices still appear here"
    messages.success(request, f"Email is {state}.")
    return redirect("core:account")
