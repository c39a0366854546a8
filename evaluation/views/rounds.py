"""The page of a round, whose parts its kind names, and the list of disagreements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import polars as pl
from django.contrib.humanize.templatetags.humanize import apnumber
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache

from arqkit.agreement.estimates import Agreement, Coefficients, Estimate
from arqkit.formats.tables import csv_lines
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import Task
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.web.downloads import file_response, table_response
from arqlab.web.pages import TASK, Pages
from assessment.judging.selectors.own_work import own_round_topics
from assessment.models import Round
from assessment.pools.views.charts import HEATS
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.permissions import SeenRound, round_or_404
from assessment.rounds.selectors.adjudication import DECIDED, disagreement_queue, open_proposals
from assessment.rounds.selectors.rounds import is_unused, round_progress, shows_labels
from assessment.rounds.selectors.second import (
    assessor_names,
    assessor_times,
    only_judged_pairs,
    own_consistency,
    own_pairs,
    pair_agreement,
    pair_confusion,
    second_pairs,
)
from assessment.rounds.selectors.votes import own_names, real_names, round_agreement, score_sheet
from evaluation.forms import AdjudicationListForm
from evaluation.services.effects import MOST_CHANGES, label_effects, main_measure, second_effect
from evaluation.services.questions import MEASURES, RunAnswers, round_answers


class AgreementRow(NamedTuple):
    """A name, its number of items, and its coefficient for each way to read the labels."""

    name: str
    items: int
    figures: tuple[Estimate, ...]


@dataclass(frozen=True)
class AgreementPicture:
    """A coefficient of agreement as a bar chart and a table (000 figures 3-5, 004 figures 3 and 4).

    - coefficient: what the bars show.
    - heading: what the rows are.
    - ways: how labels are read, such as "Four-way" and "H+M binary".
    - rows: the bars; `total` is the last bar, or None.
    - others: coefficients that are only in the table.
    """

    coefficient: str
    heading: str
    ways: tuple[str, ...]
    rows: Sequence[AgreementRow]
    total: AgreementRow | None = None
    others: Sequence[AgreementRow] = ()

    @property
    def below(self) -> list[AgreementRow]:
        """Return the rows at the foot of the table."""
        return [*([self.total] if self.total else []), *self.others]

    @property
    def has_values(self) -> bool:
        """Return whether there is a bar to draw."""
        rows = [*self.rows, *self.below]
        return any(figure.value is not None for row in rows for figure in row.figures)

    @property
    def data(self) -> dict[str, Any]:
        """Return the data of the chart, as `js/charts.js` reads it."""
        bars = [*self.rows, *([self.total] if self.total else [])]
        groups = [
            {
                "name": row.name,
                "figures": [
                    {"value": figure.value, "low": figure.low, "high": figure.high}
                    for figure in row.figures
                ],
            }
            for row in bars
        ]
        return {"coefficient": self.coefficient, "series": list(self.ways), "groups": groups}


def agreement_picture(agreement: Agreement, names: Mapping[str, str]) -> AgreementPicture:
    """Return the mean pairwise kappas of assessors, and the other coefficients below them.

    `names` has the name to show for each assessor in the votes, in the order of the rows. It may
    have assessors without votes, who are left out.
    """
    ways = _ways(agreement)
    rows = [
        AgreementRow(
            names[key],
            agreement.judged[key],
            tuple(coefficients.assessors[key] for coefficients in ways.values()),
        )
        for key in names
        if key in agreement.judged
    ]
    total, *others = [
        AgreementRow(name, agreement.items, tuple(estimates))
        for name, estimates in _overall(ways.values())
    ]
    return AgreementPicture(
        "Mean pairwise Cohen’s kappa", "Assessor", tuple(ways), rows, total, others
    )


def rounds_picture(rounds: Iterable[tuple[str, Agreement]]) -> AgreementPicture:
    """Return Fleiss' kappa of some rounds, each with its name; they have the same scale."""
    ways: tuple[str, ...] = ()
    rows = []
    for name, agreement in rounds:
        by_way = _ways(agreement)
        ways = tuple(by_way)
        rows.append(AgreementRow(name, agreement.items, tuple(w.fleiss for w in by_way.values())))
    return AgreementPicture("Fleiss’ kappa", "Round", ways, rows)


