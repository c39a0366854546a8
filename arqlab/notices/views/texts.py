"""The texts of a lab's notices, which its organizers edit."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from arqlab.core.models import Lab
from arqlab.core.views import edited, signed_in
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.notices.forms import TextForm
from arqlab.notices.models import Kind
from arqlab.notices.services.texts import (
    DEFAULTS,
    NoticeText,
    edit_text,
    placeholders,
    text_of,
    texts_of,
)
from arqlab.web import LAB, Column, Pages, Table, answer, to

pages = Pages(access=organized_lab_or_404, section="messages")


@pages.read(f"{LAB}texts/", "text-list")
def text_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the texts of all notices, and which of them the lab has edited."""
    texts = texts_of(lab)
    table = Table[Kind](
        "texts",
        [
            Column(
                "Notice",
                lambda row: row.label,
                link=to("notices:text-edit", lab.slug, of=lambda row: row.value),
                is_head=True,
            ),
            Column("Subject", lambda kind: texts[kind].subject, css="wrap"),
            Column("Text", lambda kind: "default" if texts[kind] == DEFAULTS[kind] else "edited"),
        ],
        list(DEFAULTS),
    )
    return answer(request, "notices/text_list.html", {}, table)


@pages.form(f"{LAB}texts/<slug:kind>/", "text-edit")
def text_edit(request: HttpRequest, lab: Lab, kind: str) -> HttpResponse:
    """Edit the subject and text of a kind of notice."""
    notice_kind = _kind_or_404(kind)

    def save(form: TextForm) -> HttpResponse:
        text = NoticeText(**form.cleaned_data)
        edit_text(lab=lab, kind=notice_kind, text=text, by=signed_in(request))
        messages.success(request, f"Text of “{notice_kind.label}” saved.")
        return redirect("notices:text-list", lab=lab.slug)

    form, stale = edited(
        request,
        lab,
        lambda data: TextForm(data, initial=text_of(lab, notice_kind)._asdict()),
        save,
        events=lab.audit_events.filter(verb="notices.edit-text", target=notice_kind.label),
    )
    is_edited = text_of(lab, notice_kind) != DEFAULTS[notice_kind]
    context = {"kind": notice_kind, "form": form, "is_edited": is_edited}
    context["placeholders"] = [f"{{{name}}}" for name in placeholders(notice_kind)]
    return stale or render(request, "notices/text_edit.html", context)


@pages.action(f"{LAB}texts/<slug:kind>/restore/", "text-restore")
def text_restore(request: HttpRequest, lab: Lab, kind: str) -> HttpResponse:
    """Restore the default text of a kind of notice."""
    notice_kind = _kind_or_404(kind)
    edit_text(lab=lab, kind=notice_kind, text=DEFAULTS[notice_kind], by=signed_in(request))
    messages.success(request, f"Default text of “{notice_kind.label}” restored.")
    return redirect("notices:text-list", lab=lab.slug)


def _kind_or_404(kind: str) -> Kind:
    """Return the kind of notice, or raise 404 if it has no text to edit."""
    if kind not in [member.value for member in DEFAULTS]:
        raise Http404
    return Kind(kind)
