"""The kinds of jobs that make baselines and indexes for the search page."""

from arqlab.web.jobs import declare_job
from contrib.retrieval.services.baselines import lane_of_baseline, make_for_job
from contrib.retrieval.services.searching import KIND, build_for_job

declare_job("baseline", "Baseline", make_for_job, lane=lane_of_baseline)
declare_job(KIND, "Search indexes", build_for_job)
