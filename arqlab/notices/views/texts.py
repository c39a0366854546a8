"""The organizers' pages of the texts of notices."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.views.editing import edited
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


@require_safe
def text_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the texts of all notices, and which of them the lab has edited."""
    found = organized_lab_or_404(request.user, lab)
    texts = texts_of(found)
    rows = [(kind, texts[kind], texts[kind] != DEFAULTS[kind]) for kind in DEFAULTS]
    return render(request, "notices/text_list.html", {"lab": found, "rows": rows})


@require_http_methods(["GET", "HEAD", "POST"])
def text_edit(request: HttpRequest, lab: str, kind: str) -> HttpResponse:
    """Edit the subject and text of a kind of notice."""
    found, known = organized_lab_or_404(request.user, lab), _kind_or_404(kind)

    def save(form: TextForm) -> HttpResponse:
        text = NoticeText(**form.cleaned_data)
        edit_text(lab=found, kind=known, text=text, by=signed_in(request))
        messages.success(request, f"Text of “{known.label}” saved.")
        return redirect("notices:text-list", lab=lab)

    form, answer = edited(
        request,
        found,
        lambda data: TextForm(data, initial=text_of(found, known)._asdict()),
        save,
        events=found.audit_events.filter(verb="notices.edit-text", target=known.label),
    )
    is_edited = text_of(found, known) != DEFAULTS[known]
    context = {"lab": found, "kind": known, "form": form, "is_edited": is_edited}
    context["placeholders"] = [f"{{{name}}}" for name in placeholders(known)]
    return answer or render(request, "notices/text_edit.html", context)


@require_POST
def text_restore(request: HttpRequest, lab: str, kind: str) -> HttpResponse:
    """Restore the default text of a kind of notice."""
    found, known = organized_lab_or_404(request.user, lab), _kind_or_404(kind)
    edit_text(lab=found, kind=known, text=DEFAULTS[known], by=signed_in(request))
    messages.success(request, f"Default text of “{known.label}” restored.")
    return redirect("notices:text-list", lab=lab)


def _kind_or_404(kind: str) -> Kind:
    """Return the kind of notice, or raise 404 if it has no text to edit."""
    if kind not in [known.value for known in DEFAULTS]:
        raise Http404
    return Kind(kind)
