"""The first page, the account, and the page that machines ask whether ArqLab is well."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from arqlab.core import permissions, selectors, services
from arqlab.core.forms import AccountForm
from arqlab.core.models import User


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Signed out: what ArqLab is, and the public labs. Signed in: one's labs and what to do next in each."""
    now = timezone.now()
    own = selectors.own_labs(request.user, at=now) if isinstance(request.user, User) else []
    others = permissions.labs_visible_to(request.user).exclude(pk__in=[lab.row.lab.pk for lab in own])
    context = {"own_labs": own, "labs": selectors.lab_rows(others, at=now), "now": now}
    return render(request, "core/home.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """A person's own data and roles."""
    person = permissions.signed_in(request)
    initial = {"first_name": person.first_name, "last_name": person.last_name}
    form = AccountForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        services.change_name(user=person, **form.cleaned_data)
        messages.success(request, "Your name was saved.")
        return redirect("core:account")
    context = {"form": form, "roles": selectors.roles_of(person)}
    return render(request, "core/account.html", context)


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Say whether the database answers: 200, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "failing", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})
