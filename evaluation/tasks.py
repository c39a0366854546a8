"""Background scoring. Celery beat repeats it, so a lost message does no harm."""

from __future__ import annotations

from django.utils import timezone

from arqlab.celery import app
from assessment.models import QrelSet
from evaluation.services.certificates import certify_released
from evaluation.services.paper_kits import figure_images, paper_board, paper_figures
from evaluation.services.scoring import score_waiting


@app.task
def score_unscored_runs() -> None:
    """Score every valid run that lacks scores."""
    score_waiting(at=timezone.now())


@app.task
def certify_released_boards() -> None:
    """Compute the certificates of released leaderboards whose runs are published."""
    certify_released()


@app.task
def draw_paper_kit(qrel_set_id: int) -> None:
    """Draw the figures of the paper kit of a version of the qrels, if it is still there."""
    for qrel_set in QrelSet.objects.select_related("task__lab").filter(pk=qrel_set_id):
        for figure in paper_figures(paper_board(qrel_set)):
            figure_images(figure)
