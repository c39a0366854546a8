"""The differences of two versions of qrels, or of a version and the draft."""

from collections.abc import Callable, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html

from arqkit.judgments.qrels import QrelDiff
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import Task
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Filter, Pages, Prepared, Table, answer, cells
from assessment.models import QrelSet
from assessment.qrels.selectors.differences import (
    ChangedLine,
    Side,
    changing_judgments,
    diff_of,
    scale_of,
)

pages = Pages(f"{TASK}qrels/", organized_task_or_404, section="qrels")
DRAFT = "draft"


@pages.read("diff/", "qrels-diff")
def qrels_diff(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the differences between two sides, or return them as a file."""
    versions = list(QrelSet.objects.filter(task=task).order_by("-version"))
    context: dict[str, object] = {"versions": versions}
    if not versions:
        return render(request, "assessment/qrels_diff.html", context)
    before = _side(request.GET.get("before") or str(versions[0].version), versions)
    after = _side(request.GET.get("after") or DRAFT, versions)
    context |= {"before": before, "after": after}
    if before and after and before.items != after.items:
        return render(request, "assessment/qrels_diff.html", context)
    diff = diff_of(task, before, after)
    scales = scale_of(before, task), scale_of(after, task)
    context |= {"diff": diff, "steps": _steps_table(diff, *scales)}
    changes = _changes_table(request, task, diff, (before, after), scales)
    return answer(request, "assessment/qrels_diff.html", context, changes)


def _side(text: str, versions: Sequence[QrelSet]) -> Side:
    """Return the side named in the query. Raises `Http404` for an unknown version."""
    if text == DRAFT:
        return None
    for version in versions:
        if text == str(version.version):
            return version
    raise Http404


def _steps_table(diff: QrelDiff, before: LabelScale, after: LabelScale) -> Table[ScaleLabel | None]:
    """Return the matrix of label changes: labels before in rows, labels after in columns.

    None stands for a missing line.
    """

    def column(heading: str, value: int | None) -> Column[ScaleLabel | None]:
        def count(label: ScaleLabel | None) -> int | None:
            step = label.value if label else None
            return None if step == value else diff.steps.get((step, value), 0)

        return Column(
            heading, count, cells.COUNT, cell_css=lambda label: "" if count(label) else "same"
        )

    return Table[ScaleLabel | None](
        "steps-table",
        [
            Column("Before", lambda label: cells.label(label) if label else "Added", is_head=True),
            *(column(cells.label(label, "short"), label.value) for label in after),
            column("Removed", None),
        ],
        [*before, None],
        caption="Number of changed lines by label before (row) and after (column)",
        css="steps-table",
    )


def _changes_table(
    request: HttpRequest,
    task: Task,
    diff: QrelDiff,
    sides: tuple[Side, Side],
    scales: tuple[LabelScale, LabelScale],
) -> Table[ChangedLine]:
    """Return the lines that differ, with the judgments that changed those on the page."""
    names = "-".join(side.name if side else DRAFT for side in sides)
    was, now = ([(str(label.value), label.word) for label in scale] for scale in scales)
    kinds = [_label_kind(scale) for scale in scales]

    def with_judgments(rows: list[ChangedLine]) -> list[ChangedLine]:
        judgments = changing_judgments(task, rows, before=sides[0], after=sides[1])
        return [{**row, "judgment": judgments.get((row["topic"], row["item"]))} for row in rows]

    return Table[ChangedLine](
        "changes",
        [
            Column("Topic", lambda row: row["topic"], name="topic", by="place", is_head=True),
            Column("Item", lambda row: row["item"], cells.ID, name="item", by="item"),
            Column("Change", lambda row: row["change"], name="change", by="change"),
            Column(
                "Before",
                lambda row: row["before"],
                kinds[0],
                name="before",
                order="was",
                by="before",
            ),
            Column(
                "After", lambda row: row["after"], kinds[1], name="after", order="now", by="after"
            ),
            Column("Changed by", _changed_by, name=None, note=_changed_at(task)),
            Column("Reason", _reason, cells.PROSE, name=None),
        ],
        Prepared(diff.rows, with_judgments),
        asked=request.GET,
        order="topic",
        searched=("topic", "item"),
        filters=[
            Filter("topic", "Topic", "topic"),
            Filter("change", "Change", "change"),
            Filter("was", "Label before", "before", was),
            Filter("now", "Label after", "after", now),
        ],
        row_css=lambda row: row["change"],
        css="diff-table",
        file=f"qrels-{task.lab.slug}-{task.slug}-diff-{names}",
    )


def _label_kind(scale: LabelScale) -> cells.CellKind:
    return cells.CellKind(lambda value: cells.label(scale.of(value)))


def _changed_by(row: ChangedLine) -> str | None:
    judgment = row["judgment"]
    if judgment and not judgment.is_imported:
        return judgment.assessor.name if judgment.assessor else "unknown"
    return "an imported file" if judgment else None


def _changed_at(task: Task) -> Callable[[ChangedLine], str]:
    """Return what links the day of a line's judgment to the judgments of its item."""
    address = [task.lab.slug, task.slug]

    def day(row: ChangedLine) -> str:
        if not row["judgment"]:
            return ""
        url = reverse("assessment:item-judgments", args=[*address, row["topic"], row["item"]])
        return format_html('<a href="{}">{}</a>', url, f"{row['judgment'].judged_at:%Y-%m-%d}")

    return day


def _reason(row: ChangedLine) -> str:
    judgment = row["judgment"]
    if judgment is None:
        return ""
    earlier = judgment.supersedes
    parts = (
        f"{round_.get_kind_display()}." if (round_ := judgment.instance.item.pool.round) else "",
        f"After ticket {earlier.ticket.pk}." if earlier and hasattr(earlier, "ticket") else "",
        judgment.reason or judgment.comment,
    )
    return " ".join(filter(None, parts))
