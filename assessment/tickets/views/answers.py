"""The pages of tickets: items that assessors could not judge."""

from collections.abc import Callable, Iterable, Mapping
from typing import Unpack

from django import forms
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import Truncator

from arqlab.core.errors import UserError
from arqlab.core.forms.typed import FormOptions, field_of
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Correction, Lab, User, Visitor
from arqlab.core.views import edited, signed_in
from arqlab.labs.permissions import looked_up_lab_or_404, organized_lab_or_404
from arqlab.labs.selectors import corrections_of
from arqlab.web import (
    LAB,
    Column,
    Empty,
    Filter,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    choice_column,
    counted,
    for_organizers,
    number_of,
    organizers,
    to,
)
from assessment.models import Pool, Ticket
from assessment.pools.selectors.choices import hides_threads
from assessment.pools.services.texts import thread_url
from assessment.tickets.forms import AdviceForm, SendForm
from assessment.tickets.selectors import (
    TICKET_STATES,
    policy_of,
    policy_sentences,
    reused_answers,
    sent_tickets,
    tickets_of,
)
from assessment.tickets.services.answers import (
    LONGEST_ANSWER,
    advise_ticket,
    answer_ticket,
    close_ticket_as_expert,
    correct_answer,
    send_ticket,
)
from assessment.tickets.services.items import (
    RepairKind,
    TicketItem,
    corrections_in,
    defects_of,
    read_ticket_item,
    shown_html,
)

pages = Pages(LAB, organized_lab_or_404, section="tickets")

ITEM = "judgment__instance__item"
EMPTY = {
    "answered": Empty(
        "No answered tickets yet", "Answered tickets appear here with their answers."
    ),
    "with-expert": Empty(
        "No tickets with an expert",
        "Send open tickets to an assessor or organizer who knows the field.",
    ),
    "open": Empty(
        "No open tickets",
        "When an assessor reports an item with a label that is not a judgment, a ticket appears "
        "here with the comment and the item as shown.",
    ),
}

CODE = cells.CellKind(lambda text: format_html("<code>{}</code>", Truncator(text).chars(200)))


@for_organizers
def organized_ticket_or_404(user: Visitor, lab_slug: str, ticket_id: int) -> Ticket:
    """Return a ticket of a lab for its organizers; raise 404 for anyone else."""
    lab = organized_lab_or_404(user, lab_slug)
    return get_object_or_404(tickets_of(lab).defer(None), pk=ticket_id)


class AnswerForm(forms.Form):
    """The answer to the assessor, and whether they should judge the item again."""

    answer = forms.CharField(
        label="Your answer",
        widget=forms.Textarea(attrs={"rows": 5}),
        max_length=LONGEST_ANSWER,
        help_text="The assessor sees the answer on their topics page.",
        error_messages={
            "required": "Write an answer: what the assessor should do, or what you have done."
        },
    )
    reused = forms.TypedChoiceField(
        label="Or send an earlier answer", required=False, coerce=int, empty_value=None
    )
    returns_item = forms.BooleanField(
        label="Return the item for another judgment",
        required=False,
        help_text="The item returns to the open items of its topic. The earlier label stays in "
        "the history but no longer counts.",
    )

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        answers: Mapping[int, str],
        **options: Unpack[FormOptions],
    ) -> None:
        """Offer earlier answers of the lab by their ids, if there are any."""
        super().__init__(data, **options)
        self._answers = answers
        beginnings = [
            (pk, Truncator(" ".join(text.split())).chars(80)) for pk, text in answers.items()
        ]
        field_of(self, "reused", forms.TypedChoiceField).choices = [("", "none"), *beginnings]
        self.fields["answer"].required = not self.data.get("reused")

    def clean(self) -> dict[str, object]:
        """Take the earlier answer if no text was written."""
        fields = {**self.cleaned_data}
        earlier = self._answers.get(fields.pop("reused", None), "")
        return {**fields, "answer": fields.get("answer") or earlier}


class TicketAnswerForm(VersionedForm, AnswerForm):
    """The stored answer of one ticket."""


