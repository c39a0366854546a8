"""The page of the user's API tokens."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from arqlab.core import permissions
from arqlab.core.errors import UserError
from arqlab.core.forms.tokens import TokenForm
from arqlab.core.services.tokens import create_token, revoke_token


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def token_list(request: HttpRequest) -> HttpResponse:
    """Show the user's tokens; create one and show it this once."""
    person, now = permissions.signed_in(request), timezone.now()
    form = TokenForm(request.POST if request.method == "POST" else None)
    created = ""
    if request.method == "POST" and form.is_valid():
        try:
            created = create_token(user=person, at=now, **form.cleaned_data)
        except UserError as error:
            form.add_error(None, error.message)
        else:
            form = TokenForm()
    context = {"form": form, "created": created, "tokens": person.api_tokens.all(), "now": now}
    status = 422 if form.errors else 200
    return render(request, "core/token_list.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def token_revoke(request: HttpRequest, api_token: int) -> HttpResponse:
    """Ask whether to revoke one of the user's tokens, and revoke it."""
    person = permissions.signed_in(request)
    token = get_object_or_404(person.api_tokens, pk=api_token)
    if request.method != "POST":
        return render(request, "core/token_revoke.html", {"token": token})
    revoke_token(token=token, by=person)
    messages.success(request, f"Token {token.name} revoked.")
    return redirect("core:token-list")
