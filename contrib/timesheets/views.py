"""The time sheets of a lab, for its organizers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.html import format_html

from arqlab.core.forms.moments import ANYWHERE, DayField
from arqlab.core.forms.versions import VersionedForm
from arqlab.core.models import Lab, Task, User
from arqlab.core.views import edited, signed_in
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.web import LAB, Column, Pages, Table, answer, cells, file_response
from assessment.hours.selectors import (
    OFFICIAL,
    USUAL_KINDS,
    Key,
    PersonHours,
    SheetLine,
    SheetPart,
    SheetPlace,
    TimeSheet,
    WorkSum,
    sheet_lines,
    time_sheet_of,
    zone_words,
)
from assessment.models import PayRule
from assessment.models.kinds import KINDS, kind_choices
from contrib.timesheets.services import change_pay_rule

pages = Pages(f"{LAB}time-sheet/", organized_lab_or_404, section="judging")


class SheetForm(forms.Form):
    """The part of a time sheet to show, read from the address of its page."""

    first, last = DayField(label="From"), DayField(label="Through")
    task = forms.ModelChoiceField(
        Task.objects.none(),
        label="Task",
        required=False,
        to_field_name="slug",
        empty_label="all tasks",
    )
    rounds = forms.ChoiceField(
        label="Rounds",
        required=False,
        choices=[
            ("", "all but sample tasks"),
            ("all", "all"),
            (OFFICIAL, "official"),
            *((key, name.lower()) for key, name in kind_choices()),
        ],
    )
    estimates = forms.BooleanField(label="Estimate missing times", required=False)

    def __init__(self, data: Mapping[str, object] | None = None, *, lab: Lab) -> None:
        super().__init__(data)
        tasks = self.fields["task"]
        tasks.queryset = lab.tasks.all()  # type: ignore[attr-defined]
        tasks.label_from_instance = lambda task: task.name  # type: ignore[attr-defined]

    def clean(self) -> dict[str, object]:
        """Require days in order."""
        cleaned = super().clean() or self.cleaned_data
        first, last = cleaned.get("first"), cleaned.get("last")
        if first and last and first > last:
            self.add_error("last", "The last day is before the first. Enter a later one.")
        return cleaned

    @property
    def part(self) -> SheetPart:
        """Return the part of the sheet that the valid fields ask for."""
        first, last, task = (self.cleaned_data.get(name) for name in ("first", "last", "task"))
        rounds = self.cleaned_data.get("rounds", "")
        kinds = {"": USUAL_KINDS, "all": (OFFICIAL, *KINDS)}
        return SheetPart(first, last, task, kinds.get(rounds, (rounds,)))


class PayForm(VersionedForm):
    """The hourly rate of a lab, its currency, and the time zone of days."""

    hourly_rate = forms.DecimalField(
        label="Hourly rate",
        required=False,
        min_value=0,
        max_digits=9,
        decimal_places=2,
        widget=forms.NumberInput(attrs={"class": "short", "step": "0.01"}),
        help_text="If empty, the page shows no cost.",
    )
    currency = forms.CharField(
        label="Currency",
        required=False,
        max_length=10,
        widget=forms.TextInput(attrs={"class": "short"}),
        help_text="Such as EUR or USD.",
    )
    time_zone = forms.CharField(
        label="Time zone of days",
        max_length=64,
        help_text="UTC, AoE, or a name of the time zone database such as Europe/Prague.",
        error_messages={"required": "Enter a time zone, such as UTC."},
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, rule: PayRule) -> None:
        super().__init__(data)
        self.initial = model_to_dict(rule)

    def clean_time_zone(self) -> str:
        """Return the zone's name in the time zone database."""
        name: str = self.cleaned_data["time_zone"]
        name = ANYWHERE if name.casefold() == "aoe" else name
        try:
            return ZoneInfo(name).key
        except (KeyError, ValueError, OSError) as error:
            raise forms.ValidationError(
                f"Unknown time zone {name}. Enter UTC, AoE, or a name such as Europe/Prague."
            ) from error


@pages.form("", "time-sheet", shows="time-sheet")
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
    return answer(request, "timesheets/time_sheet.html", context, *tables, status=status)


