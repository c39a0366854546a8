"""The rounds of a task: their list, the page that makes one, their states and their votes.

The page of a round is in `analyses.views.rounds`, because it has scores too.
"""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.views import refused, signed_in, told
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    FILE,
    ROWS,
    TASK,
    Column,
    Empty,
    Pages,
    Tab,
    Table,
    answer,
    cells,
    context_of,
    organizers,
    table_response,
)
from assessment.models import Round
from assessment.models.kinds import KINDS, ItemSource, RoundKind
from assessment.pools.services.changing import close_pool, open_pool
from assessment.rounds.forms.drawn import DrawnRoundForm, RoundForm, SampleRoundForm
from assessment.rounds.forms.judged import QuestionRoundForm, SecondRoundForm
from assessment.rounds.permissions import organized_round_or_404
from assessment.rounds.selectors.rounds import RoundRow, round_rows, shows_labels
from assessment.rounds.selectors.votes import exported_votes, pseudonyms, real_names
from assessment.rounds.services.rounds import (
    archive_round,
    discard_round,
    restore_round,
    reveal_round,
    start_round,
)

pages = Pages(f"{TASK}rounds/", organized_task_or_404, section="rounds")

FORMS: dict[ItemSource, type[RoundForm]] = {
    ItemSource.DRAWN: DrawnRoundForm,
    ItemSource.SAMPLES: SampleRoundForm,
    ItemSource.JUDGED: SecondRoundForm,
    ItemSource.ASKED: QuestionRoundForm,
}


@dataclass(frozen=True)
class RoundList:
    """The kinds of rounds that can be made, above the table of those there are."""

    kinds: list[RoundKind]


@dataclass(frozen=True)
class NewRound:
    """A round to make: its kind, and the form of its settings."""

    kind: RoundKind
    form: RoundForm


@pages.read("", "round-list", tabs=(Tab("task", "Rounds", 60, organizers),), api=ROWS)
def round_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the rounds of a task, with their progress, and the kinds that can be made."""
    page = RoundList([kind for kind in KINDS.values() if kind.items in FORMS])
    table = _rounds_table(task)
    return answer(request, "assessment/rounds/round_list.html", context_of(page), table)


def _rounds_table(task: Task) -> Table[RoundRow]:
    return Table[RoundRow](
        "rounds",
        [
            Column(
                "Round",
                lambda row: str(row.round),
                link=lambda row: row.round.address,
                is_head=True,
                css="wrap",
            ),
            Column("", lambda row: row.round.key, name="key"),
            Column(
                "Kind",
                lambda row: f"{row.round.get_kind_display()} {row.round.number}",
                css="nowrap",
            ),
            Column("Made", lambda row: row.round.made_at, cells.TIME),
            Column("By", lambda row: row.round.made_by and row.round.made_by.name),
            Column("People", lambda row: row.people, cells.COUNT),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            Column("Items", lambda row: row.items, cells.COUNT),
            Column("Judged", lambda row: row.done, cells.COUNT),
            Column("Judging", lambda row: row.state, cells.CHIP),
            Column("Labels", _labels),
        ],
        round_rows(task),
        empty=Empty(
            "No rounds yet",
            "Training rounds, sample tasks, second judgments, special questions and the "
            "adjudication appear here with their progress.",
        ),
    )


def _labels(row: RoundRow) -> str:
    if row.round.rules.asks:
        return ""
    return "shown" if row.shows_labels else "hidden"


@pages.form("<slug:kind>/new/", "round-create")
def round_create(request: HttpRequest, task: Task, kind: str) -> HttpResponse:
    """Make a round of a kind; some show their plan first, and are made with `start`.

    `gold` is the key of a version of the qrels of an earlier lab, where items may come from it.
    """
    rules, by = KINDS.get(kind), signed_in(request)
    if rules is None or rules.items not in FORMS:
        raise Http404
    gold = request.GET.get("gold", "")
    form = FORMS[rules.items](request.POST or None, kind=rules, task=task, by=by, gold=gold)
    if form.is_valid() and (not form.previews or "start" in request.POST):
        with refused(form):
            round_ = start_round(task=task, plan=form.plan, by=by, at=timezone.now())
            todo = "Send its link to the applicants." if round_.token else "Assessors are notified."
            messages.success(request, f"{round_} is open. {todo}")
            return redirect(round_.address)
    context, status = context_of(NewRound(rules, form)), 422 if form.errors else 200
    return render(request, "assessment/rounds/round_create.html", context, status=status)


@pages.action("<slug:round>/state/", "round-change", access=organized_round_or_404)
def round_change(request: HttpRequest, round_: Round) -> HttpResponse:
    """Reveal, close, open, archive, restore or discard a round: `action` says which."""
    task = round_.task
    with told(request):
        message = _change(round_, request.POST.get("action", ""), signed_in(request))
        messages.success(request, message)
    if round_.pk is None:
        return redirect("assessment:round-list", task.lab.slug, task.slug)
    return redirect(round_.address)


def _change(round_: Round, action: str, by: User) -> str:
    """Change a round and return the message about it; raise `UserError` if it cannot be changed."""
    now = timezone.now()
    if action == "reveal":
        reveal_round(round_=round_, by=by, at=now)
        notified = " The assessors are notified." if round_.rules.tells_judges else ""
        return f"The votes are revealed.{notified} Judging in this round is closed."
    if action == "close":
        close_pool(pool=round_.pool, by=by, at=now)
        return "Judging in this round is closed."
    if action == "archive":
        archive_round(round_=round_, by=by, at=now)
        return "The round is archived. Its labels and results stay."
    if action == "restore":
        restore_round(round_=round_, by=by)
        return "The round is no longer archived. To let assessors judge it, reopen judging."
    if action == "discard":
        discard_round(round_=round_, by=by)
        return f"{round_} was removed. Nobody had judged in it."
    if round_.revealed_at or round_.archived_at or action != "open":
        raise UserError(
            "The votes of this round are revealed, or it is archived, so nobody can judge in it. "
            "Make another round.",
            code="revealed",
        )
    open_pool(pool=round_.pool, by=by)
    return "Judging in this round is open again."


@pages.read(
    "<slug:round>/votes/", "round-votes", api=FILE, access=organized_round_or_404, sign_in=True
)
def round_votes_download(request: HttpRequest, round_: Round) -> HttpResponse:
    """Return the votes of a round as TSV, when organizers see them; `people=names` with names.

    Experts do not get the ids of items: that of a generated answer names its run.
    """
    if not round_.rules.has_votes:
        raise Http404
    if not shows_labels(round_):
        messages.error(request, "The votes can be downloaded when they are shown.")
        return redirect(round_.address)
    names = real_names(round_) if request.GET.get("people") == "names" else pseudonyms(round_)
    name = f"{round_.task.lab.slug}-{round_.task.slug}-{round_.key}-votes.tsv"
    return table_response(exported_votes(round_, names), name)
