"""Permissions of rounds. A round that a user may not see is 404."""

from __future__ import annotations

from typing import NamedTuple

from django.http import Http404
from django.shortcuts import get_object_or_404

from arqlab.core.models import Visitor
from arqlab.core.permissions import may_look_up, may_organize, task_or_404
from assessment.models import PoolItem, Round
from assessment.rounds.selectors.selection import expert_of


class SeenRound(NamedTuple):
    """A round, and whether the user organizes its lab and judges in it."""

    round: Round
    organizes: bool
    judges: bool


def training_or_404(user: Visitor, lab_slug: str, task_slug: str, number: int) -> SeenRound:
    """Return a training round for organizers and for its assessors; raise 404 for anyone else."""
    task = task_or_404(user, lab_slug, task_slug)
    organizes = may_organize(user, task.lab)
    if not organizes and not may_look_up(user, task.lab):
        raise Http404
    round_ = _round_or_404(task.pk, Round.Kind.TRAINING, number)
    judges = PoolItem.objects.filter(pool=round_.pool, assessor=user.pk).exists()
    if not (organizes or judges):
        raise Http404
    return SeenRound(round_, organizes, judges)


def _round_or_404(task: int, kind: Round.Kind, number: int) -> Round:
    rounds = Round.objects.select_related("pool", "task__lab", "gold__task__lab")
    return get_object_or_404(rounds, task=task, kind=kind, number=number)


class SeenSample(NamedTuple):
    """A sample task, and whether the user organizes its lab, and reads its score sheet."""

    round: Round
    organizes: bool
    rates: bool


def sample_or_404(user: Visitor, lab_slug: str, task_slug: str, number: int) -> SeenSample:
    """Return a sample task for organizers, its expert and its applicants; 404 for anyone else.

    Applicants need no role in the lab, which may be a draft.
    """
    rounds = Round.objects.select_related("pool", "task__lab")
    known = {"task__slug": task_slug, "task__lab__slug": lab_slug, "kind": Round.Kind.SAMPLE}
    round_ = get_object_or_404(rounds, number=number, **known)
    organizes = may_organize(user, round_.task.lab)
    is_expert = expert_of(round_) == user.pk and may_look_up(user, round_.task.lab)
    is_archived = round_.task.archived_at or round_.task.lab.archived_at
    judges = PoolItem.objects.filter(pool=round_.pool, assessor=user.pk).exists()
    if not (organizes or is_expert) and (is_archived or not judges):
        raise Http404
    return SeenSample(round_, organizes, organizes or is_expert)
