"""The board of Task 1's runs, cut to their first answers."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analyses.services.first_answers import first_answers, first_answers_access
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import TASK, Pages, context_of, task_url
from evaluation.permissions import ScoreAccess, visible_board
from evaluation.services.further_measures import FurtherMeasures
from evaluation.views.tables import board_file, lines_of

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")


@dataclass(frozen=True)
class FirstAnswersPage:
    """The task whose runs are cut, and the measures that the board adds."""

    source: Task
    further: FurtherMeasures
    sight: ScoreAccess


@pages.read("first-answers/", "first-answers")
def first_answers_board(request: HttpRequest, task: Task) -> HttpResponse:
    """Show Task 1's runs cut to their first answers, or return them as a file."""
    access, format_ = first_answers_access(request.user, task), request.GET.get("format")
    source = visible_board(access) if access else None
    if access is None or source is None:
        raise Http404
    further = first_answers(source)
    visible = further.visible
    if format_:
        return board_file(visible, format_, name="first-answers")
    url, columns = task_url("task", access.task), further.columns
    lines = lines_of(request, visible, access, further=columns, task_url=url)
    page = FirstAnswersPage(access.task, further, access)
    return render(request, "analyses/first_answers.html", context_of(page, lines))
