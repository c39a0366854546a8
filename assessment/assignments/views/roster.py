"""The roster of a task: the assessors, the hours that they offer, and their bids."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import allowed
from arqlab.core.views import edited, signed_in, told
from arqlab.core.views.error_pages import ErrorText, error_response
from arqlab.labs.permissions import organized_task_or_404, task_or_404
from arqlab.web import TASK, Column, Pages, Row, Table, answer, cells, number_of
from assessment.assignments.forms import HoursForm, OfferForm, RosterForm, RosterRowForm
from assessment.assignments.selectors.roster import (
    RosterRow,
    is_on_roster,
    task_roster,
    topics_to_bid_for,
)
from assessment.assignments.services.planning import (
    add_assessors,
    change_offer,
    invite_to_bid,
    remove_assessor,
    save_bids,
)
from assessment.assignments.views.progress import person_column
from assessment.models import TopicBid

pages = Pages(TASK, section="judging")


@pages.form("assignments/roster/", "assignment-roster", access=organized_task_or_404)
def assignment_roster(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the roster with hours and bids, and add assessors to it."""
    form = RosterForm(request.POST if request.method == "POST" else None, task=task)
    if request.method == "POST" and form.is_valid():
        people, at, by = list(form.cleaned_data["people"]), timezone.now(), signed_in(request)
        add = invite_to_bid if form.cleaned_data["invites"] else add_assessors
        add(task=task, people=people, at=at, by=by)
        messages.success(request, f"Added {', '.join(person.name for person in people)}.")
        return redirect("assessment:assignment-roster", lab=task.lab.slug, task=task.slug)
    rows = task_roster(task)
    context = {
        "form": form,
        "rows": rows,
        "silent": _silent(rows),
        "offered": sum(row.hours or 0 for row in rows if row.may_judge),
    }
    return answer(request, "assessment/assignment_roster.html", context, _roster_table(rows))


class _EditedRow(NamedTuple):
    entry: RosterRow
    form: RosterRowForm


def _roster_table(rows: list[RosterRow]) -> Table[_EditedRow]:
    def name(row: _EditedRow) -> str:
        chips = cells.chip("waiting", "no topics marked") if _silent([row.entry]) else ""
        return format_html("{} {}", row.entry.person.name, chips)

    people: Column[_EditedRow] = person_column(lambda row: row.entry)
    bids: list[Column[_EditedRow]] = bid_columns(lambda row: row.entry.counts)
    return Table[_EditedRow](
        "roster",
        [
            replace(people, value=name),
            Column("Hours offered, group", template="assessment/_roster_hours.html"),
            Column("Topics", lambda row: row.entry.topics, cells.COUNT),
            *bids,
            Column("No mark", lambda row: row.entry.unmarked, cells.COUNT),
            Column("Note", lambda row: row.entry.entry and row.entry.entry.note, cells.PROSE),
            Column(
                "Invited", lambda row: row.entry.entry and row.entry.entry.invited_at, cells.TIME
            ),
            Column("Change", template="assessment/_roster_remove.html", hides_heading=True),
        ],
        [_EditedRow(row, RosterRowForm(entry=row.entry, auto_id=False)) for row in rows],
    )


def bid_columns(counts: Callable[[Row], Mapping[str, int]]) -> list[Column[Row]]:
    """Return a column for each choice of a bid, with the number of topics."""

    def column(value: str, label: str) -> Column[Row]:
        return Column(label, lambda row: counts(row).get(value, 0), cells.COUNT)

    return [column(*choice) for choice in TopicBid.Choice.choices]


@pages.action(
    "assignments/roster/<number:person>/hours/",
    "assignment-roster-hours",
    access=organized_task_or_404,
)
def roster_hours(request: HttpRequest, task: Task, person: int) -> HttpResponse:
    """Change the hours and the group of an assessor."""
    assessor = _person_or_404(task, person)
    saved, where = f"Saved the entry of {assessor.name}.", "assessment:assignment-roster"
    return _offered(request, task, assessor, RosterRowForm, saved, where)


