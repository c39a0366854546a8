"""Pages to repair the item of a ticket, and the corrections of a lab."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.text import Truncator

from arqlab.core.errors import UserError
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab
from arqlab.core.views import edited, refused, signed_in, told
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.corrections import LONGEST_CORRECTION, undo_correction
from arqlab.web import LAB, Column, Empty, Pages, Table, answer, number_of
from assessment.models import Ticket
from assessment.tickets.services.items import (
    FormulaRow,
    RepairDraft,
    RepairKind,
    TicketItem,
    previews,
    read_ticket_item,
    repair_item,
    started_draft,
)
from assessment.tickets.views.answers import CODE, corrections_table, organized_ticket_or_404

pages = Pages(LAB, organized_lab_or_404, section="tickets")


class RepairForm(VersionedForm):
    """What the lab shows from now on. Repairs that need no input have no field."""

    LABELS: ClassVar = {
        RepairKind.FORMULA: (
            "LaTeX",
            "Without dollars. The lab shows it wherever it would show exactly this formula.",
        ),
        RepairKind.TEXT: (
            "HTML of the text",
            'Formulas are elements like <span class="math-container">$x^2$</span>{judged}. What '
            "posts may not contain is removed.",
        ),
        RepairKind.THREAD: ("Id of the question", "The answer appears in this question's thread."),
    }

    def __init__(
        self, data: Mapping[str, object] | None = None, *, draft: RepairDraft, item: TicketItem
    ) -> None:
        super().__init__(data)
        self.draft = draft
        if not draft.kind.is_correction:
            return
        label, text = self.LABELS[draft.kind]
        judged = f', that to judge with id="{item.instance.doc_id}"' if item.is_formula else ""
        source = forms.Textarea(attrs={"spellcheck": "false", "class": "source"})
        self.fields["value"] = forms.CharField(
            label=label,
            initial=draft.value,
            max_length=LONGEST_CORRECTION,
            widget=forms.TextInput() if draft.kind == RepairKind.THREAD else source,
            help_text=escape(text.replace("{judged}", judged)),
            error_messages={"required": "Write what the lab should show."},
        )
        self.error_fields = {"": "value"}
        self.fields["key"] = forms.CharField(
            initial=draft.key, required=False, widget=forms.HiddenInput()
        )

    def clean_key(self) -> str:
        """Require that the place in the address still has the formula that the page showed."""
        key = str(self.cleaned_data["key"])
        if key and key.split() != self.draft.key.split():
            raise forms.ValidationError("The item has changed. Choose the formula again.")
        return key

    @property
    def edited(self) -> RepairDraft:
        """Return the repair with the valid input."""
        return self.draft._replace(value=self.cleaned_data.get("value", ""))


@pages.form(
    "tickets/<number:ticket>/repair/<slug:repair>/", "ticket-repair", access=organized_ticket_or_404
)
def ticket_repair(request: HttpRequest, ticket: Ticket, repair: str) -> HttpResponse:
    """Show a repair of the item or of formula N (`formula=N`) with what it changes, and save it."""
    if repair not in RepairKind.values:
        raise Http404
    lab, kind = ticket.lab, RepairKind(repair)

    def make(data: QueryDict | None) -> RepairForm:
        item = read_ticket_item(ticket, corrections_of(lab))
        draft = started_draft(item, kind, number_of(request.GET.get("formula", "")), lab)
        return RepairForm(data, draft=draft, item=item)

    def save(form: RepairForm) -> HttpResponse:
        return _repaired(request, ticket, form.edited)

    item = read_ticket_item(ticket, corrections_of(lab))
    context: dict[str, object] = {"lab": lab, "ticket": ticket, "kind": kind, "item": item}
    try:
        if "preview" in request.POST:
            form, response = make(request.POST), None
        else:
            form, response = edited(request, lab, make, save)
    except UserError as error:
        context["refusal"] = error.message
        return answer(request, "assessment/ticket_repair.html", context, _formulas_table(item))
    return response or _page(request, ticket, form, context)


def _formulas_table(item: TicketItem) -> Table[FormulaRow]:
    return Table[FormulaRow](
        "formulas",
        [
            Column("Formula", lambda row: row.html if row.is_typeset else "cannot be typeset"),
            Column("LaTeX", lambda row: row.latex, CODE),
            Column(
                "Correct",
                lambda row: "Correct",
                link=lambda row: f"?formula={row.number}",
                spoken=lambda row: f"Correct {Truncator(row.latex).chars(40)}",
                hides_heading=True,
            ),
        ],
        item.formula_rows,
    )


def _page(
    request: HttpRequest, ticket: Ticket, form: RepairForm, context: dict[str, object]
) -> HttpResponse:
    """Return the page of a repair, with what it changes: as previewed, or without input."""
    if not form.draft.kind.is_correction or ("preview" in request.POST and form.is_valid()):
        with refused(form):
            draft = form.edited if form.is_bound and form.is_valid() else form.draft
            context["before"], context["after"] = previews(ticket, draft)
    context |= {"form": form, "is_previewed": "after" in context and not form.errors}
    status = 422 if form.errors else 200
    return answer(request, "assessment/ticket_repair.html", context, status=status)


def _repaired(request: HttpRequest, ticket: Ticket, draft: RepairDraft) -> HttpResponse:
    """Save the repair and return to the ticket, whose answer is then filled in."""
    repair_item(ticket=ticket, draft=draft, at=timezone.now(), by=signed_in(request))
    messages.success(request, "Repaired. Answer the ticket to return the item to the assessor.")
    address = reverse("assessment:ticket-detail", args=[ticket.lab.slug, ticket.pk])
    return redirect(f"{address}?repaired={draft.kind.value}")


@pages.read("corrections/", "correction-list")
def correction_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show what the lab shows instead of texts of its collection, newest first."""
    table = replace(
        corrections_table(lab.corrections.select_related("made_by")),
        asked=request.GET,
        order="-made",
        searched=("key", "value"),
        empty=Empty(
            "No corrections", "Correct a formula, a text or a thread on the page of a ticket."
        ),
    )
    return answer(request, "assessment/correction_list.html", {}, table)


@pages.action("corrections/<number:correction>/undo/", "correction-undo")
def correction_undo(request: HttpRequest, lab: Lab, correction: int) -> HttpResponse:
    """Undo a correction, and return to the ticket `ticket` or the list of corrections."""
    to_undo = lab.corrections.filter(pk=correction).first()
    with told(request):
        if to_undo:
            undo_correction(correction=to_undo, by=signed_in(request))
        messages.success(request, "Correction undone. The lab shows the collection's text again.")
    if ticket := number_of(request.POST.get("ticket", "")):
        return redirect("assessment:ticket-detail", lab=lab.slug, ticket=ticket)
    return redirect("assessment:correction-list", lab=lab.slug)
