"""The pages that compare runs: two or more runs, and all pairs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import numpy as np
import polars as pl
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analyses.services.comparison import (
    ComparedRuns,
    ComparedTopic,
    PairSummary,
    PairTest,
    RunPair,
    RunSimilarity,
    SeveralRuns,
    SeveralTopic,
    compared_runs,
    run_pair,
    run_similarity,
    several_runs,
)
from arqkit.comparison.differences import DECIMALS, run_pairs
from arqkit.comparison.families import FAMILY_TESTS, SIGNIFICANT, TUKEY, PairFamily
from arqkit.leaderboard import BoardRun
from arqkit.measures.columns import Reals
from arqkit.texts.html.rendering import title_text
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Column, Pages, Table, answer, cells, counted, table_response, task_url
from evaluation.permissions import ScoreAccess, VisibleBoard, all_runs_of
from evaluation.selectors.boards import number_or_none
from evaluation.selectors.records import board_topics
from evaluation.views.tables import (
    board_file_name,
    live_query,
    measure_or_404,
    scores_page,
    seen_board,
    topic_columns,
)

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

STARRED = cells.CellKind(
    lambda p: f"{cells.p_value(p)}*" if p < SIGNIFICANT else cells.p_value(p), "num"
)
"""A p-value, with an asterisk if it is significant."""
TopicRow = TypeVar("TopicRow", bound=ComparedTopic | SeveralTopic)
TESTS = {
    "t": "Paired t test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "Randomization test",
    "tukey": "Tukey’s HSD",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "plain": "none"}
OFFERED = 200
"""The most runs that the page offers, the best means first; an address may name any others."""
MOST = 8
"""The most runs that are compared topic by topic."""
ENOUGH = 40
"""The most runs in the table of all pairs: with more, the page has those with the best means."""


@pages.read("compare/", "comparison")
def comparison(request: HttpRequest, task: Task) -> HttpResponse:
    """Compare runs of the board that the user sees, or return their scores as a file."""
    sight, everyone, context = compared_board(request, task, post_hoc=True)
    selected = _places(request, everyone)
    compared, places = everyone.around(selected)
    offered = sorted({*range(min(OFFERED, len(everyone.runs))), *selected})
    also = [place for place in offered if place not in selected[:2]]
    context |= {
        "family": compared,
        "most": MOST,
        "offered": [everyone.runs[place] for place in offered],
        "also": [(everyone.runs[place], place in selected) for place in also],
        "is_cut": len(request.GET.getlist("also")) > MOST - 2,
        "is_same": len(everyone.runs) > 1 and len(set(selected)) == 1,
    }
    context |= {
        name: compared.runs[place] for name, place in zip(("first", "second"), places, strict=False)
    }
    if len(places) > 2:
        tables = _several_tables(request, compared, places, context)
    elif len(set(places)) == 2 and (pair := run_pair(compared, *places)):
        context["pair"] = pair
        tables = _pair_tables(sight, pair, context)
    else:
        tables = []
    return answer(request, "analyses/comparison.html", context, *tables)


def _several_tables(
    request: HttpRequest, compared: ComparedRuns, places: Sequence[int], context: dict[str, Any]
) -> list[Table[Any]]:
    """Return the tables of more than two runs (places), and add the chart to the context."""
    context |= _test_choice(request, "t")
    several = several_runs(compared, places, test=context["test"], correction=context["correction"])
    points = [{"values": row.values} for row in several.topics]
    context |= {"several": several}
    context["chart"] = {"runs": [run.label for run in several.runs]}

    def column(place: int, run: BoardRun) -> Column[SeveralTopic]:
        name = f"{run.label} ({place + 1})"
        return Column(
            run.label, lambda row: row.values[place], cells.SCORE, name=name, title=str(run)
        )

    columns = [column(*run) for run in enumerate(several.runs)]
    return [
        _topics_table(context, several.runs, several.topics, points, columns),
        _pairs_table(request, several, context),
    ]


def _pairs_table(
    request: HttpRequest, several: SeveralRuns, context: Mapping[str, Any]
) -> Table[PairSummary]:
    query = {k: v for k, v in request.GET.items() if k not in ("also", "test", "correction")}
    if context["is_corrected"]:
        correction = ", which needs no correction"
    elif context["correction"] == "plain":
        correction = ", not corrected"
    else:
        family = len(context["family"].runs)
        name = CORRECTIONS[context["correction"]]
        correction = f", {name}’s correction for all pairs of {family} runs"

    def page(pair: PairSummary) -> str:
        return f"?{urlencode({**query, 'first': pair.first.key, 'second': pair.second.key})}"

    heading, test = context["measure"].heading, TESTS[context["test"]]
    cohen = "Cohen’s d of the paired differences"
    return Table[PairSummary](
        "pairs",
        [
            Column("First run", lambda row: row.first, cells.RUN, is_head=True),
            Column("Second run", lambda row: row.second, cells.RUN),
            Column("Difference", lambda row: row.difference, cells.SIGNED),
            Column("Wins", lambda row: row.wins, cells.COUNT),
            Column("Ties", lambda row: row.ties, cells.COUNT),
            Column("Losses", lambda row: row.losses, cells.COUNT),
            Column("Effect size", lambda row: row.effect, cells.HUNDREDTHS, title=cohen),
            Column(
                "p", lambda row: row.p, STARRED, link=page, best=lambda pair: pair.is_significant
            ),
        ],
        several.pairs,
        caption=f"{heading} of each pair over its common topics: the first run minus the second. "
        f"{test}, two-sided{correction}. Significant differences (p < 0.05) are bold with an "
        "asterisk.",
    )


def _pair_tables(sight: ScoreAccess, pair: RunPair, context: dict[str, Any]) -> list[Table[Any]]:
    """Return the tables of two runs, and add the chart to the context."""
    runs, compared, visible = (pair.first, pair.second), context["family"], context["visible"]
    context["chart"] = {"first": pair.first.label, "second": pair.second.label}
    first, second = pair.first.label, pair.second.label
    columns: list[Column[ComparedTopic]] = [
        Column(
            "First run",
            lambda row: row.first,
            cells.SCORE,
            name=f"{first} (1)",
            best=lambda row: row.difference > 0,
            title=first,
        ),
        Column(
            "Second run",
            lambda row: row.second,
            cells.SCORE,
            name=f"{second} (2)",
            best=lambda row: row.difference < 0,
            title=second,
        ),
        Column("Difference", lambda row: row.difference, cells.SIGNED, name="difference"),
    ]
    points = [row._asdict() for row in pair.topics]
    tables: list[Table[Any]] = [
        _topics_table(context, runs, pair.topics, points, columns),
        _figures_table(pair, compared, visible),
        _tests_table(pair, compared),
    ]
    if all(sight.may_open(run) for run in runs):
        similarity = run_similarity(visible.qrel_set, pair.first.key, pair.second.key)
        if similarity:
            tables.append(_similarity_table(similarity))
    return tables


def _topics_table(
    context: dict[str, Any],
    runs: Sequence[BoardRun],
    rows: Sequence[TopicRow],
    points: Sequence[Mapping[str, object]],
    columns: Sequence[Column[TopicRow]],
) -> Table[TopicRow]:
    """Return the scores of runs by topic, and complete the chart."""
    task, measure, board = context["task"], context["measure"], context["visible"].board
    topics = board_topics(task, board.release)
    titles = {name: title_text(topic.title) for name, topic in topics.items()}
    urls = {name: task_url("labs:topic-detail", task, name) for name in topics}
    context["chart"] |= {
        "measure": measure.heading,
        "topics": [
            {
                **point,
                "topic": row.query_id,
                "title": titles.get(row.query_id, ""),
                "url": urls.get(row.query_id),
            }
            for row, point in zip(rows, points, strict=True)
        ],
    }
    names: tuple[Column[TopicRow], ...] = topic_columns(task, topics, lambda row: row.query_id)
    return Table[TopicRow](
        "topics",
        [*names, *columns],
        rows,
        css="topic-table",
        file=board_file_name(board, *(run.key for run in runs), measure),
    )


class _SideFigures(NamedTuple):
    run: BoardRun
    mean: float
    topics_won: int


def _figures_table(
    pair: RunPair, compared: ComparedRuns, visible: VisibleBoard
) -> Table[_SideFigures]:
    page = scores_page(visible, compared.measure)
    topics = counted(len(pair.topics), "common topic")
    return Table[_SideFigures](
        "figures",
        [
            Column(
                "Run",
                lambda row: cells.run_name(row.run, page(row.run)),
                is_head=True,
                note=lambda row: cells.team_name(row.run),
            ),
            Column("Mean", lambda row: row.mean, cells.SCORE),
            Column("Topics won", lambda row: row.topics_won, cells.COUNT),
        ],
        [
            _SideFigures(pair.first, pair.means[0], pair.wins),
            _SideFigures(pair.second, pair.means[1], pair.losses),
        ],
        caption=f"{compared.measure.heading} over {topics}. The difference is the first run minus "
        "the second.",
        foot=[["Difference", cells.signed(pair.difference), f"{pair.ties} tied"]],
    )


def _tests_table(pair: RunPair, compared: ComparedRuns) -> Table[PairTest]:
    return Table[PairTest](
        "tests",
        [
            Column("Test", lambda row: TESTS[row.test], is_head=True),
            Column("p", lambda row: row.plain, cells.P_VALUE),
            Column("Holm", lambda row: None if row.test == TUKEY else row.holm, cells.P_VALUE),
            Column(
                "Benjamini–Hochberg",
                lambda row: None if row.test == TUKEY else row.bh,
                cells.P_VALUE,
            ),
        ],
        pair.tests,
        caption=f"Two-sided p-values. The corrections are for all pairs of {len(compared.runs)} "
        "runs; Tukey’s HSD includes them.",
    )


def _similarity_table(similarity: RunSimilarity) -> Table[RunSimilarity]:
    cutoff = similarity.cutoff
    return Table[RunSimilarity](
        "similarity",
        [
            Column("Rank-biased overlap (p = 0.9)", lambda row: row.overlap, cells.SCORE),
            Column(f"Jaccard at {cutoff}", lambda row: row.jaccard, cells.SCORE),
            Column(f"Judged at {cutoff}, first run", lambda row: row.judged[0], cells.SCORE),
            Column(f"Judged at {cutoff}, second run", lambda row: row.judged[1], cells.SCORE),
        ],
        [similarity],
        caption="Similarity of the rankings: means over the topics that both runs answered. Only "
        "people who may see both runs can see this table.",
    )


@pages.read("pairs/", "comparison-matrix")
def comparison_matrix(request: HttpRequest, task: Task) -> HttpResponse:
    """Show a test of all pairs of runs of the board that the user sees, or return it as TSV."""
    _, every, context = compared_board(request, task)
    compared, choice = every.competing, _test_choice(request, FAMILY_TESTS[0])
    is_file, count = request.GET.get("format") == "tsv", len(compared.runs)
    family = compared.family(choice["test"], range(count if is_file else min(count, ENOUGH)))
    if is_file:
        board = context["visible"].board
        return table_response(
            _pair_frame(compared, family), f"{board_file_name(board, board.qrels)}-pairs.tsv"
        )
    query = urlencode({**context["board_query"], "measure": compared.measure.label})
    address = f"{task_url('analyses:comparison', task)}?{query}"
    lines = _pair_lines(compared, getattr(family, choice["correction"]), address)
    compared_cells = [cell for line in lines for cell in line["cells"]]
    context |= choice | {
        "compared": compared,
        "apart": every.runs[len(compared.runs) :],
        "lines": lines,
        "pairs": sum(cell["value"] is not None for cell in compared_cells),
        "significant": sum(cell["is_significant"] for cell in compared_cells),
        "enough": ENOUGH,
    }
    return render(request, "analyses/comparison_matrix.html", context)


def _pair_lines(compared: ComparedRuns, values: Reals, address: str) -> list[dict[str, Any]]:
    """Return the first runs with their means, and their tests against the runs with better means.

    A test has its p-value (of a square matrix), None if it is impossible, and the URL of its page.
    """
    runs = compared.runs[:ENOUGH]
    return [
        {
            "run": run,
            "mean": run.values[compared.measure.name],
            "cells": [
                {
                    "value": number_or_none(p),
                    "is_significant": p < SIGNIFICANT,
                    "url": f"{address}&first={better.key}&second={run.key}",
                }
                for better, p in zip(runs, values[row, :row], strict=False)
            ],
        }
        for row, run in enumerate(runs)
    ]


def _pair_frame(compared: ComparedRuns, family: PairFamily) -> pl.DataFrame:
    """Return all pairs with their mean differences and p-values."""
    first, second = run_pairs(len(compared.runs))
    has_score = (~np.isnan(compared.matrix.scores)).astype(float)
    topics = (has_score @ has_score.T)[first, second].astype(int)
    sums = np.nan_to_num(compared.matrix.scores) @ has_score.T  # over the common topics
    totals = np.round((sums - sums.T)[first, second], DECIMALS)
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


def _test_choice(request: HttpRequest, default: str) -> dict[str, Any]:
    """Return the chosen test and correction with what can be chosen, or raise `Http404`."""
    test, correction = request.GET.get("test", default), request.GET.get("correction", "holm")
    if test not in TESTS or correction not in CORRECTIONS:
        raise Http404
    return {
        "test": test,
        "tests": TESTS,
        "correction": correction,
        "corrections": CORRECTIONS,
        "is_corrected": test == TUKEY,
    }


def compared_board(
    request: HttpRequest, task: Task, *, post_hoc: bool = False
) -> tuple[ScoreAccess, ComparedRuns, dict[str, Any]]:
    """Return the user's access to scores, the runs on the board, and what all pages show of them.

    Post-hoc runs can be compared, but are in no family of tests.
    """
    sight, visible = seen_board(request, task)
    if post_hoc:
        visible = all_runs_of(sight, visible)
    compared = compared_runs(visible, measure_or_404(visible.board, request.GET.get("measure", "")))
    query = live_query(visible)
    context = {
        "task": task,
        "visible": visible,
        "compared": compared,
        "measure": compared.measure,
        "board_query": query,
        "board_address": f"?{urlencode(query)}" if query else "",
    }
    return sight, compared, context


def _places(request: HttpRequest, compared: ComparedRuns) -> list[int]:
    """Return the places of the chosen runs, by default the two best; raise `Http404` for others.

    The first two may be the same. Further runs (`also`) are different, and there are at most MOST.
    """
    places = {str(run.key): place for place, run in enumerate(compared.runs)}
    keys = [request.GET.get(name, "") for name in ("first", "second")]
    also = request.GET.getlist("also")
    if any(key and key not in places for key in [*keys, *also]):
        raise Http404
    if len(places) < 2:
        return [0, 0][: 2 * len(places)]
    first = places.get(keys[0], int(places.get(keys[1]) == 0))
    second = places.get(keys[1], int(first == 0))
    further = dict.fromkeys(places[key] for key in also if key)
    if not further.keys() - {first, second}:
        return [first, second]
    return list(dict.fromkeys([first, second, *further]))[:MOST]
