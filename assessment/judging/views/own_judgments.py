"""The list of an assessor's own judgments of a topic."""

from collections.abc import Callable

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html
from django.utils.safestring import SafeString

from arqkit.labels import LabelScale
from arqlab.core.views import signed_in
from arqlab.web import TASK, Column, Empty, Pages, Prepared, Table, answer, cells
from assessment.judging.permissions import official_place_or_404, round_place_or_404
from assessment.judging.selectors.places import Place, page_of_place, round_questions
from assessment.judging.selectors.topic_work import judged_rows, skipped_items, work_on
from assessment.judging.services.judged_list import JudgedRow, judged_list, judgments_with
from assessment.models import Judgment

pages = Pages(section="judging", sign_in=True)

KEPT = {"commented": "With a comment", "changed": "Changed", "beside": "Do not count"}


@pages.read(f"{TASK}judge/<str:query_id>/judgments/", "judgment-list", access=official_place_or_404)
@pages.read(
    f"{TASK}rounds/<slug:round>/judge/<str:query_id>/judgments/",
    "round-judgment-list",
    access=round_place_or_404,
    section="rounds",
)
def judgment_list(request: HttpRequest, place: Place) -> HttpResponse:
    """Show the assessor's own judgments of a topic, filtered; for htmx, return the list only."""
    user = signed_in(request)
    filters = {name: request.GET.get(name, "") for name in ("label", "marked")}
    is_panel = "HX-Request" in request.headers
    work = work_on(place, user)
    context = {
        **vars(page_of_place(place)),
        "chosen": filters,
        "work": work,
        "kept": KEPT.items(),
        "skipped": skipped_items(place, user),
        "is_panel": is_panel,
    }
    rows = judged_rows(place, user, filters=filters, scale=work.scale)
    table = _judged_table(request, place, rows, scale=work.scale, is_panel=is_panel)
    template = "_judgments" if is_panel else "judgment_list"
    response = answer(request, f"assessment/{template}.html", context, table)
    patch_vary_headers(response, ["HX-Request"])
    # Do not show the judging page the list of another user who signed in since.
    response.headers["X-Judging-User"] = str(user.pk)
    return response


def _judged_table(
    request: HttpRequest,
    place: Place,
    rows: QuerySet[Judgment],
    *,
    scale: LabelScale,
    is_panel: bool,
) -> Table[JudgedRow]:
    """Return the own judgments of a topic. The search reads what the assessor saw."""
    lab, questions = place.topic.task.lab, round_questions(place.round)
    return Table[JudgedRow](
        "judgments",
        _judged_columns(place, is_panel=is_panel),
        Prepared(rows, lambda page: judged_list(page, lab=lab, scale=scale, questions=questions)),
        asked=request.GET,
        order="-judged",
        searched=lambda rows, words: rows.filter(pk__in=judgments_with(words, rows, lab=lab)),
        has_tools=True,
        empty=Empty(
            "No matching judgments",
            "None of your judgments of this topic match. Choose All to list every judgment, "
            "newest first.",
        ),
    )


def _judged_columns(place: Place, *, is_panel: bool) -> list[Column[JudgedRow]]:
    url, position = place.address(), "instance__item__position"
    label = cells.CellKind(lambda label: cells.label(label, "key" if is_panel else ""))
    return [
        Column("Item", lambda row: _item_link(row, url), is_head=True, css="nowrap"),
        Column(
            "Position", lambda row: row.item.position, cells.COUNT, order="position", by=position
        ),
        Column("Label", lambda row: row.label, label, note=_does_not_count, order="label"),
        Column("Text", template="assessment/_judged_text.html", css="wrap"),
        Column("Comment", lambda row: row.judgment.comment, cells.EXCERPT, note=_changed),
        Column(
            "Seconds",
            lambda row: row.judgment.active_ms,
            cells.SECONDS,
            order="seconds",
            by="active_ms",
        ),
        Column(
            "Judged", lambda row: row.judgment.judged_at, cells.TIME, order="judged", by="judged_at"
        ),
        Column("Guidelines", _guidelines(place, is_panel=is_panel), css="num"),
    ]


def _item_link(row: JudgedRow, url: str) -> str:
    """Return the link of an item to its place on the judging page, whose address is given."""
    return format_html(
        '<a href="{0}?item={1}" data-item="{1}" hx-boost="false" '
        'aria-label="{2}, position {3}">{2}</a>',
        *(url, row.item.pk, row.heading, row.item.position),
    )


def _does_not_count(row: JudgedRow) -> str:
    if row.judgment.is_current:
        return ""
    if hasattr(row.judgment, "late"):
        return "does not count: it arrived when you could no longer judge"
    return "does not count: another label came first, or the item was returned"


def _changed(row: JudgedRow) -> str:
    if row.judgment.supersedes_id is None:
        return ""
    return f"Changed: {row.judgment.reason}" if row.judgment.reason else "Changed"


def _guidelines(place: Place, *, is_panel: bool) -> Callable[[JudgedRow], str | None]:
    """Return what links the version that was followed; from the judging page, in a new tab."""

    def link(row: JudgedRow) -> str | None:
        version = row.judgment.guidelines
        if version is None:
            return None
        url = reverse(
            "assessment:guideline-detail", args=[place.path.lab, place.path.task, version]
        )
        target = SafeString(' target="_blank" rel="noopener"' if is_panel else "")
        html = '<a href="{}" aria-label="Guidelines, version {}"{}>{}</a>'
        return format_html(html, url, version, target, version)

    return link