def _ways(agreement: Agreement) -> dict[str, Coefficients]:
    """Return the coefficients by the way to read labels; on a binary scale there is only one."""
    judgments = agreement.scale.judgments
    if len(judgments) == 2:
        return {"Binary": agreement.binary}
    relevant = [label.letter for label in judgments if label.value >= agreement.relevant_from]
    graded = f"{apnumber(len(judgments))}-way".capitalize()
    return {graded: agreement.graded, f"{'+'.join(relevant)} binary": agreement.binary}


def _overall(ways: Iterable[Coefficients]) -> list[tuple[str, list[Estimate]]]:
    coefficients = list(ways)
    return [
        ("Mean", [way.total for way in coefficients]),
        ("Fleiss’ kappa", [way.fleiss for way in coefficients]),
        ("Krippendorff’s alpha, ordinal", [way.ordinal for way in coefficients]),
        ("Krippendorff’s alpha, nominal", [way.nominal for way in coefficients]),
        ("Observed agreement", [way.observed for way in coefficients]),
    ]


class ConfusionCell(NamedTuple):
    """The number of items with two labels, its % of the row, its shade; equal labels agree."""

    items: int
    percent: int | None
    heat: int
    is_same: bool


class ConfusionRow(NamedTuple):
    """A label of the first judgments, with the labels of the second."""

    label: ScaleLabel
    cells: list[ConfusionCell]
    total: int


@dataclass(frozen=True)
class ConfusionPicture:
    """A confusion matrix: how often each pair of labels occurs in two judgments of an item."""

    first: str
    second: str
    rows: list[ConfusionRow]
    totals: list[int]

    @property
    def labels(self) -> list[ScaleLabel]:
        """Return the labels of rows and columns."""
        return [row.label for row in self.rows]

    @property
    def items(self) -> int:
        """Return the number of items with two judgments."""
        return sum(self.totals)

    @property
    def same(self) -> int:
        """Return the number of items with equal labels."""
        return sum(cell.items for row in self.rows for cell in row.cells if cell.is_same)


def confusion_picture(
    matrix: Sequence[Sequence[int]], scale: LabelScale, *, first: str, second: str
) -> ConfusionPicture:
    """Return a matrix of `confusion_matrix` with the words of its labels and its shades.

    `first` and `second` name the judgments in rows and columns, such as "First judgment".
    """
    rows = [
        ConfusionRow(label, _cells(counts, place), sum(counts))
        for place, (label, counts) in enumerate(zip(scale.judgments, matrix, strict=True))
    ]
    return ConfusionPicture(
        first, second, rows, [sum(column) for column in zip(*matrix, strict=True)]
    )


