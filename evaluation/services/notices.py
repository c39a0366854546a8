"""Notices to teams about leaderboards."""

from __future__ import annotations

from django.urls import reverse

from arqkit.measures.names import parse_measure
from arqlab.core.models import User
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from evaluation.models import Leaderboard


def notify_of_release(board: Leaderboard) -> None:
    """Notify the teams that have runs on a leaderboard of its release."""
    task, runs = board.task, board.runs.count()
    notify(
        lab=task.lab,
        kind=Kind.LEADERBOARD_RELEASED,
        people=User.objects.filter(memberships__team__in=board.runs.values("team")).distinct(),
        path=reverse("evaluation:leaderboard", args=[task.lab.slug, task.slug]),
        key=f"leaderboard-released {board.pk}",
        values={
            "task": task.name,
            "version": str(board.version),
            "runs": f"{runs} run{'s' if runs != 1 else ''}",
            "measure": parse_measure(board.measures[0]).heading,
        },
    )
