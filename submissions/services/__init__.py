"""What changes runs: every rule and every change of state, whichever door asks for it."""

from submissions.services.changing import claims_of, correct_run, mark_primary, submit_checked_run, withdraw_run
from submissions.services.checking import check_file
from submissions.services.claims import RunClaims, claims_from_name
from submissions.services.intake import check_upload, claims_for, members_of, submit_upload
from submissions.services.validation import return_stale_claims, validate_run, waiting_run_ids

__all__ = [
    "RunClaims",
    "check_file",
    "check_upload",
    "claims_for",
    "claims_from_name",
    "claims_of",
    "correct_run",
    "mark_primary",
    "members_of",
    "return_stale_claims",
    "submit_checked_run",
    "submit_upload",
    "validate_run",
    "waiting_run_ids",
    "withdraw_run",
]
