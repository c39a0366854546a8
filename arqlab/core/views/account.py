"""The account page, and the health check."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError, connection
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from arqlab.core import permissions, selectors
from arqlab.core.forms.people import AccountForm
from arqlab.core.services.people import change_name
from arqlab.core.views.editing import edited


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Show the user's roles, and edit the user's name."""
    person = permissions.signed_in(request)

    def save(form: AccountForm) -> HttpResponse:
        change_name(user=person, **form.cleaned_data)
        messages.success(request, "Name saved.")
        return redirect("core:account")

    names = ("first_name", "last_name")
    form, answer = edited(
        request, person, lambda data: AccountForm(data, initial=model_to_dict(person, names)), save
    )
    context = {"form": form, "roles": selectors.roles_of(person)}
    return answer or render(request, "core/account.html", context)


@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """Return 200 if the database responds, otherwise 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "failing", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok", "database": "ok"})
