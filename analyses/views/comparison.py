"""The pages that compare runs: two or more runs, and all pairs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
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
from arqlab.labs.oddities import counted, task_url
from arqlab.labs.permissions import task_or_404
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
from arqlab.web.tables import Column, Table, answer
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

STARRED = CellKind(lambda p: f"{p_value(p)}*" if p < SIGNIFICANT else p_value(p), "num")
"""A p-value, with an asterisk if it is significant."""
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
) -> list[Table]:
    """Return the tables of more than two runs (places), and add the chart to the context."""
    context |= _test_choice(request, "t")
    several = several_runs(compared, places, test=context["test"], correction=context["correction"])
    rows = [{"values": values} for _, values in several.topics]
    context |= {"several": several}
    context["chart"] = {"runs": [run.label for run in several.runs]}
    columns = [
        Column(run.label, f"1.{place}", SCORE, name=f"{run.label} ({place + 1})", title=str(run))
        for place, run in enumerate(several.runs)
    ]
    return [
        _topics_table(context, several.runs, several.topics, rows, columns),
        _pairs_table(request, several, context),
    ]


def _pairs_table(request: HttpRequest, several: SeveralRuns, context: Mapping[str, Any]) -> Table:
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
    return Table(
        "pairs",
        [
            Column("First run", "first", RUN, is_head=True),
            Column("Second run", "second", RUN),
            Column("Difference", "difference", SIGNED),
            Column("Wins", "wins", COUNT),
            Column("Ties", "ties", COUNT),
            Column("Losses", "losses", COUNT),
            Column("Effect size", "effect", HUNDREDTHS, title=cohen),
            Column("p", "p", STARRED, link=page, best=lambda pair: pair.is_significant),
        ],
        several.pairs,
        caption=f"{heading} of each pair over its common topics: the first run minus the second. "
        f"{test}, two-sided{correction}. Significant differences (p < 0.05) are bold with an "
        "asterisk.",
    )


def _pair_tables(sight: ScoreAccess, pair: RunPair, context: dict[str, Any]) -> list[Table]:
    """Return the tables of two runs, and add the chart to the context."""
    runs, compared, visible = (pair.first, pair.second), context["family"], context["visible"]
    context["chart"] = {"first": pair.first.label, "second": pair.second.label}
    columns = [
        Column(
            f"{side.capitalize()} run",
            side,
            SCORE,
            name=f"{run.label} ({place + 1})",
            best=_is_won(place),
            title=run.label,
        )
        for place, (side, run) in enumerate(zip(("first", "second"), runs, strict=True))
    ]
    columns.append(Column("Difference", "difference", SIGNED, name="difference"))
    rows = [row._asdict() for row in pair.topics]
    tables = [
        _topics_table(context, runs, pair.topics, rows, columns),
        _figures_table(pair, compared, visible),
        _tests_table(pair, compared),
    ]
    if all(sight.may_open(run) for run in runs):
        similarity = run_similarity(visible.qrel_set, pair.first.key, pair.second.key)
        if similarity:
            tables.append(_similarity_table(similarity))
    return tables


def _is_won(place: int) -> Callable[[ComparedTopic], bool]:
    return lambda row: row.difference < 0 if place else row.difference > 0


def _topics_table(
    context: dict[str, Any],
    runs: Sequence[BoardRun],
    rows: Sequence[tuple[Any, ...]],
    points: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
) -> Table:
    """Return the scores of runs by topic, whose id is first in a row, and complete the chart."""
    task, measure, board = context["task"], context["measure"], context["visible"].board
    topics = board_topics(task, board.release)
    titles = {name: title_text(topic.title) for name, topic in topics.items()}
    urls = {name: task_url("labs:topic-detail", task, name) for name in topics}
    context["chart"] |= {
        "measure": measure.heading,
        "topics": [
            {**point, "topic": row[0], "title": titles.get(row[0], ""), "url": urls.get(row[0])}
            for row, point in zip(rows, points, strict=True)
        ],
    }
    return Table(
        "topics",
        [*topic_columns(task, topics), *columns],
        rows,
        css="topic-table",
        file=board_file_name(board, *(run.key for run in runs), measure),
    )


def _figures_table(pair: RunPair, compared: ComparedRuns, visible: VisibleBoard) -> Table:
    page = scores_page(visible, compared.measure, of="0.key")
    topics = counted(len(pair.topics), "common topic")
    return Table(
        "figures",
        [
            Column(
                "Run",
                lambda row: run_name(row[0], page(row)),
                is_head=True,
                note=lambda row: team_name(row[0]),
            ),
            Column("Mean", "1", SCORE),
            Column("Topics won", "2", COUNT),
        ],
        [(pair.first, pair.means[0], pair.wins), (pair.second, pair.means[1], pair.losses)],
        caption=f"{compared.measure.heading} over {topics}. The difference is the first run minus "
        "the second.",
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
        caption=f"Two-sided p-values. The corrections are for all pairs of {len(compared.runs)} "
        "runs; Tukey’s HSD includes them.",
    )


def _similarity_table(similarity: RunSimilarity) -> Table:
    cutoff = similarity.cutoff
    return Table(
        "similarity",
        [
            Column("Rank-biased overlap (p = 0.9)", "overlap", SCORE),
            Column(f"Jaccard at {cutoff}", "jaccard", SCORE),
            Column(f"Judged at {cutoff}, first run", "judged.0", SCORE),
            Column(f"Judged at {cutoff}, second run", "judged.1", SCORE),
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
    cells = [cell for line in lines for cell in line["cells"]]
    context |= choice | {
        "compared": compared,
        "apart": every.runs[len(compared.runs) :],
        "lines": lines,
        "pairs": sum(cell["value"] is not None for cell in cells),
        "significant": sum(cell["is_significant"] for cell in cells),
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
