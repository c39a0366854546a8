"""Jobs: certificates and look-alikes, which take minutes. Releases are certified on their own."""

from analyses.services.certificates import certify_released, compute_certificate
from analyses.services.look_alikes import find_look_alikes
from arqlab.celery import scheduled
from arqlab.web.jobs import JobLane, declare_job

for _kind, _label, _run in (
    ("certificate", "Reusability certificate", compute_certificate),
    ("look-alikes", "Look-alikes", find_look_alikes),
):
    declare_job(_kind, _label, _run, lane=JobLane.SECONDS, in_archive=True)


@scheduled(every=3600, lane="jobs")
def certify_released_boards() -> None:
    """Compute the certificates of released leaderboards."""
    certify_released()
