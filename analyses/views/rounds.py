"""The page of a round, whose parts its kind names, and the list of disagreements."""

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html_join

from analyses.services.label_effects import MOST_CHANGES, label_effects, main_measure
from analyses.services.second_labels import MeasureEffect, SecondMeans, second_effect
from analyses.services.special_questions import (
    MEASURES,
    QuestionAnswers,
    RoundAnswers,
    RunAnswers,
    round_answers,
)
from analyses.views.charts import AgreementRow, agreement_table, confusion_table, rounds_table
from arqkit.labels import ScaleLabel
from arqlab.core.models import Task
from arqlab.core.views import signed_in
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Column, Filter, Pages, Table, answer, cells, counted, task_url
from assessment.judging.selectors.own_work import own_round_topics
from assessment.judging.views.own_work import round_topics_table
from assessment.models import PoolInstance, Round
from assessment.models.kinds import KINDS
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.permissions import SeenRound, round_or_404
from assessment.rounds.selectors.adjudication import (
    DECIDED,
    Proposal,
    QueuedInstance,
    disagreement_queue,
    open_proposals,
)
from assessment.rounds.selectors.rounds import (
    PersonProgress,
    is_unused,
    round_progress,
    shows_labels,
)
from assessment.rounds.selectors.second import (
    AssessorTime,
    OwnConsistency,
    assessor_names,
    assessor_times,
    only_judged_pairs,
    own_consistency,
    own_pairs,
    pair_confusion,
    second_pairs,
)
from assessment.rounds.selectors.votes import (
    group_agreement,
    own_names,
    real_names,
    round_agreement,
    score_sheet,
)
from assessment.rounds.views.selection import scores_table

pages = Pages(TASK, organized_task_or_404, section="rounds")
Part = dict[str, object]
SIZES = (
    Column[QueuedInstance](
        "Difference",
        lambda row: row["spread"],
        cells.COUNT,
        order="size",
        by="spread",
        name="spread",
    ),
    Column[QueuedInstance](
        "Effect", lambda row: row["effect"], cells.SCORE, by="effect", name="effect"
    ),
)
"""How large a disagreement is: in labels, and in the mean of the runs."""


def _own(request: HttpRequest, visible: SeenRound) -> Part:
    topics = (
        own_round_topics(signed_in(request), round_id=visible.round.pk) if visible.judges else []
    )
    return {"own": round_topics_table(topics, with_rounds=False)}


def _link(request: HttpRequest, visible: SeenRound) -> Part:
    token = visible.round.token if visible.organizes else None
    path = reverse("assessment:sample-join", args=[token]) if token else ""
    return {"link": request.build_absolute_uri(path) if path else ""}


def _sheet(request: HttpRequest, visible: SeenRound) -> Part:
    sheet = score_sheet(visible.round) if visible.rates else None
    return {"sheet": sheet, "scores": scores_table(visible.round, sheet)} if sheet else {}


def _agreement(request: HttpRequest, visible: SeenRound) -> Part:
    """Return the agreement of assessors, who see only their own name, and that of all rounds."""
    round_ = visible.round
    is_open = round_.revealed_at or (visible.organizes and shows_labels(round_))
    agreement = round_agreement(round_) if is_open else None
    if agreement is None:
        return {}
    names = real_names(round_) if visible.organizes else own_names(round_, signed_in(request))
    part: Part = {"assessors": agreement_table(agreement, names)}
    if not visible.organizes:
        return part
    revealed = Round.objects.filter(task=round_.task, kind=round_.kind, revealed_at__isnull=False)
    others = revealed.select_related("pool", "gold", "task__lab").order_by("number")
    scale = round_.pool.label_scale
    alike = [other for other in others if other.pool.label_scale == scale]
    compared = {
        str(other): agreement if other == round_ else round_agreement(other) for other in alike
    }
    rounds = [(name, figures) for name, figures in compared.items() if figures]
    return part | {"rounds": rounds_table(rounds) if len(rounds) > 1 else None}


