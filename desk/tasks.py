"""Background tasks of the desk, and the kinds of jobs that load files."""

from django.utils import timezone

from arqlab.celery import scheduled
from arqlab.web.jobs import JobLane, declare_job, lane_by_size
from desk.services import lab_archives, load_files, loaders

declare_job("lab", "Lab", loaders.lab_from_files, lane=lane_by_size)
declare_job(
    "restore", "Lab from an archive", loaders.lab_from_archive, lane=lane_by_size, in_archive=True
)
declare_job("topics", "Topics", loaders.topics_from_files, lane=JobLane.SECONDS)
declare_job("qrels", "Qrels", loaders.qrels_from_file, lane=JobLane.SECONDS)
declare_job("judgments", "Judgments", loaders.judgments_from_file, lane=JobLane.SECONDS)
declare_job("runs", "Runs", loaders.runs_from_files, lane=lane_by_size)
declare_job("collection", "Collection files", loaders.collection_from_files, lane=lane_by_size)
declare_job("visual-ids", "Visual ids", loaders.new_visual_ids)
declare_job(
    "archive", "Archive", lab_archives.archive_by_job, lane=JobLane.MINUTES, in_archive=True
)
declare_job("candidates", "Topic candidates", loaders.list_candidates, lane=JobLane.MINUTES)


@scheduled(every=3600)
def sweep_unused_files() -> None:
    """Put files that no row refers to aside, and delete those put aside long ago."""
    load_files.sweep_files(at=timezone.now())
