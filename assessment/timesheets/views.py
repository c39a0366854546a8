"""The time sheets of a lab, for its organizers."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render

from arqlab.core.models import Lab
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.views.editing import edited
from arqlab.web.downloads import file_response
from arqlab.web.pages import LAB, Pages
from assessment.models import PayRule
from assessment.timesheets.forms import PayForm, SheetForm, zone_words
from assessment.timesheets.selectors.figures import TimeSheet, time_sheet_of
from assessment.timesheets.services import change_pay_rule, sheet_lines

pages = Pages(f"{LAB}time-sheet/", organized_lab_or_404, section="judging")


@pages.form("", "time-sheet")
def time_sheet(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the hours by person, day and topic, and what they cost; change what the lab pays."""

    def save(pay_form: PayForm) -> HttpResponse:
        change_pay_rule(lab=lab, **pay_form.cleaned_data, by=signed_in(request))
        messages.success(request, "Rate and time zone saved.")
        return redirect(request.get_full_path())

    pay_form, answer = edited(
        request,
        lab,
        lambda data: PayForm(data, rule=PayRule.of(lab)),
        save,
        events=lab.audit_events.filter(verb="pay.change"),
    )
    if answer:
        return answer
    form = SheetForm(request.GET, lab=lab)
    sheet = _sheet(lab, form)
    zone = zone_words(sheet.rule.time_zone)
    context = {"lab": lab, "form": form, "pay_form": pay_form, "sheet": sheet, "zone": zone}
    status = 422 if form.errors or pay_form.errors else 200
    return render(request, "assessment/time_sheet.html", context, status=status)


@pages.read("csv/", "time-sheet-csv")
def time_sheet_csv(request: HttpRequest, lab: Lab) -> HttpResponseBase:
    """Return the time sheet as CSV; if the address asks for a wrong part, show the page instead."""
    form = SheetForm(request.GET, lab=lab)
    if not form.is_valid():
        page = redirect("assessment:time-sheet", lab=lab.slug)
        page["Location"] += f"?{request.GET.urlencode()}"
        return page
    return sheet_response(_sheet(lab, form), f"{lab.slug}-time-sheet.csv")


def sheet_response(sheet: TimeSheet, name: str) -> StreamingHttpResponse:
    """Return a time sheet as a file to download."""
    return file_response(sheet_lines(sheet), name)


def _sheet(lab: Lab, form: SheetForm) -> TimeSheet:
    """Return the part of the lab's time sheet that a form asks for."""
    form.is_valid()
    sheet = time_sheet_of(lab)
    if form.cleaned_data.get("estimates"):
        sheet = sheet.with_estimates()
    return sheet.part(form.part)
