"""The time sheets of a lab, for its organizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.html import format_html

from arqlab.core.models import Lab, User
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.views.editing import edited
from arqlab.web.cells import COUNT, DAY, HOURS, NUMBER
from arqlab.web.downloads import file_response
from arqlab.web.pages import LAB, Pages
from arqlab.web.tables import Column, Table, answer, reader
from assessment.models import PayRule
from assessment.timesheets.forms import PayForm, SheetForm, zone_words
from assessment.timesheets.selectors.figures import SheetPlace, TimeSheet, WorkSum, time_sheet_of
from assessment.timesheets.services import change_pay_rule, sheet_lines

pages = Pages(f"{LAB}time-sheet/", organized_lab_or_404, section="judging")


@pages.form("", "time-sheet")
def time_sheet(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the hours by person, day and topic, and what they cost; change what the lab pays."""

    def save(pay_form: PayForm) -> HttpResponse:
        change_pay_rule(lab=lab, **pay_form.cleaned_data, by=signed_in(request))
        messages.success(request, "Rate and time zone saved.")
        return redirect(request.get_full_path())

    pay_form, response = edited(
        request,
        lab,
        lambda data: PayForm(data, rule=PayRule.of(lab)),
        save,
        events=lab.audit_events.filter(verb="pay.change"),
    )
    if response:
        return response
    form = SheetForm(request.GET, lab=lab)
    sheet = _sheet(lab, form)
    zone = zone_words(sheet.rule.time_zone)
    context = {"form": form, "pay_form": pay_form, "sheet": sheet, "zone": zone}
    status, tables = 422 if form.errors or pay_form.errors else 200, _tables(sheet)
    return answer(request, "assessment/time_sheet.html", context, *tables, status=status)


def _tables(sheet: TimeSheet) -> list[Table]:
    def place(line: tuple[SheetPlace, list[WorkSum], WorkSum]) -> str:
        return ", ".join(str(part) for part in (line[0].task.name, line[0].round) if part)

    day = Column("Day", "0", DAY, is_head=True)
    task = Column(
        "Task", "0.task.name", note=lambda line: line[0].round or "official", is_head=True
    )
    topic = Column("Topic", "0.topic.query_id", note=place, is_head=True)
    return [
        _people_table(sheet),
        _hours_table("days", sheet, day, sheet.days),
        _hours_table("rounds", sheet, task, sheet.rounds),
        _hours_table("topics", sheet, topic, sheet.topics, has_tools=True),
    ]


def _people_table(sheet: TimeSheet) -> Table:
    total, currency = sheet.total, sheet.rule.currency
    optional = [
        ("Estimated hours", "work.estimated_hours", HOURS, total.estimated_ms),
        ("Hours", "work.hours", HOURS, total.estimated_ms),
        ("Items", "work.items", COUNT, True),
        ("Labels", "work.labels", COUNT, True),
        ("Labels without time", "work.untimed", COUNT, total.untimed),
        ("Labels capped", "work.capped", COUNT, total.capped),
        ("Hours not seen", "work.unseen_hours", HOURS, total.capped),
        ("s per label", "work.pace.each", NUMBER, True),
        (f"Cost, {currency}" if currency else "Cost", "cost", HOURS, sheet.total_cost is not None),
    ]
    columns = [
        Column("Assessor", "person.name", is_head=True, css="nowrap"),
        Column("Active hours", "work.active_hours", HOURS),
        *(Column(head, value, kind) for head, value, kind, is_any in optional if is_any),
    ]
    everybody = {"work": total, "cost": sheet.total_cost}
    foot = ["All", *(reader(column.value)(everybody) for column in columns[1:])]
    return Table("people", columns, sheet.people, foot=[foot])


def _hours_table(
    name: str, sheet: TimeSheet, head: Column, lines: Sequence[Any], *, has_tools: bool = False
) -> Table:
    def column(place: int, person: User) -> Column:
        works = reader(f"1.{place}")
        return Column(
            format_html("<span>{}</span>", person.name),
            lambda line: works(line).hours if works(line).labels else None,
            HOURS,
            css="person",
        )

    columns = [column(place, row.person) for place, row in enumerate(sheet.people)]
    return Table(
        name,
        [head, Column("All", "2.hours", HOURS), *columns],
        lines,
        foot=[["All", sheet.total.hours, *(row.work.hours for row in sheet.people)]],
        has_tools=has_tools,
        css="assignment-table sheet-table",
    )


@pages.read("csv/", "time-sheet-csv")
def time_sheet_csv(request: HttpRequest, lab: Lab) -> HttpResponseBase:
    """Return the time sheet as CSV; if the address asks for a wrong part, show the page instead."""
    form = SheetForm(request.GET, lab=lab)
    if not form.is_valid():
        page = redirect("assessment:time-sheet", lab=lab.slug)
        page["Location"] += f"?{request.GET.urlencode()}"
        return page
    return file_response(sheet_lines(_sheet(lab, form)), f"{lab.slug}-time-sheet.csv")


def _sheet(lab: Lab, form: SheetForm) -> TimeSheet:
    form.is_valid()
    sheet = time_sheet_of(lab)
    if form.cleaned_data.get("estimates"):
        sheet = sheet.with_estimates()
    return sheet.part(form.part)