def _again(request: HttpRequest, visible: SeenRound) -> Part:
    """Return what labels of items judged again say; with `effect=yes`, also on the leaderboard."""
    round_ = visible.round
    agreement = round_agreement(round_) if shows_labels(round_) else None
    if agreement is None:
        return {}
    scale, every = task_scale(round_.task), second_pairs(round_)
    pairs = only_judged_pairs(every, scale)
    relevant_from = round_.task.protocol.relevant_in(scale)
    self_pairs = only_judged_pairs(own_pairs(round_), scale)
    confusion = pair_confusion(pairs, scale)
    return {
        "pairs": pairs.height,
        "reported": every.height - pairs.height,
        "differing": pairs.filter(pl.col("first") != pl.col("second")).height,
        "assessors": agreement_table(agreement, assessor_names(pairs)),
        "groups": _groups_table(round_, pairs),
        "confusion": confusion_table(
            confusion, scale, first="first judgment", second="second judgment"
        ),
        "times": _times_table(pairs),
        "consistency": _consistency_table(
            own_consistency(self_pairs, scale, relevant_from=relevant_from)
        ),
        **(_effect(round_, pairs) if request.GET.get("effect") == "yes" else {}),
    }


def _times_table(pairs: pl.DataFrame) -> Table[AssessorTime]:
    return Table[AssessorTime](
        "times",
        [
            Column("Assessor", lambda row: row.name, is_head=True),
            Column("First labels", lambda row: row.first, cells.COUNT),
            Column("Seconds", lambda row: row.first_seconds, cells.TENTHS),
            Column("Second labels", lambda row: row.second, cells.COUNT),
            Column("Seconds", lambda row: row.second_seconds, cells.TENTHS),
        ],
        assessor_times(pairs),
        caption="Median seconds per label of the items above.",
    )


def _consistency_table(rows: Sequence[OwnConsistency]) -> Table[OwnConsistency]:
    return Table[OwnConsistency](
        "consistency",
        [
            Column("Assessor", lambda row: row.name, is_head=True),
            Column("Labels", lambda row: row.labels, cells.COUNT),
            Column("Equal", lambda row: row.same, cells.COUNT),
            Column("Cohen’s kappa", lambda row: row.graded, cells.HUNDREDTHS),
            Column("Binary", lambda row: row.binary, cells.HUNDREDTHS),
        ],
        rows,
        caption="First and second labels of the same assessor for the same item.",
    )


def _groups_table(round_: Round, pairs: pl.DataFrame) -> Table[AgreementRow] | None:
    """Return the agreement of the groups of assessors, if items have labels of two groups."""
    agreement = group_agreement(round_, pairs)
    if agreement is None:
        return None
    names = {group: group for group in sorted(agreement.judged)}
    return agreement_table(agreement, names, of="Group")


def _effect(round_: Round, pairs: pl.DataFrame) -> Part:
    effect = second_effect(round_, pairs)
    again = counted(effect.again, "topic")
    measures = Table[MeasureEffect](
        "effect-measures",
        [
            Column("Measure", lambda row: row.measure.heading, is_head=True),
            Column("Runs", lambda row: row.all_topics.runs, cells.COUNT),
            Column(f"Tau, all {effect.topics:,} topics", lambda row: row.all_topics.tau, cells.TAU),
            Column("Swaps", lambda row: len(row.all_topics.swaps), cells.COUNT),
            Column(f"Tau, {again} judged again", lambda row: row.judged_again.tau, cells.TAU),
            Column("Swaps", lambda row: len(row.judged_again.swaps), cells.COUNT),
        ],
        effect.measures,
        caption="Kendall’s tau-b between the two rankings, and the pairs of runs whose order is "
        "reversed.",
    )
    scores = Table[SecondMeans](
        "effect-scores",
        [
            Column("Run", lambda row: row.run, is_head=True),
            Column("Measure", lambda row: row.measure.heading),
            Column("Official", lambda row: row.first, cells.SCORE),
            Column("Second", lambda row: row.second, cells.SCORE),
            Column("Official, judged again", lambda row: row.first_again, cells.SCORE),
            Column("Second, judged again", lambda row: row.second_again, cells.SCORE),
        ],
        effect.rows,
        has_tools=True,
    )
    return {"effect": effect, "effect_measures": measures, "effect_scores": scores}


def _answers(request: HttpRequest, visible: SeenRound) -> Part:
    results = round_answers(visible.round)
    table = _runs_table(visible.round, results)
    return {"questions": _questions_table(results), "runs": table, "table": table}


