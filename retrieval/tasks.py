"""The kind of jobs that make baselines."""

from __future__ import annotations

from arqlab.web.jobs import declare_job
from retrieval.services.baselines import make_for_job

declare_job("baseline", "Baseline", make_for_job)
