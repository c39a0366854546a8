"""The account page."""

from datetime import datetime

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.db.models import QuerySet
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from arqlab.accounts.forms import AccountForm
from arqlab.accounts.selectors import account_history
from arqlab.accounts.services.personal import delete_account, personal_data
from arqlab.accounts.services.tokens import create_token, revoke_token
from arqlab.core.models import ApiToken, AuditEvent, Lab, Membership, User
from arqlab.core.views import edited, refused, signed_in
from arqlab.labs.permissions import labs_visible_to
from arqlab.labs.selectors import roles_of
from arqlab.labs.services.people import change_name
from arqlab.labs.views.audit import detail_lines
from arqlab.web import Column, Empty, Pages, Table, answer, cells, to, url_of

pages = Pages(sign_in=True)


class TokenForm(forms.Form):
    """The purpose of a token, its scope, and how long it is valid."""

    name = forms.CharField(
        label="What is it for?",
        max_length=80,
        help_text="For example the name of the program or machine that will use it.",
        error_messages={"required": "Enter what the token is for."},
    )
    scope = forms.ChoiceField(
        label="Programs may",
        choices=[(value, label.lower()) for value, label in ApiToken.Scope.choices],
        initial=ApiToken.Scope.READ,
        widget=forms.RadioSelect,
    )
    lab = forms.ModelChoiceField(
        Lab.objects.none(), label="In", required=False, empty_label="all labs", to_field_name="slug"
    )
    days = forms.TypedChoiceField(
        label="Expires after",
        coerce=int,
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year")],
        initial=90,
    )

    def __init__(self, data: QueryDict | None = None, *, labs: QuerySet[Lab]) -> None:
        """Offer the labs that the user sees."""
        super().__init__(data)
        self.fields["lab"].queryset = labs  # type: ignore[attr-defined]


@pages.form("account/tokens/", "token-list")
def token_list(request: HttpRequest) -> HttpResponse:
    """Show the user's tokens; create a token and show its text once."""
    person, now = signed_in(request), timezone.now()
    labs = labs_visible_to(person)
    form = TokenForm(request.POST if request.method == "POST" else None, labs=labs)
    created = ""
    if request.method == "POST" and form.is_valid():
        with refused(form):
            created = create_token(user=person, at=now, **form.cleaned_data)
            form = TokenForm(labs=labs)
    context, status = {"form": form, "created": created}, 422 if form.errors else 200
    tokens = _tokens_table(person, now)
    return answer(request, "accounts/token_list.html", context, tokens, status=status)


def _tokens_table(person: User, now: datetime) -> Table[ApiToken]:
    return Table[ApiToken](
        "tokens",
        [
            Column("Used for", lambda row: row.name, is_head=True),
            Column("Programs may", lambda token: token.get_scope_display().lower()),
            Column("In", lambda token: token.lab or "all labs"),
            Column("Created", lambda row: row.created_at, cells.TIME),
            Column(
                "Last used",
                lambda token: cells.moment(token.last_used_at) if token.last_used_at else "never",
            ),
            Column(
                "Expires",
                lambda token: (
                    cells.moment(token.expires_at) if token.expires_at > now else "expired"
                ),
            ),
            Column(
                "Action",
                lambda token: "Revoke",
                link=to("accounts:token-revoke", of=lambda row: row.pk),
                spoken=lambda token: f"Revoke the token for {token.name}",
            ),
        ],
        person.api_tokens.select_related("lab"),
    )


@pages.form("account/tokens/<number:api_token>/revoke/", "token-revoke")
def token_revoke(request: HttpRequest, api_token: int) -> HttpResponse:
    """Ask whether to revoke one of the user's tokens, and revoke it."""
    person = signed_in(request)
    token = get_object_or_404(person.api_tokens, pk=api_token)
    if request.method != "POST":
        return render(request, "accounts/token_revoke.html", {"token": token})
    revoke_token(token=token, by=person)
    messages.success(request, f"Token {token.name} revoked.")
    return redirect("accounts:token-list")


@pages.form("account/", "account", shows="account")
def account(request: HttpRequest) -> HttpResponse:
    """Show the user's roles, and edit the user's name."""
    person = signed_in(request)

    def save(form: AccountForm) -> HttpResponse:
        change_name(user=person, **form.cleaned_data)
        messages.success(request, "Name saved.")
        return redirect("accounts:account")

    names = ("first_name", "last_name")
    form, stale = edited(
        request, person, lambda data: AccountForm(data, initial=model_to_dict(person, names)), save
    )
    return stale or answer(request, "accounts/account.html", {"form": form}, _roles_table(person))


def _roles_table(person: User) -> Table[Membership]:
    return Table[Membership](
        "roles",
        [
            Column(
                "Lab",
                lambda row: row.lab.name,
                link=to("lab", of=lambda row: row.lab.slug),
                is_head=True,
            ),
            Column("Role", lambda row: row.get_role_display()),
            Column(
                "Team",
                lambda row: row.team and row.team.name,
                link=lambda role: (
                    role.team and reverse("teams:team-detail", args=[role.lab.slug, role.team.pk])
                ),
            ),
            Column("Since", lambda row: row.created_at, cells.TIME),
        ],
        roles_of(person),
        empty=Empty(
            "No roles yet",
            "Create a team in a lab, or open the invitation link of a team.",
            url_of("labs"),
            "View all labs",
        ),
    )


@pages.read("account/history/", "account-history")
def history(request: HttpRequest) -> HttpResponse:
    """Show the sign-ins of the user, and the changes of their password, roles and tokens."""
    person = signed_in(request)
    return answer(request, "accounts/account_history.html", {}, _history_table(request, person))


def _history_table(request: HttpRequest, person: User) -> Table[AuditEvent]:
    return Table[AuditEvent](
        "events",
        [
            Column("When", lambda row: row.at, cells.TIME, by="at"),
            Column("Event", lambda row: row.verb, cells.ID),
            Column("By", lambda event: event.actor.name if event.actor else "ArqLab"),
            Column("Lab", lambda row: row.lab and row.lab.name),
            Column("Details", lambda event: "\n".join(detail_lines(event.detail)), cells.PROSE),
        ],
        account_history(person),
        asked=request.GET,
        order="-when",
        empty=Empty("No events yet", "Your next sign-in is the first event."),
    )


@pages.read("account/data/", "account-data")
def personal_data_file(request: HttpRequest) -> HttpResponse:
    """Return all that is stored about the user as a JSON file."""
    rows = personal_data(signed_in(request))
    response = JsonResponse(rows, json_dumps_params={"indent": 1, "ensure_ascii": False})
    response.headers["Content-Disposition"] = 'attachment; filename="arqlab-account.json"'
    return response


@pages.form("account/delete/", "account-delete")
def account_delete(request: HttpRequest) -> HttpResponse:
    """Ask whether to delete the user's account, and delete it."""
    person = signed_in(request)
    form = forms.Form(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with refused(form):
            name = delete_account(user=person, by=person)
            logout(request)
            messages.success(request, f"Your account is deleted. What stays has the name {name}.")
            return redirect(url_of("home"))
    status = 422 if form.errors else 200
    return render(request, "accounts/account_delete.html", {"form": form}, status=status)