def _tables(sheet: TimeSheet) -> list[Table[Any]]:
    def place(line: SheetLine[SheetPlace]) -> str:
        return ", ".join(str(part) for part in (line.key.task.name, line.key.round) if part)

    day = Column[SheetLine[date]]("Day", lambda line: line.key, cells.DAY, is_head=True)
    task = Column[SheetLine[SheetPlace]](
        "Task",
        lambda line: line.key.task.name,
        note=lambda line: line.key.round or "official",
        is_head=True,
    )
    topic = Column[SheetLine[SheetPlace]](
        "Topic", lambda line: line.key.topic and line.key.topic.query_id, note=place, is_head=True
    )
    return [
        _people_table(sheet),
        _hours_table("days", sheet, day, sheet.days),
        _hours_table("rounds", sheet, task, sheet.rounds),
        _hours_table("topics", sheet, topic, sheet.topics, has_tools=True),
    ]


class _Hours(Protocol):
    """The work of a person or of all, and what it costs."""

    @property
    def work(self) -> WorkSum: ...

    @property
    def cost(self) -> Decimal | None: ...


class _All(NamedTuple):
    work: WorkSum
    cost: Decimal | None


def _people_table(sheet: TimeSheet) -> Table[PersonHours]:
    total, currency = sheet.total, sheet.rule.currency
    figures: list[tuple[str, Callable[[_Hours], object], cells.CellKind, object]] = [
        ("Active hours", lambda row: row.work.active_hours, cells.HOURS, True),
        ("Estimated hours", lambda row: row.work.estimated_hours, cells.HOURS, total.estimated_ms),
        ("Hours", lambda row: row.work.hours, cells.HOURS, total.estimated_ms),
        ("Items", lambda row: row.work.items, cells.COUNT, True),
        ("Labels", lambda row: row.work.labels, cells.COUNT, True),
        ("Labels without time", lambda row: row.work.untimed, cells.COUNT, total.untimed),
        ("Labels capped", lambda row: row.work.capped, cells.COUNT, total.capped),
        ("Hours not seen", lambda row: row.work.unseen_hours, cells.HOURS, total.capped),
        ("s per label", lambda row: row.work.pace.each, cells.NUMBER, True),
        (
            f"Cost, {currency}" if currency else "Cost",
            lambda row: row.cost,
            cells.HOURS,
            sheet.total_cost is not None,
        ),
    ]
    columns: list[Column[PersonHours]] = [
        Column("Assessor", lambda row: row.person.name, is_head=True, css="nowrap"),
        *(Column(heading, value, kind) for heading, value, kind, is_any in figures if is_any),
    ]
    everybody = _All(total, sheet.total_cost)
    foot = ["All", *(value(everybody) for _, value, _, is_any in figures if is_any)]
    return Table[PersonHours]("people", columns, sheet.people, foot=[foot])


def _hours_table(
    name: str,
    sheet: TimeSheet,
    head: Column[SheetLine[Key]],
    lines: Sequence[SheetLine[Key]],
    *,
    has_tools: bool = False,
) -> Table[SheetLine[Key]]:
    def column(place: int, person: User) -> Column[SheetLine[Key]]:
        def hours(line: SheetLine[Key]) -> float | None:
            work = line.works[place]
            return work.hours if work.labels else None

        return Column(format_html("<span>{}</span>", person.name), hours, cells.HOURS, css="person")

    columns = [column(place, row.person) for place, row in enumerate(sheet.people)]
    return Table[SheetLine[Key]](
        name,
        [head, Column("All", lambda line: line.total.hours, cells.HOURS), *columns],
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
        page = redirect("timesheets:time-sheet", lab=lab.slug)
        page["Location"] += f"?{request.GET.urlencode()}"
        return page
    return file_response(sheet_lines(_sheet(lab, form)), f"{lab.slug}-time-sheet.csv")


def _sheet(lab: Lab, form: SheetForm) -> TimeSheet:
    form.is_valid()
    sheet = time_sheet_of(lab)
    if form.cleaned_data.get("estimates"):
        sheet = sheet.with_estimates()
    return sheet.part(form.part)
