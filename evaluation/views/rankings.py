"""The page of a run's ranking for one topic, with another run's beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe

from arqkit.labels import ScaleLabel
from arqkit.leaderboard import BoardRun
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from arqlab.web import TASK, Column, Pages, Table, answer, cells, counted, task_url
from assessment.judging.selectors.related import judged_ids
from collection.permissions import closed_threads
from collection.selectors.collections import collection_of
from evaluation.permissions import (
    ScoreAccess,
    VisibleBoard,
    board_with_run,
    run_of_task_or_404,
    score_access_of,
)
from evaluation.selectors.boards import RunValue, Spread, scores_by_topic, spread_of, topic_values
from evaluation.selectors.records import board_topics, with_recorded_answers
from evaluation.services.rankings import ItemText, item_texts, ranking_of
from evaluation.views.tables import measure_or_404, measure_query, scores_page
from submissions.models import Run
from submissions.selectors import run_items

pages = Pages(f"{TASK}runs/<number:run>/scores/<str:query_id>/", run_of_task_or_404, section="runs")
ROWS_A_PAGE = 40
MOST_BESIDE = 100
"""The number of other runs that can be chosen: with more, the best ones for the topic."""
UNJUDGED = mark_safe('<span class="muted">unjudged</span>')


@dataclass(frozen=True)
class ListedItem:
    """An item of a list with its label, its text, and for organizers the page of its judgments.

    `order` is its place in a ranking, and `other` that in another one.
    """

    item: str
    label: ScaleLabel | None
    text: ItemText
    judgments_url: str
    order: int | None = None
    other: int | None = None


ITEM_COLUMNS: tuple[Column[ListedItem], ...] = (
    Column("Item", template="evaluation/_item_text.html", is_head=True),
    Column(
        "Label",
        lambda row: cells.label(row.label) if row.label else UNJUDGED,
        link=lambda row: row.judgments_url,
        css="item-label",
    ),
)
"""The columns of an item with its text and its label, which leads to its judgments."""


class RankingSide(NamedTuple):
    """A run with the page of its ranking, the number of its items, and its values by measure."""

    run: BoardRun
    items: int
    page: Page[int]
    table: Table[ListedItem]
    values: list[float | None]


@pages.read("", "run-ranking")
def run_ranking(request: HttpRequest, run: Run, query_id: str) -> HttpResponse:
    """Show the items of a run for a topic in the scored order, next to those of another run.

    `beside` is the key of the other run, `best` (the default), `median` or `none`. Users see the
    rankings of the runs that they may open.
    """
    sight = score_access_of(request.user, run.task)
    visible = board_with_run(sight, run, qrels=request.GET.get("qrels", ""))
    is_judged = visible.qrel_set.qrels.filter(query_id=query_id).exists()
    if not (is_judged and sight.may_open(visible.board.row_of(run.pk).run)):
        raise Http404
    measure = measure_or_404(visible.board, request.GET.get("measure", ""))
    values = topic_values(visible.board, visible.qrel_set, query_id, measure)
    others = [v for v in values if v.run.key != run.pk and sight.may_open(v.run)]
    beside = _beside(choice := request.GET.get("beside", "best"), others, values)
    second = Run.objects.filter(pk=beside.run.key if beside else 0).select_related("team")
    context = {
        "run": visible.board.row_of(run.pk).run,
        "query_id": query_id,
        "topic": board_topics(run.task, visible.board.release).get(query_id),
        "visible": visible,
        "sight": sight,
        "measure": measure,
        "all_others": len(others),
        "others": [v for n, v in enumerate(others) if n < MOST_BESIDE or v is beside],
        "chosen": choice,
        "query": measure_query(visible, measure),
        **_sides(request, [run, *second], visible, sight, query_id),
    }
    table = _values_table(context["sides"], visible, query_id, measure, spread_of(values))
    return answer(request, "evaluation/run_ranking.html", context, table)


def _beside(choice: str, others: Sequence[RunValue], values: Sequence[RunValue]) -> RunValue | None:
    """Return the run to show beside: one of `others`, which are sorted best first."""
    spread = spread_of(values)
    competing = [run_value for run_value in others if run_value.run.counts]
    if choice == "median" and spread:
        return min(
            competing, key=lambda run_value: abs(run_value.value - spread.median), default=None
        )
    named = next((run_value for run_value in others if str(run_value.run.key) == choice), None)
    return named or (competing[0] if choice == "best" and competing else None)


def _sides(
    request: HttpRequest,
    runs: Sequence[Run],
    visible: VisibleBoard,
    sight: ScoreAccess,
    query_id: str,
) -> dict[str, Any]:
    only_judged, qrel_set, measures = (
        "judged" in request.GET,
        visible.qrel_set,
        visible.board.measures,
    )
    runs = with_recorded_answers(runs, qrel_set, visible.board.release)
    frames = [ranking_of(run, qrel_set=qrel_set, query_id=query_id) for run in runs]
    keys, listed = [run.pk for run in runs], item_reader(request, visible, sight, query_id)
    scores = scores_by_topic(visible.board, runs=keys, qrel_set=qrel_set, query_id=query_id)
    sides, kind = [], ItemKind(qrel_set.items)
    for number, (run, frame) in enumerate(zip(runs, frames, strict=True)):
        items = frame.filter(pl.col("label").is_not_null()) if only_judged else frame
        if runs[1:]:
            others = frames[1 - number].select("item", other="order")
            items = items.join(others, on="item", how="left", maintain_order="left")
        # A run that is scored by visual ids may have formula ids.
        ids = run_items(run, sight.task) if kind is ItemKind.VISUAL_IDS else kind
        page, rows = listed(items, ids)
        values = [scores[run.pk][query_id].get(measure.label) for measure in measures]
        table = _items_table(run, rows, is_pair=len(runs) > 1)
        listed_run = visible.board.row_of(run.pk).run
        sides.append(RankingSide(listed_run, frame.height, page, table, values))
    longest = max((side.page for side in sides), key=lambda page: page.paginator.num_pages)
    return {"sides": sides, "page": longest, "only_judged": only_judged}


def item_reader(
    request: HttpRequest, visible: VisibleBoard, sight: ScoreAccess, query_id: str
) -> Callable[[pl.DataFrame, ItemKind], tuple[Page[int], list[ListedItem]]]:
    """Return what reads the page of a topic's items that the address asks for.

    It takes the items and the type of their ids (source). Each item gets its label, its text unless
    the user may not see the thread, and for organizers the address of its judgments.
    """
    task, qrel_set = sight.task, visible.qrel_set
    scale, collection = qrel_set.label_scale, collection_of(task.lab)
    closed = closed_threads(request.user, collection) if collection else frozenset()

    def read(items: pl.DataFrame, kind: ItemKind) -> tuple[Page[int], list[ListedItem]]:
        page = Paginator(range(items.height), ROWS_A_PAGE).get_page(request.GET.get("page"))
        part = items.slice(max(page.start_index() - 1, 0), len(page.object_list))
        texts = item_texts(part, items=kind, qrel_set=qrel_set, closed=closed)
        judged = judged_ids(task, query_id, part["item"]) if sight.organizes else ()
        urls = {one: task_url("assessment:item-judgments", task, query_id, one) for one in judged}
        rows = [
            ListedItem(
                row["item"],
                None if row["label"] is None else scale.of(row["label"]),
                text,
                urls.get(row["item"], ""),
                row.get("order"),
                row.get("other"),
            )
            for row, text in zip(part.iter_rows(named=True), texts, strict=True)
        ]
        return page, rows

    return read


def _items_table(run: Run, rows: Sequence[ListedItem], *, is_pair: bool) -> Table[ListedItem]:
    other = Column[ListedItem](
        "Other", lambda row: row.other, cells.COUNT, title="Place in the other ranking", css="other"
    )
    return Table[ListedItem](
        f"items-{run.pk}",
        [
            Column("#", lambda row: row.order, cells.COUNT, css="place"),
            *ITEM_COLUMNS,
            *([other] if is_pair else []),
        ],
        rows,
        css="ranking-table",
    )


def _values_table(
    sides: Sequence[RankingSide],
    visible: VisibleBoard,
    query_id: str,
    measure: Measure,
    spread: Spread | None,
) -> Table[RankingSide]:
    page = scores_page(visible, measure)

    def column(place: int, heading: str) -> Column[RankingSide]:
        return Column(heading, lambda row: row.values[place], cells.SCORE)

    headings = [each.heading for each in visible.board.measures]
    caption = f"Values for {query_id}."
    if spread:
        caption += (
            f" {measure.heading} of {counted(spread.runs, 'run')}: "
            f"best {cells.score(spread.best)}, median {cells.score(spread.median)}."
        )
    return Table[RankingSide](
        "values",
        [
            Column(
                "Run",
                lambda row: row.run.label,
                link=lambda row: page(row.run),
                note=lambda row: row.run.team,
                is_head=True,
            ),
            *(column(*heading) for heading in enumerate(headings)),
        ],
        sides,
        caption=caption,
    )