def _questions_table(results: RoundAnswers) -> Table[QuestionAnswers]:
    labels = [label.word for label, _ in results.questions[0].labels]

    def answers(place: int, word: str) -> Column[QuestionAnswers]:
        return Column(word, lambda row: row.labels[place][1], cells.COUNT)

    return Table[QuestionAnswers](
        "questions",
        [
            Column("Measure", lambda row: row.share.question.key, is_head=True),
            Column(
                "Question",
                lambda row: row.share.question.text,
                cells.PROSE,
                note=lambda row: row.share.question.help,
            ),
            *(answers(*label) for label in enumerate(labels)),
            Column("Share", lambda row: row.share.share, cells.TAU),
            Column(f"% not relevant, {labels[0]}", lambda row: row.counted, cells.TENTHS),
            Column("% not relevant, all", lambda row: row.every, cells.TENTHS),
        ],
        results.questions,
        caption="Items by answer, the share of the first answer, and the % of items that are "
        "officially not relevant: of those with the first answer, and of all.",
    )


def _runs_table(round_: Round, results: RoundAnswers) -> Table[RunAnswers]:
    lab, scored = round_.task.lab.slug, results.is_scored

    def mean(place: int, name: str) -> Column[RunAnswers]:
        heading = name if scored else ""
        return Column(heading, lambda row: row.means.values[place], cells.TAU, name=name)

    def share(place: int, key: str) -> tuple[Column[RunAnswers], Column[RunAnswers]]:
        return (
            Column(key, lambda row: row.shares[place].share, cells.TAU),
            Column("", lambda row: row.shares[place].answered, name=f"{key} answers"),
        )

    means = [mean(*measure) for measure in enumerate(MEASURES)]
    shares = [it for place, one in enumerate(round_.questions) for it in share(place, one.key)]
    scores = f"{' and '.join(MEASURES)} are scores by the current qrels. " if scored else ""
    return Table[RunAnswers](
        "runs",
        [
            Column("", lambda row: row.run.task.slug, name="task"),
            Column("Team", lambda row: row.run.team.name, name="team"),
            Column("Run", _run_link, is_head=True, name=None),
            Column("", lambda row: row.run.tag, name="run"),
            Column("", lambda row: row.run.is_baseline, name="baseline"),
            Column("", lambda row: row.run.standing.key, name="standing"),
            Column("", lambda row: row.run.is_manual, name="manual"),
            Column("", lambda row: row.run.answer_kind, name="kind"),
            Column("Type", _types, name=None),
            Column(
                "Topics" if scored else "", lambda row: row.means.topics, cells.COUNT, name="topics"
            ),
            *means,
            Column("Items", lambda row: row.items, cells.COUNT, name="items"),
            *shares,
        ],
        results.runs,
        caption=f"{scores}The measure of a question is the share of the run's items with its "
        "first answer.",
        file=f"{lab}-{round_.task.slug}-{round_.key}",
    )


def _run_link(row: RunAnswers) -> str:
    return cells.run_name(row.run, task_url("run", row.run.task, row.run.pk))


def _types(row: RunAnswers) -> str:
    kind = row.run.get_answer_kind_display().lower() if row.run.answer_kind else ""
    return ", ".join(filter(None, ["manual" if row.run.is_manual else "automatic", kind]))


PARTS: dict[str, tuple[str, Callable[[HttpRequest, SeenRound], Part]]] = {
    "link": ("assessment/rounds/_link.html", _link),
    "own": ("assessment/rounds/_own.html", _own),
    "sheet": ("assessment/rounds/_sheet.html", _sheet),
    "agreement": ("assessment/rounds/_agreement.html", _agreement),
    "again": ("analyses/_judged_again.html", _again),
    "answers": ("analyses/_question_answers.html", _answers),
    "progress": ("assessment/rounds/_progress.html", lambda request, seen: {}),
    "items": ("assessment/rounds/_items.html", lambda request, seen: {}),
}
"""The parts of the pages of rounds: what a kind reports, each with its template."""
for _kind in KINDS.values():
    if _missing := set(_kind.parts) - PARTS.keys():
        raise ImproperlyConfigured(
            f"kinds.toml, [{_kind.key}]: parts has {', '.join(sorted(_missing))}. "
            f"Expected some of: {', '.join(PARTS)}."
        )


@pages.read(
    "rounds/<slug:round>/", "round-detail", shows="round", access=round_or_404, sign_in=True
)
def round_detail(request: HttpRequest, visible: SeenRound) -> HttpResponse:
    """Show the progress of a round, and what its kind reports and the user may see.

    Answers to special questions are a file in all formats of tables.
    """
    round_, parts = visible.round, [PARTS[name] for name in visible.round.rules.parts]
    progress = round_progress(round_) if visible.organizes else []
    items, done = (sum(getattr(row, name) for row in progress) for name in ("items", "done"))
    context: dict[str, Any] = {
        **visible._asdict(),
        "task": round_.task,
        "lab": round_.task.lab,
        "progress": _progress_table(round_, progress),
        "items": items,
        "done": done,
        "is_complete": items == done and visible.organizes and not round_.token,
        "is_open": visible.organizes and shows_labels(round_),
        "is_unused": visible.organizes and is_unused(round_),
        "templates": [template for template, _ in parts],
    }
    for _, part in parts:
        context |= part(request, visible)
    file = context.pop("table", None)
    return answer(request, "analyses/round_detail.html", context, file=file)


