"""Judging for the page and for programs: the same services under the same rules."""

from assessment.apis.judging import ItemApi, JudgmentsApi, LaterApi, LeaseApi, NextApi

__all__ = ["ItemApi", "JudgmentsApi", "LaterApi", "LeaseApi", "NextApi"]
