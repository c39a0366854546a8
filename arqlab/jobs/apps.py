"""The Django application of jobs."""

from arqlab.apps import LabApp


class JobsConfig(LabApp):
    """Jobs: what takes longer than a request, in the background."""

    name = "arqlab.jobs"
    label = "jobs"
