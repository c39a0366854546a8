"""The page of a round, whose parts its kind names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from analyses.views.charts import AgreementRow, agreement_table, rounds_table
from analyses.views.judged_again import again_part
from analyses.views.question_answers import QuestionPart, answers_part
from arqlab.core.models import Lab, Task
from arqlab.core.views import signed_in
from arqlab.web import TASK, Column, Pages, Table, answer, cells, context_of
from assessment.judging.selectors.own_work import RoundTopic, own_round_topics
from assessment.judging.views.own_work import round_topics_table
from assessment.models import Round
from assessment.models.kinds import KINDS
from assessment.rounds.permissions import SeenRound, round_or_404
from assessment.rounds.selectors.rounds import PersonProgress, RoundState, round_state
from assessment.rounds.selectors.votes import (
    ScoreRow,
    ScoreSheet,
    agreement_of_rounds,
    score_sheet,
    seen_agreement,
)
from assessment.rounds.views.selection import scores_table

pages = Pages(TASK, round_or_404, section="rounds", sign_in=True)
Part = Callable[[HttpRequest, SeenRound], object | None]
"""What a part shows of a round to the user: a dataclass, or None for nothing of its own."""


@dataclass(frozen=True, kw_only=True)
class RoundPage:
    """A round as a user sees it: its state, its progress for organizers, and its parts."""

    lab: Lab
    task: Task
    round: Round
    organizes: bool
    rates: bool
    progress: Table[PersonProgress]
    templates: Sequence[str]


@dataclass(frozen=True)
class OwnTopics:
    """The topics that the user judges in a round."""

    own: Table[RoundTopic]


@dataclass(frozen=True)
class SampleLink:
    """The link for applicants, blank for those who do not organize and when it is closed."""

    link: str


@dataclass(frozen=True)
class SampleScores:
    """The score sheet of a sample task, and its table."""

    sheet: ScoreSheet
    scores: Table[ScoreRow]


@dataclass(frozen=True)
class RoundAgreement:
    """The agreement of the assessors of a round, and for organizers that of all rounds."""

    assessors: Table[AgreementRow]
    rounds: Table[AgreementRow] | None


def _own(request: HttpRequest, visible: SeenRound) -> OwnTopics:
    topics = (
        own_round_topics(signed_in(request), round_id=visible.round.pk) if visible.judges else []
    )
    return OwnTopics(round_topics_table(topics, with_rounds=False))


def _link(request: HttpRequest, visible: SeenRound) -> SampleLink:
    token = visible.round.token if visible.organizes else None
    path = reverse("assessment:sample-join", args=[token]) if token else ""
    return SampleLink(request.build_absolute_uri(path) if path else "")


def _sheet(request: HttpRequest, visible: SeenRound) -> SampleScores | None:
    if not visible.rates:
        return None
    sheet = score_sheet(visible.round)
    return SampleScores(sheet, scores_table(visible.round, sheet))


def _agreement(request: HttpRequest, visible: SeenRound) -> RoundAgreement | None:
    seen = seen_agreement(visible.round, signed_in(request), organizes=visible.organizes)
    if seen is None:
        return None
    rounds = agreement_of_rounds(visible.round, seen[0]) if visible.organizes else []
    return RoundAgreement(agreement_table(*seen), rounds_table(rounds) if len(rounds) > 1 else None)


def _again(request: HttpRequest, visible: SeenRound) -> object | None:
    return again_part(visible.round, with_effect=request.GET.get("effect") == "yes")


def _answers(request: HttpRequest, visible: SeenRound) -> QuestionPart:
    return answers_part(visible.round)


def _nothing_more(request: HttpRequest, visible: SeenRound) -> None:
    """Return nothing: what the template shows is of the page."""


PARTS: dict[str, tuple[str, Part]] = {
    "link": ("assessment/rounds/_link.html", _link),
    "own": ("assessment/rounds/_own.html", _own),
    "sheet": ("assessment/rounds/_sheet.html", _sheet),
    "agreement": ("assessment/rounds/_agreement.html", _agreement),
    "again": ("analyses/_judged_again.html", _again),
    "answers": ("analyses/_question_answers.html", _answers),
    "progress": ("assessment/rounds/_progress.html", _nothing_more),
    "items": ("assessment/rounds/_items.html", _nothing_more),
}
"""The parts of the pages of rounds: what a kind reports, each with its template."""
for _kind in KINDS.values():
    if _missing := set(_kind.parts) - PARTS.keys():
        raise ImproperlyConfigured(
            f"kinds.toml, [{_kind.key}]: parts has {', '.join(sorted(_missing))}. "
            f"Expected some of: {', '.join(PARTS)}."
        )


@pages.read("rounds/<slug:round>/", "round-detail", shows="round")
def round_detail(request: HttpRequest, visible: SeenRound) -> HttpResponse:
    """Show the progress of a round, and what its kind reports and the user may see.

    Answers to special questions are a file in all formats of tables.
    """
    round_, parts = visible.round, [PARTS[name] for name in visible.round.rules.parts]
    state = round_state(round_, organizes=visible.organizes)
    page = RoundPage(
        lab=round_.task.lab,
        task=round_.task,
        round=round_,
        organizes=visible.organizes,
        rates=visible.rates,
        progress=_progress_table(round_, state),
        templates=[template for template, _ in parts],
    )
    shown = [part(request, visible) for _, part in parts]
    file = next((part.runs for part in shown if isinstance(part, QuestionPart)), None)
    context = context_of(page, state, *shown)
    return answer(request, "analyses/round_detail.html", context, file=file)


def _progress_table(round_: Round, state: RoundState) -> Table[PersonProgress]:
    return Table[PersonProgress](
        "progress",
        [
            Column("Assessor", lambda row: row.person.name, is_head=True),
            Column("State", _progress_chip),
            Column(round_.rules.verb.capitalize(), lambda row: row.done, cells.COUNT),
            Column("Items", lambda row: row.items, cells.COUNT),
        ],
        state.people,
    )


def _progress_chip(row: PersonProgress) -> str:
    if row.is_done:
        return cells.chip("done")
    return (
        cells.chip("in-progress", "in progress")
        if row.done
        else cells.chip("waiting", "not started")
    )
