"""The pages that compare runs: two or more runs, and all pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from arqkit.comparison.differences import pair_differences, run_pairs
from arqkit.comparison.families import FAMILY_TESTS, TUKEY, PairFamily
from arqkit.leaderboard import BoardRun
from arqkit.measures.columns import Reals
from arqkit.texts.html.rendering import title_text
from arqlab.core.models import Task, Topic
from arqlab.core.oddities import counted
from arqlab.core.permissions import task_or_404
from arqlab.web.cells import (
    COUNT,
    HUNDREDTHS,
    P_VALUE,
    RUN,
    SCORE,
    SIGNED,
    CellKind,
    p_value,
    run_name,
    signed,
    team_name,
)
from arqlab.web.downloads import table_response
from arqlab.web.pages import TASK, Pages
from arqlab.web.tables import Column, Table, answer, to
from evaluation.permissions import VisibleBoard, all_runs_of, score_access_of, visible_board
from evaluation.services.comparison import (
    SIGNIFICANT,
    ComparedRuns,
    ComparedTopic,
    PairSummary,
    PairTest,
    RunPair,
    RunSimilarity,
    SeveralRuns,
    compared_runs,
    run_pair,
    run_similarity,
    several_runs,
)
from evaluation.views.tables import (
    board_words,
    file_words,
    measure_or_404,
    topic_columns,
    version_query,
)

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

STARRED = CellKind(lambda p: f"{p_value(p)}*" if p < SIGNIFICANT else p_value(p), "num")
"""A p-value, with an asterisk if it is significant."""
TESTS = {
    "t": "Paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "Randomization test",
    "tukey": "Tukey’s HSD",
}


CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "plain": "none"}


class PairCell(NamedTuple):
    """The p-value of a pair, or None if it cannot be tested, and the URL of its page."""

    value: float | None
    is_significant: bool
    url: str


class PairLine(NamedTuple):
    """A run with its mean and its tests against the runs with better means."""

    run: BoardRun
    mean: float
    cells: list[PairCell]


def pair_lines(compared: ComparedRuns, values: Reals, *, address: str, most: int) -> list[PairLine]:
    """Return the first runs with the p-values (a square matrix) of their pairs."""
    runs = compared.runs[:most]
    return [
        PairLine(
            run,
            run.values[compared.measure.name],
            [
                _cell(float(values[row, column]), f"{address}&first={better.key}&second={run.key}")
                for column, better in enumerate(runs[:row])
            ],
        )
        for row, run in enumerate(runs)
    ]


def _cell(value: float, url: str) -> PairCell:
    return PairCell(None if np.isnan(value) else value, value < SIGNIFICANT, url)


def pair_table(compared: ComparedRuns, family: PairFamily) -> pl.DataFrame:
    """Return all pairs with their mean differences and p-values."""
    first, second = run_pairs(len(compared.runs))
    differences = pair_differences(compared.matrix.scores)
    known = ~np.isnan(differences)
    topics = known.sum(axis=1)
    totals = np.where(known, differences, 0).sum(axis=1)
    means = np.divide(totals, topics, out=np.full(len(topics), np.nan), where=topics > 0)
    names = {
        f"{side} {part}": [getattr(compared.runs[place], name) for place in places]
        for side, places in (("first", first), ("second", second))
        for part, name in (("team", "team"), ("run", "label"))
    }
    tested = {
        {"plain": "p"}.get(name, f"p {name}"): values[first, second]
        for name, values in family._asdict().items()
    }
    return pl.DataFrame(names | {"topics": topics, "mean difference": means} | tested).fill_nan(
        None
    )


MOST = 8
"""The most runs that are compared topic by topic."""


def also_runs(compared: ComparedRuns, chosen: Sequence[int]) -> list[tuple[BoardRun, bool]]:
    """Return the runs that can be added to the first two, and whether each is chosen."""
    return [
        (run, place in chosen[2:])
        for place, run in enumerate(compared.runs)
        if place not in chosen[:2]
    ]


def several_response(
    request: HttpRequest, compared: ComparedRuns, places: Sequence[int], context: dict[str, Any]
) -> HttpResponse:
    """Return the page of more than two runs (places), or their scores as a file."""
    test, correction = request.GET.get("test", "t"), request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    several = several_runs(compared, places, test=test, correction=correction)
    topics = task_topics(context["task"])
    context |= {
        "several": several,
        "first": several.runs[0],
        "second": several.runs[1],
        "test": test,
        "tests": TESTS,
        "correction": correction,
        "corrections": CORRECTIONS,
        "is_corrected": test == TUKEY,
        "chart": {
            "measure": compared.measure.heading,
            "runs": [run.label for run in several.runs],
            "topics": [
                {**_point(context["task"], topics, name), "values": values}
                for name, values in several.topics
            ],
        },
    }
    tables = (
        _several_topics_table(several, topics, context),
        _pairs_table(request, several, context),
    )
    return answer(request, "evaluation/comparison.html", context, *tables)


def _several_topics_table(
    several: SeveralRuns, topics: Mapping[str, Topic], context: Mapping[str, Any]
) -> Table:
    keys = "-".join(str(run.key) for run in several.runs)
    return Table(
        "topics",
        [
            *topic_columns(context["task"], lambda row: (row[0], topics.get(row[0]))),
            *(
                Column(
                    run.label,
                    f"1.{place}",
                    SCORE,
                    name=f"{run.label} ({place + 1})",
                    title=str(run),
                )
                for place, run in enumerate(several.runs)
            ),
        ],
        several.topics,
        css="topic-table",
        file=f"{board_words(context['visible'].board)}-{keys}-{file_words(context['measure'])}",
    )


def _pairs_table(request: HttpRequest, several: SeveralRuns, context: Mapping[str, Any]) -> Table:
    """Return the pairs of some runs, each with a link to its own page."""
    kept = {k: v for k, v in request.GET.items() if k not in ("also", "test", "correction")}
    if context["is_corrected"]:
        correction = ", which needs no correction"
    elif context["correction"] == "plain":
        correction = ", not corrected"
    else:
        family = len(context["family"].runs)
        name = CORRECTIONS[context["correction"]]
        correction = f", {name}’s correction for all pairs of {family} runs"

    def page(pair: PairSummary) -> str:
        return f"?{urlencode({**kept, 'first': pair.first.key, 'second': pair.second.key})}"

    return Table(
        "pairs",
        [
            Column("First run", "first", RUN, is_head=True),
            Column("Second run", "second", RUN),
            Column("Difference", "difference", SIGNED),
            Column("Wins", "wins", COUNT),
            Column("Ties", "ties", COUNT),
            Column("Losses", "losses", COUNT),
            Column(
                "Effect size", "effect", HUNDREDTHS, title="Cohen’s d of the paired differences"
            ),
            Column("p", "p", STARRED, link=page, best=lambda pair: pair.is_significant),
        ],
        several.pairs,
        caption=f"{context['measure'].heading} of each pair over its common topics: the first run "
        f"minus the second. {TESTS[context['test']]}, two-sided{correction}. Significant "
        "differences (p < 0.05) are bold with an asterisk.",
    )


def task_topics(task: Task) -> dict[str, Topic]:
    """Return the topics of a task by their ids, without the texts of the questions."""
    topics = Topic.objects.filter(task=task).defer("body", "body_html")
    return {topic.query_id: topic for topic in topics}


def _point(task: Task, topics: Mapping[str, Topic], name: str) -> dict[str, Any]:
    """Return the title and the address of a topic in a chart, None without a page."""
    if name not in topics:
        return {"topic": name, "title": "", "url": None}
    url = reverse("core:topic-detail", args=[task.lab.slug, task.slug, name])
    return {"topic": name, "title": title_text(topics[name].title), "url": url}


ENOUGH = 60
"""The most runs in the table of all pairs: with more, the page has those with the best means."""


@pages.read("compare/", "comparison")
def comparison(request: HttpRequest, task: Task) -> HttpResponse:
    """Compare runs of the board that the user sees, or return their scores as a file."""
    visible, everyone, context = board_context(request, task, post_hoc=True)
    chosen = _places(request, everyone)
    compared, places = everyone.around(chosen)
    context |= {"family": compared, "most": MOST, "also": also_runs(everyone, chosen)}
    context["is_cut"] = len(request.GET.getlist("also")) > MOST - 2
    if len(places) > 2:
        return several_response(request, compared, places, context)
    first, second = places if everyone.runs else (0, 0)
    pair = None if first == second else run_pair(compared, first, second)
    context |= {
        "pair": pair,
        "first": compared.runs[first] if compared.runs else None,
        "second": compared.runs[second] if compared.runs else None,
        "is_same": len(everyone.runs) > 1 and first == second,
    }
    tables = _pair_tables(request, pair, compared, visible, context) if pair else ()
    return answer(request, "evaluation/comparison.html", context, *tables)


def _pair_tables(
    request: HttpRequest,
    pair: RunPair,
    compared: ComparedRuns,
    visible: VisibleBoard,
    context: dict[str, Any],
) -> list[Table]:
    """Return the tables of two runs, and add the chart to the context."""
    task = context["task"]
    topics = task_topics(task)
    context["chart"] = {
        "measure": compared.measure.heading,
        "first": pair.first.label,
        "second": pair.second.label,
        "topics": [{**row._asdict(), **_point(task, topics, row.query_id)} for row in pair.topics],
    }
    tables = [
        _pair_topics_table(pair, compared, topics, visible),
        _figures_table(pair, compared, visible),
        _tests_table(pair, compared),
    ]
    sight = score_access_of(request.user, task)
    if all(sight.may_open(run) for run in (pair.first, pair.second)):
        similarity = run_similarity(visible.qrel_set, pair.first.key, pair.second.key)
        tables += [_similarity_table(similarity)] if similarity else []
    return tables


def _pair_topics_table(
    pair: RunPair, compared: ComparedRuns, topics: Mapping[str, Topic], visible: VisibleBoard
) -> Table:
    first, second = pair.first, pair.second
    return Table(
        "topics",
        [
            *topic_columns(
                visible.qrel_set.task, lambda row: (row.query_id, topics.get(row.query_id))
            ),
            *(
                Column(
                    f"{side.capitalize()} run",
                    side,
                    SCORE,
                    name=f"{run.label} ({place})",
                    best=_is_won(place),
                    title=run.label,
                )
                for place, side, run in ((1, "first", first), (2, "second", second))
            ),
            Column("Difference", "difference", SIGNED, name="difference"),
        ],
        pair.topics,
        css="topic-table",
        file=f"{board_words(visible.board)}-{first.key}-{second.key}-{file_words(compared.measure)}",
    )


def _is_won(place: int) -> Callable[[ComparedTopic], bool]:
    return lambda row: row.difference > 0 if place == 1 else row.difference < 0


def _figures_table(pair: RunPair, compared: ComparedRuns, visible: VisibleBoard) -> Table:
    task, query = visible.qrel_set.task, version_query(visible)
    page = to(
        "evaluation:run-scores",
        task.lab.slug,
        task.slug,
        of="0.key",
        query=urlencode({"measure": compared.measure.label, **query}),
    )
    return Table(
        "figures",
        [
            Column(
                "Run",
                lambda row: run_name(row[0], page(row)),
                note=lambda row: team_name(row[0]),
                is_head=True,
            ),
            Column("Mean", "1", SCORE),
            Column("Topics won", "2", COUNT),
        ],
        [(pair.first, pair.means[0], pair.wins), (pair.second, pair.means[1], pair.losses)],
        caption=f"{compared.measure.heading} over {counted(len(pair.topics), 'common topic')}. The "
        "difference is the first run minus the second.",
        foot=[["Difference", signed(pair.difference), f"{pair.ties} tied"]],
    )


def _tests_table(pair: RunPair, compared: ComparedRuns) -> Table:
    def corrected(name: str) -> Callable[[PairTest], float | None]:
        return lambda row: None if row.test == TUKEY else getattr(row, name)

    return Table(
        "tests",
        [
            Column("Test", lambda row: TESTS[row.test], is_head=True),
            Column("p", "plain", P_VALUE),
            Column("Holm", corrected("holm"), P_VALUE),
            Column("Benjamini–Hochberg", corrected("bh"), P_VALUE),
        ],
        pair.tests,
        caption="Two-sided p-values. The corrections are for all pairs of "
        f"{len(compared.runs)} runs; Tukey’s HSD includes them.",
    )


def _similarity_table(similarity: RunSimilarity) -> Table:
    judged = f"Judged at {similarity.cutoff}"
    return Table(
        "similarity",
        [
            Column("Rank-biased overlap (p = 0.9)", "overlap", SCORE),
            Column(f"Jaccard at {similarity.cutoff}", "jaccard", SCORE),
            Column(f"{judged}, first run", "judged.0", SCORE),
            Column(f"{judged}, second run", "judged.1", SCORE),
        ],
        [similarity],
        caption="Similarity of the rankings: means over the topics that both runs answered. Only "
        "people who may see both runs can see this table.",
    )


@pages.read("pairs/", "comparison-matrix")
def comparison_matrix(request: HttpRequest, task: Task) -> HttpResponse:
    """Show a test of all pairs of runs of the board that the user sees, or return it as TSV."""
    visible, every, context = board_context(request, task)
    compared = every.competing
    test = request.GET.get("test", FAMILY_TESTS[0])
    correction = request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    family = compared.family(test)
    if request.GET.get("format") == "tsv":
        name = f"{board_words(visible.board)}-{visible.board.qrels}-pairs.tsv"
        return table_response(pair_table(compared, family), name)
    context |= {
        "compared": compared,
        "apart": every.runs[len(compared.runs) :],
        "tests": TESTS,
        "test": test,
        "corrections": CORRECTIONS,
        "correction": correction,
        "is_corrected": test == TUKEY,
        **_matrix(compared, getattr(family, correction), task, context["board_query"]),
    }
    return render(request, "evaluation/comparison_matrix.html", context)


def _matrix(
    compared: ComparedRuns, values: Reals, task: Task, query: Mapping[str, str]
) -> dict[str, Any]:
    """Return the rows of the table of all pairs, and how many pairs differ significantly."""
    page = reverse("evaluation:comparison", args=[task.lab.slug, task.slug])
    address = f"{page}?{urlencode({**query, 'measure': compared.measure.label})}"
    lines = pair_lines(compared, values, address=address, most=ENOUGH)
    cells = [cell for line in lines for cell in line.cells]
    return {
        "lines": lines,
        "pairs": sum(cell.value is not None for cell in cells),
        "significant": sum(cell.is_significant for cell in cells),
        "enough": ENOUGH,
    }


def board_context(
    request: HttpRequest, task: Task, *, post_hoc: bool = False
) -> tuple[VisibleBoard, ComparedRuns, dict[str, Any]]:
    """Return the board that the user sees, its runs, and what both pages show of them.

    Post-hoc runs can be compared, but are in no family of tests.
    """
    qrels, is_live = request.GET.get("qrels", ""), "live" in request.GET
    sight = score_access_of(request.user, task)
    visible = visible_board(sight, qrels=qrels, live=is_live)
    if visible is None:
        raise Http404
    if post_hoc:
        visible = all_runs_of(sight, visible)
    compared = compared_runs(visible, measure_or_404(visible.board, request.GET.get("measure", "")))
    query = {"live": "1", "qrels": visible.qrel_set.name} if visible.state == "live" else {}
    context = {
        "task": task,
        "visible": visible,
        "compared": compared,
        "measure": compared.measure,
        "board_query": query,
        "board_address": f"?{urlencode(query)}" if query else "",
    }
    return visible, compared, context


def _places(request: HttpRequest, compared: ComparedRuns) -> list[int]:
    """Return the places of the chosen runs, by default the two best; raise `Http404` for others.

    The first two may be the same. Further runs (`also`) are different, and there are at most MOST.
    """
    places = {str(run.key): place for place, run in enumerate(compared.runs)}
    chosen = [request.GET.get(name, "") for name in ("first", "second")]
    also = request.GET.getlist("also")
    if any(key and key not in places for key in [*chosen, *also]):
        raise Http404
    if len(places) < 2:
        return [0, 0][: 2 * len(places)]
    first = places.get(chosen[0], int(places.get(chosen[1]) == 0))
    second = places.get(chosen[1], int(first == 0))
    further = dict.fromkeys(places[key] for key in also if key)
    if not further.keys() - {first, second}:
        return [first, second]
    return list(dict.fromkeys([first, second, *further]))[:MOST]