class BulkAnswerForm(AnswerForm):
    """One answer to several tickets of a list."""

    def __init__(
        self,
        data: Mapping[str, object] | None = None,
        *,
        tickets: QuerySet[Ticket],
        answers: Mapping[int, str],
    ) -> None:
        super().__init__(data, answers=answers)
        self.fields["tickets"] = forms.ModelMultipleChoiceField(
            queryset=tickets, error_messages={"required": "Select the tickets to answer."}
        )


@pages.form("tickets/", "ticket-list", tabs=(Tab("lab", "Tickets", 70, organizers),))
def ticket_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the tickets of all tasks in a `state`, and answer the selected ones that are open."""
    tickets, state = tickets_of(lab), request.GET.get("state", "open")
    form = BulkAnswerForm(request.POST or None, tickets=tickets, answers=reused_answers(lab))
    if request.method == "POST" and form.is_valid():
        _change_all(request, answer_ticket, form, "answered")
        return redirect(request.get_full_path())
    state = state if state in TICKET_STATES else "open"
    context = {
        "form": form,
        "send_form": SendForm(lab=lab, tickets=tickets),
        "state": state,
        "counts": tickets.order_by().aggregate(
            **{name: Count("pk", filter=condition) for name, condition in TICKET_STATES.items()}
        ),
        "policies": policy_sentences(lab.tasks.all()),
    }
    status, table = 422 if form.errors else 200, _tickets_table(request, lab, state)
    return answer(request, "assessment/ticket_list.html", context, table, status=status)


def ticket_columns(page: str, lab: Lab) -> list[Column[Ticket]]:
    """Return the columns of all lists of tickets; `page` is that of a ticket."""
    topic = f"{ITEM}__topic__position"
    return [
        Column(
            "Ticket", str, link=to(page, lab.slug, of=lambda row: row.pk), is_head=True, by="pk"
        ),
        Column(
            "Topic",
            lambda ticket: f"{ticket.topic.task.name}, {ticket.topic.query_id}",
            css="nowrap",
            by=topic,
        ),
        Column("Label", lambda row: row.judgment.scale_label, cells.LABEL, by="judgment__label"),
        Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT),
    ]


def _assessor(ticket: Ticket) -> str:
    return ticket.judgment.assessor.name if ticket.judgment.assessor else "an import"


def _tickets_table(request: HttpRequest, lab: Lab, state: str) -> Table[Ticket]:
    tickets, task = tickets_of(lab), f"{ITEM}__topic__task"
    tasks = tickets.order_by().values_list(f"{task}__slug", f"{task}__name").distinct()
    labels = {
        str(label.value): label.word
        for pool in Pool.objects.filter(task__lab=lab).only("scale")
        for label in pool.label_scale.labels
        if not label.is_judgment
    }
    assessor = "judgment__assessor__username"
    selected = request.POST.getlist("tickets")
    box: Column[Ticket] = choice_column(
        *("tickets", "tickets"),
        lambda ticket: ticket.pk,
        spoken=lambda ticket: f"Select {ticket}",
        is_chosen=lambda ticket: str(ticket.pk) in selected,
    )
    columns: list[Column[Ticket]] = [
        *ticket_columns("assessment:ticket-detail", lab),
        Column("Assessor", _assessor, by=assessor),
        Column(
            "Expert",
            lambda row: row.expert and row.expert.name,
            note=lambda ticket: Truncator(ticket.opinion).chars(100),
        ),
        Column("Opened", lambda row: row.raised_at, cells.TIME, by="raised_at"),
    ]
    answered: list[Column[Ticket]] = [
        Column("Answer", lambda row: row.answer, cells.EXCERPT),
        Column("Answered", lambda row: row.answered_at, cells.TIME, by="answered_at"),
    ]
    return Table[Ticket](
        "tickets",
        [*columns, *answered] if state == "answered" else [box, *columns],
        tickets.filter(TICKET_STATES[state]),
        asked=request.GET,
        order="opened",
        searched=(
            *("judgment__comment", "answer"),
            *(f"{ITEM}__topic__{field}" for field in ("query_id", "title")),
        ),
        filters=[
            Filter("task", "Task", f"{task}__slug", tasks),
            Filter("label", "Label", "judgment__label", labels.items()),
            Filter("assessor", "Assessor", assessor),
        ],
        empty=EMPTY[state],
    )


@pages.action("tickets/send/", "ticket-send")
def ticket_send(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Send the selected tickets to an expert, and return to the list or the page of the ticket."""
    form = SendForm(request.POST, lab=lab, tickets=tickets_of(lab))
    if form.is_valid():
        name = form.cleaned_data["expert"].name
        _change_all(request, send_ticket, form, "sent", f" to {name}")
    for errors in form.errors.values():
        messages.error(request, " ".join(map(str, errors)))
    tickets = request.POST.getlist("tickets")
    if "detail" in request.POST and len(tickets) == 1 and (ticket := number_of(tickets[0])):
        return redirect("assessment:ticket-detail", lab=lab.slug, ticket=ticket)
    return redirect("assessment:ticket-list", lab=lab.slug)