def _cells(counts: Sequence[int], place: int) -> list[ConfusionCell]:
    total = sum(counts)
    percents = [round(100 * count / total) if total else None for count in counts]
    return [
        ConfusionCell(count, percent, (percent or 0) * HEATS // 100, column == place)
        for column, (count, percent) in enumerate(zip(counts, percents, strict=True))
    ]


pages = Pages(TASK, organized_task_or_404, section="rounds")


Part = dict[str, Any]


def _own(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the user's own topics in a round."""
    own = own_round_topics(signed_in(request), round_id=seen.round.pk) if seen.judges else []
    return {"own": own}


def _link(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the link for applicants, for organizers."""
    token = seen.round.token if seen.organizes else None
    path = reverse("assessment:sample-join", args=[token]) if token else ""
    return {"link": request.build_absolute_uri(path) if path else ""}


def _sheet(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the score sheet of applicants, for organizers and the expert."""
    return {"sheet": score_sheet(seen.round) if seen.rates else None}


def _agreement(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the agreement of the assessors, and that of all revealed rounds of the kind.

    Assessors see no name but their own.
    """
    round_ = seen.round
    is_open = round_.revealed_at or (seen.organizes and shows_labels(round_))
    agreement = round_agreement(round_) if is_open else None
    if agreement is None:
        return {}
    names = real_names(round_) if seen.organizes else own_names(round_, signed_in(request))
    part: Part = {"picture": agreement_picture(agreement, names)}
    if not seen.organizes:
        return part
    revealed = Round.objects.filter(task=round_.task, kind=round_.kind, revealed_at__isnull=False)
    others = revealed.select_related("pool", "gold", "task__lab").order_by("number")
    scale = round_.pool.label_scale
    alike = [other for other in others if other.pool.label_scale == scale]
    compared = {
        str(other): agreement if other == round_ else round_agreement(other) for other in alike
    }
    rounds = [(name, figures) for name, figures in compared.items() if figures]
    return part | {"rounds": rounds_picture(rounds) if len(rounds) > 1 else None}


def _again(request: HttpRequest, seen: SeenRound) -> Part:
    """Return what the labels of items judged again say, once organizers see them.

    The effect on the leaderboard is computed with `effect=yes`.
    """
    round_ = seen.round
    if not shows_labels(round_):
        return {}
    scale, every = task_scale(round_.task), second_pairs(round_)
    pairs = only_judged_pairs(every, scale)
    relevant_from = round_.task.protocol.relevant_from
    own = only_judged_pairs(own_pairs(round_), scale)
    agreement = pair_agreement(pairs, scale, relevant_from=relevant_from)
    confusion = pair_confusion(pairs, scale)
    return {
        "pairs": pairs.height,
        "reported": every.height - pairs.height,
        "differing": pairs.filter(pl.col("first") != pl.col("second")).height,
        "picture": agreement_picture(agreement, assessor_names(pairs)),
        "confusion": confusion_picture(
            confusion, scale, first="first judgment", second="second judgment"
        ),
        "times": assessor_times(pairs),
        "consistency": own_consistency(own, scale, relevant_from=relevant_from),
        "effect": second_effect(round_, pairs) if request.GET.get("effect") == "yes" else None,
    }


def _answers(request: HttpRequest, seen: SeenRound) -> Part:
    """Return the answers to special questions so far."""
    return {"results": round_answers(seen.round), "measures": MEASURES}


def _nothing(request: HttpRequest, seen: SeenRound) -> Part:
    """Return nothing more than the page has."""
    return {}


PARTS: dict[str, tuple[str, Callable[[HttpRequest, SeenRound], Part]]] = {
    "link": ("assessment/rounds/_link.html", _link),
    "own": ("assessment/rounds/_own.html", _own),
    "sheet": ("assessment/rounds/_sheet.html", _sheet),
    "agreement": ("assessment/rounds/_training_agreement.html", _agreement),
    "again": ("evaluation/_judged_again.html", _again),
    "answers": ("evaluation/_question_answers.html", _answers),
    "progress": ("assessment/rounds/_progress.html", _nothing),
    "items": ("assessment/rounds/_items.html", _nothing),
}
"""The parts of the pages of rounds: what a kind reports, each with its template."""


@pages.read("rounds/<slug:round>/", "round-detail", access=round_or_404, sign_in=True)
@never_cache
def round_detail(request: HttpRequest, seen: SeenRound) -> HttpResponseBase:
    """Show the progress of a round, and what its kind reports and the user may see.

    With `format=csv`, return the answers to special questions.
    """
    round_, parts = seen.round, [PARTS[name] for name in seen.round.rules.parts]
    if round_.rules.asks and request.GET.get("format") == "csv":
        return _as_csv(round_, round_answers(round_).runs)
    progress = round_progress(round_) if seen.organizes else []
    items, done = (sum(getattr(row, name) for row in progress) for name in ("items", "done"))
    context: dict[str, Any] = {
        **seen._asdict(),
        "task": round_.task,
        "lab": round_.task.lab,
        "progress": progress,
        "items": items,
        "done": done,
        "is_complete": items == done and seen.organizes and not round_.token,
        "is_open": seen.organizes and shows_labels(round_),
        "is_unused": seen.organizes and is_unused(round_),
        "templates": [template for template, _ in parts],
    }
    for _, part in parts:
        context |= part(request, seen)
    return render(request, "evaluation/round_detail.html", context)


def _as_csv(round_: Round, rows: list[RunAnswers]) -> HttpResponseBase:
    columns: dict[str, Callable[[RunAnswers], object]] = {
        "task": attrgetter("run.task.slug"),
        "team": attrgetter("run.team.name"),
        "run": attrgetter("run.tag"),
        "baseline": attrgetter("run.is_baseline"),
        "standing": attrgetter("run.standing.key"),
        "manual": attrgetter("run.is_manual"),
        "kind": attrgetter("run.answer_kind"),
        "topics": attrgetter("means.topics"),
        **{name: _mean(place) for place, name in enumerate(MEASURES)},
        "items": attrgetter("items"),
    }
    for place, question in enumerate(round_.questions):
        columns[question.key] = _share(place, "share")
        columns[f"{question.key} answers"] = _share(place, "answered")
    lines = csv_lines(columns, rows)
    return file_response(lines, f"{round_.task.lab.slug}-{round_.task.slug}-{round_.key}.csv")


def _mean(place: int) -> Callable[[RunAnswers], object]:
    return lambda row: row.means.values[place]


def _share(place: int, name: str) -> Callable[[RunAnswers], object]:
    return lambda row: getattr(row.shares[place], name)


@pages.read("adjudication/", "adjudication-list")
def adjudication_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the labels on which official and second judgments differ, or return them as TSV."""
    rows, by_effect = disagreement_queue(task), "effect" in request.GET.get("sort", "")
    rows = _with_effects(task, rows) if by_effect else rows.with_columns(effect=None)
    if request.GET.get("format") == "tsv":
        return _as_tsv(task, rows if by_effect else rows.drop("effect"))
    listing = AdjudicationListForm(request.GET, rows)
    page, part = listing.page_of_frame(rows)
    scale = task_scale(task)
    lines = [
        {
            **row,
            "first_label": scale.of(row["first"]),
            "second_labels": [scale.of(label) for label in row["seconds"]],
            "decided": None if row["decision"] is None else scale.of(row["decision"]),
        }
        for row in part.to_dicts()
    ]
    context = {
        "task": task,
        "lab": task.lab,
        "count": rows.height,
        "decided": rows.filter(pl.col("state") == DECIDED).height,
        "listing": listing,
        "page": page,
        "rows": lines,
        "by_effect": by_effect,
        "most": MOST_CHANGES,
        "measure": main_measure(task),
        "proposals": open_proposals(task),
    }
    return render(request, "evaluation/adjudication_list.html", context)


def _with_effects(task: Task, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the queue with the effect of the second labels of what is not decided."""
    changes = (
        rows.filter(pl.col("state") != DECIDED)
        .select("instance", "topic", "doc_id", "first", label="seconds")
        .explode("label")
        .filter(pl.col("label") != pl.col("first"))
        .unique(maintain_order=True)
    )
    effects = label_effects(task, changes.drop("first"))
    values = [effects.get(instance) for instance in rows["instance"]]
    return rows.with_columns(effect=pl.Series(values, dtype=pl.Float64))


def _as_tsv(task: Task, rows: pl.DataFrame) -> HttpResponse:
    seconds = pl.col("seconds").cast(pl.List(pl.String)).list.join(" ")
    table = rows.drop("instance").with_columns(seconds=seconds)
    return table_response(table, f"{task.lab.slug}-{task.slug}-disagreements.tsv")