def _progress_table(round_: Round, progress: Sequence[PersonProgress]) -> Table[PersonProgress]:
    return Table[PersonProgress](
        "progress",
        [
            Column("Assessor", lambda row: row.person.name, is_head=True),
            Column("State", _progress_chip),
            Column(round_.rules.verb.capitalize(), lambda row: row.done, cells.COUNT),
            Column("Items", lambda row: row.items, cells.COUNT),
        ],
        progress,
    )


def _progress_chip(row: PersonProgress) -> str:
    if row.is_done:
        return cells.chip("done")
    return (
        cells.chip("in-progress", "in progress")
        if row.done
        else cells.chip("waiting", "not started")
    )


@pages.read("adjudication/", "adjudication-list", shows="adjudications")
def adjudication_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the labels on which official and second judgments differ, or return them as a file."""
    rows, by_effect = disagreement_queue(task), "effect" in request.GET.get("sort", "")
    rows = _with_effects(task, rows) if by_effect else rows.with_columns(effect=None)
    context = {
        "count": rows.height,
        "decided": rows.filter(pl.col("state") == DECIDED).height,
        "by_effect": by_effect,
        "most": MOST_CHANGES,
        "measure": main_measure(task),
    }
    tables = (
        _disagreements_table(request, task, rows, by_effect=by_effect),
        _proposals_table(task),
    )
    return answer(request, "analyses/adjudication_list.html", context, *tables)


def _proposals_table(task: Task) -> Table[Proposal]:
    def instance(row: Proposal) -> PoolInstance:
        return row.ticket.judgment.instance

    def page(row: Proposal) -> str:
        return task_url("assessment:adjudication-detail", task, instance(row).pk)

    return Table[Proposal](
        "proposals",
        [
            Column("Topic", lambda row: instance(row).item.topic.query_id, cells.ID, css="nowrap"),
            Column("Item", lambda row: instance(row).doc_id, cells.ID, is_head=True, link=page),
            Column("Official", lambda row: row.official, cells.LABEL),
            Column("Proposed", lambda row: row.label, cells.LABEL),
            Column("Opinion", lambda row: row.ticket.opinion, cells.PROSE),
        ],
        open_proposals(task),
        caption="Labels that experts propose for reported items. A proposed label counts only if "
        "you decide so.",
    )


def _disagreements_table(
    request: HttpRequest, task: Task, rows: pl.DataFrame, *, by_effect: bool
) -> Table[QueuedInstance]:
    scale = task_scale(task)

    def decision(row: QueuedInstance) -> ScaleLabel | None:
        return None if row["decision"] is None else scale.of(row["decision"])

    def seconds(row: QueuedInstance) -> str:
        labels = ((cells.label(scale.of(second)),) for second in row["seconds"])
        return format_html_join(" ", "{}", labels)

    return Table[QueuedInstance](
        "disagreements",
        [
            Column(
                "Topic", lambda row: row["topic"], cells.ID, by="topic", name="topic", css="nowrap"
            ),
            Column(
                "Item",
                lambda row: row["doc_id"],
                cells.ID,
                is_head=True,
                name="doc_id",
                link=lambda row: task_url("assessment:adjudication-detail", task, row["instance"]),
            ),
            Column("Official", lambda row: scale.of(row["first"]), cells.LABEL, name="first"),
            Column("Second", seconds, name=None),
            Column("", lambda row: " ".join(map(str, row["seconds"])), name="seconds"),
            *SIZES[: 2 if by_effect else 1],
            Column("State", lambda row: row["state"], name=None),
            Column("Decision", decision, cells.LABEL, name="decision"),
            Column("", lambda row: row["state"], name="state"),
        ],
        rows,
        asked=request.GET,
        order="-size",
        searched=("topic", "doc_id"),
        filters=[
            Filter("topic", "Topic", "topic"),
            Filter("state", "State", "state"),
            Filter("size", "Difference", "spread"),
        ],
        file=f"{task.lab.slug}-{task.slug}-disagreements",
    )


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