def _change_all(
    request: HttpRequest,
    change: Callable[..., None],
    form: BulkAnswerForm | SendForm,
    what: str,
    to: str = "",
) -> None:
    """Change the `tickets` that a form chose, and report how many were changed, and which not."""
    fields, at, by = {**form.cleaned_data}, timezone.now(), signed_in(request)
    tickets = fields.pop("tickets")
    refused = {}
    for ticket in tickets:
        try:
            change(ticket=ticket, **fields, at=at, by=by)
        except UserError as error:
            refused[ticket] = error.message
    if count := len(tickets) - len(refused):
        messages.success(request, f"{counted(count, 'ticket')} {what}{to}.")
    for ticket, reason in refused.items():
        messages.error(request, f"{ticket} was not {what}. {reason}")


@pages.read("tickets/sent/", "ticket-sent-list", access=looked_up_lab_or_404)
def ticket_sent_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the open tickets that were sent to the user."""
    table = Table[Ticket](
        "tickets",
        [
            *ticket_columns("assessment:ticket-advice", lab),
            Column("Question", lambda row: row.question, cells.EXCERPT),
            Column("Sent", lambda row: row.sent_at, cells.TIME),
            Column(
                "State",
                lambda row: (
                    cells.chip("done", "replied") if row.advised_at else cells.chip("waiting")
                ),
            ),
        ],
        sent_tickets(lab, signed_in(request)),
        empty=Empty(
            "No tickets for you",
            "When the organizers ask for your opinion on an item, it appears here.",
        ),
    )
    return answer(request, "assessment/ticket_sent_list.html", {}, table)


def sent_ticket_or_404(user: Visitor, lab_slug: str, ticket_id: int) -> Ticket:
    """Return a ticket that was sent to the user; raise 404 for anyone else."""
    lab = looked_up_lab_or_404(user, lab_slug)
    return get_object_or_404(tickets_of(lab).defer(None), pk=ticket_id, expert=user.pk)


@pages.form("tickets/<number:ticket>/advice/", "ticket-advice", access=sent_ticket_or_404)
def ticket_advice(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """Show a ticket to its expert, who replies with an opinion and perhaps a label."""
    closes = policy_of(ticket.topic.task).expert_closes

    def make(data: QueryDict | None) -> AdviceForm:
        initial = {"opinion": ticket.opinion, "label": ticket.proposed_label}
        return AdviceForm(data, ticket=ticket, closes=closes, initial=initial)

    def save(form: AdviceForm) -> HttpResponse:
        fields = form.cleaned_data | {"at": timezone.now(), "by": signed_in(request)}
        if fields.pop("closes", False):
            close_ticket_as_expert(ticket=ticket, **fields)
            text = "Ticket answered. The assessor sees your answer on their topics page."
        else:
            fields.pop("returns_item", None)
            advise_ticket(ticket=ticket, **fields)
            text = "Reply sent. You can change it until the organizers answer the ticket."
        messages.success(request, text)
        return redirect("assessment:ticket-sent-list", lab=ticket.lab.slug)

    form, response = edited(request, ticket, make, save)
    item = read_ticket_item(ticket, corrections_of(ticket.lab))
    context = {"form": form, "topic": ticket.topic, **_shown_item(ticket, item)}
    if hides_threads(ticket.topic.pk):
        context["thread_url"] = ""
    status = 422 if form.errors else 200
    return response or render(request, "assessment/ticket_advice.html", context, status=status)


@pages.form("tickets/<number:ticket>/", "ticket-detail", access=organized_ticket_or_404)
def ticket_detail(request: HttpRequest, ticket: Ticket) -> HttpResponse:
    """Show a ticket with the item as the assessor saw it, and answer it or correct the answer."""
    lab = ticket.lab

    def save(form: TicketAnswerForm) -> HttpResponse:
        corrects, by = "corrects" in request.POST, signed_in(request)
        messages.success(request, _answer(ticket, form, corrects=corrects, by=by))
        return redirect("assessment:ticket-list", lab=lab.slug)

    answers = reused_answers(lab)
    initial: dict[str, object] = {"answer": ticket.answer}
    if "repaired" in request.GET and not ticket.answered_at:
        initial = {"answer": "The item is repaired. Please judge it again.", "returns_item": True}
    form, answer = edited(
        request,
        ticket,
        lambda data: TicketAnswerForm(data, initial=initial, answers=answers),
        save,
        events=lab.audit_events.filter(
            verb__in=("ticket.answer", "ticket.correct"), target__startswith=f"{ticket},"
        ),
    )
    if answer:
        return answer
    send_form = SendForm(lab=lab, tickets=tickets_of(lab), initial={"expert": ticket.expert})
    context = {"form": form, "send_form": send_form, **_facts(ticket)}
    return render(request, "assessment/ticket_detail.html", context)


def _shown_item(ticket: Ticket, item: TicketItem) -> dict[str, object]:
    """Return what pages about a ticket show: its item as the lab shows it now."""
    instance, lab = ticket.judgment.instance, ticket.lab
    address = ""
    if item.post:
        address = thread_url(instance.item, instance.doc_id, instance.post_id, lab.slug)
    context = {"lab": lab, "ticket": ticket, "item": instance.item, "read": item, "html": item.html}
    return context | {"thread_url": address}


def _facts(ticket: Ticket) -> dict[str, object]:
    """Return what the page of a ticket shows: the item then and now, its defects and repairs."""
    item, lab = read_ticket_item(ticket, corrections_of(ticket.lab)), ticket.lab
    current = ticket.judgment.instance.judgments.filter(is_current=True)
    return _shown_item(ticket, item) | {
        "html": shown_html(ticket),
        "html_now": item.html,
        "defects": list(defects_of(item, lab)),
        "repairs": [kind for kind in RepairKind if kind.is_correction],
        "corrections": corrections_table(corrections_in(item, lab)),
        "now": current.select_related("assessor").first(),
    }


def corrections_table(corrections: Iterable[Correction]) -> Table[Correction]:
    """Return corrections with a button to undo each."""
    return Table[Correction](
        "corrections",
        [
            Column("Correction", lambda row: row.get_kind_display(), is_head=True),
            Column("Instead of", lambda row: row.key, CODE),
            Column("The lab shows", lambda row: row.value, CODE),
            Column("By", lambda row: row.made_by and row.made_by.name),
            Column("Made", lambda row: row.made_at, cells.TIME, by="made_at"),
            Column("Undo", template="assessment/_correction_undo.html", hides_heading=True),
        ],
        corrections,
    )


def _answer(ticket: Ticket, form: TicketAnswerForm, *, corrects: bool, by: User) -> str:
    if corrects:
        answer = form.cleaned_data["answer"]
        correct_answer(ticket=ticket, answer=answer, at=timezone.now(), by=by)
        return "Answer updated. The assessor sees it on their topics page."
    answer_ticket(ticket=ticket, **form.cleaned_data, at=timezone.now(), by=by)
    return "Ticket answered. The assessor sees the answer on their topics page."
