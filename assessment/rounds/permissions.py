"""Permissions of rounds. A round that a user may not see is 404."""

from typing import NamedTuple

from django.http import Http404
from django.shortcuts import get_object_or_404

from arqlab.core.models import Visitor
from arqlab.core.permissions import allowed
from arqlab.labs.permissions import may_look_up, may_organize
from arqlab.web import for_organizers
from assessment.models import Round
from assessment.models.kinds import parts_of_key


class SeenRound(NamedTuple):
    """A round, and whether the user organizes its lab, judges in it, and reads its score sheet."""

    round: Round
    organizes: bool
    judges: bool
    rates: bool


def round_or_404(user: Visitor, lab_slug: str, task_slug: str, round_key: str) -> SeenRound:
    """Return a round with a page for organizers, its expert, and those who judge in it and may open
    its page; raise 404 for anyone else.

    Applicants need no role in the lab, which may be a draft.
    """
    kind, number = parts_of_key(round_key) or ("", 0)
    rounds = Round.objects.select_related("pool", "task__lab", "gold__task__lab")
    within = {"task__slug": task_slug, "task__lab__slug": lab_slug}
    round_ = get_object_or_404(rounds, kind=kind, number=number, **within)
    rules, lab = round_.rules, round_.task.lab
    organizes, knows_lab = may_organize(user, lab), may_look_up(user, lab)
    judges = round_.pool.items.filter(assessor=user.pk).exists()
    rates = organizes or (knows_lab and round_.expert == user.pk)
    is_archived = round_.task.archived_at or lab.archived_at
    may_enter = not is_archived if rules.is_for_applicants else knows_lab
    may_open = rates or (rules.shows_page_to_judges and judges and may_enter)
    if not (may_open and rules.parts):
        raise Http404
    return SeenRound(round_, organizes, judges, rates)


@for_organizers
def organized_round_or_404(user: Visitor, lab_slug: str, task_slug: str, round_key: str) -> Round:
    """Return a round with a page for an organizer of its lab; raise 404 for anyone else."""
    visible = round_or_404(user, lab_slug, task_slug, round_key)
    return allowed(visible.round, visible.organizes)


def revealed_round_or_404(
    user: Visitor, lab_slug: str, task_slug: str, round_key: str
) -> SeenRound:
    """Return a round whose assessors see the revealed votes too; raise 404 for any other."""
    visible = round_or_404(user, lab_slug, task_slug, round_key)
    return allowed(visible, visible.round.rules.tells_judges and visible.round.revealed_at)
