"""The kinds of jobs that make baselines and indexes for the search page."""

from arqlab.web.jobs import declare_job
from retrieval.services.baselines import make_for_job
from retrieval.services.searching import KIND, build_for_job

declare_job("baseline", "Baseline", make_for_job)
declare_job(KIND, "Search indexes", build_for_job)
