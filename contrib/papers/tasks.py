"""The job that draws a paper kit, and the task that keeps those of released leaderboards."""

from arqlab.celery import scheduled
from arqlab.web.jobs import JobLane, declare_job
from contrib.papers.services import kept_kits
from contrib.papers.services.paper_kits import draw_figures

declare_job("paper-kit", "Paper kit", draw_figures, lane=JobLane.SECONDS, in_archive=True)


@scheduled(every=3600, lane="jobs")
def keep_released_kits() -> None:
    """Keep the paper kits of released leaderboards."""
    kept_kits.keep_kits()