def _offered(
    request: HttpRequest, task: Task, person: User, form_class: type[HoursForm], saved: str, to: str
) -> HttpResponse:
    """Store what an assessor offers, or report what is wrong, and go to a page of the task."""
    address = reverse(to, args=[task.lab.slug, task.slug])
    at, by = timezone.now(), signed_in(request)

    def save(form: HoursForm) -> HttpResponse:
        change_offer(task=task, person=person, changes=form.cleaned_data, at=at, by=by)
        messages.success(request, saved)
        return redirect(address)

    form, response = edited(
        request,
        task,
        lambda data: form_class(data, entry=task.roster.filter(user=person).first()),
        save,
        events=task.lab.audit_events.filter(
            verb="roster.offer", target=task, detail__person=person.get_username()
        ),
    )
    for errors in form.errors.values():
        messages.error(request, f"{person.name}: {errors[0]}" if person != by else str(errors[0]))
    return response or redirect(address)


@pages.action(
    "assignments/roster/<number:person>/remove/",
    "assignment-roster-remove",
    access=organized_task_or_404,
)
def roster_remove(request: HttpRequest, task: Task, person: int) -> HttpResponse:
    """Remove an assessor from the roster."""
    assessor = _person_or_404(task, person)
    with told(request):
        remove_assessor(task=task, person=assessor, by=signed_in(request))
        messages.success(request, f"Removed {assessor.name} from the roster.")
    return redirect("assessment:assignment-roster", lab=task.lab.slug, task=task.slug)


@pages.action(
    "assignments/roster/invite/", "assignment-roster-invite", access=organized_task_or_404
)
def roster_invite(request: HttpRequest, task: Task) -> HttpResponse:
    """Invite the assessors who have not marked topics yet."""
    people = [row.person for row in _silent(task_roster(task))]
    if people:
        invite_to_bid(task=task, people=people, at=timezone.now(), by=signed_in(request))
    messages.success(request, f"Invited {', '.join(person.name for person in people) or 'nobody'}.")
    return redirect("assessment:assignment-roster", lab=task.lab.slug, task=task.slug)


def _silent(rows: list[RosterRow]) -> list[RosterRow]:
    return [row for row in rows if row.may_judge and not row.bids]


def _person_or_404(task: Task, person: int) -> User:
    people = User.objects.filter(pk__in=[row.person.pk for row in task_roster(task)])
    return get_object_or_404(people, pk=person)


def bidding_task_or_404(user: User, lab_slug: str, task_slug: str) -> Task:
    """Return the task for an assessor on its roster; raise 404 for anyone else."""
    task = task_or_404(user, lab_slug, task_slug)
    return allowed(task, is_on_roster(user, task))


@pages.form("bids/", "bid-list", access=bidding_task_or_404, sign_in=True)
def bid_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the topics with the user's choices; save a choice as soon as it is made."""
    user = signed_in(request)
    is_script = "HX-Request" in request.headers
    if request.method == "POST":
        fields = {number_of(name.removeprefix("bid-")): bid for name, bid in request.POST.items()}
        choices = {topic: str(bid) for topic, bid in fields.items() if topic}
        try:
            save_bids(task=task, user=user, choices=choices, at=timezone.now())
        except UserError as error:
            text = ErrorText("Not saved", error.message, "Reload the page and choose again.")
            return error_response(request, text, status=409)
        if not is_script:
            messages.success(request, "Your marks are saved.")
            return redirect("assessment:bid-list", lab=task.lab.slug, task=task.slug)
    page = "_bid_state.html" if is_script else "bid_list.html"
    topics = topics_to_bid_for(task, user)
    counts = Counter(choice for _, choice in topics if choice)
    context = {
        "topics": topics,
        "choices": TopicBid.Choice.choices,
        "counts": [(label, counts[value]) for value, label in TopicBid.Choice.choices],
        "marked": counts.total(),
        "form": OfferForm(entry=task.roster.filter(user=user).first()),
    }
    return render(request, f"assessment/{page}", context)


@pages.action("bids/offer/", "bid-offer", access=bidding_task_or_404, sign_in=True)
def bid_offer(request: HttpRequest, task: Task) -> HttpResponse:
    """Save the hours and the note of the user."""
    user, saved = signed_in(request), "Your hours and note are saved."
    return _offered(request, task, user, OfferForm, saved, "assessment:bid-list")
