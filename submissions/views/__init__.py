"""The pages of runs."""

from submissions.views.changing import run_edit, run_primary, run_repaired, run_submit, run_withdraw
from submissions.views.reading import run_detail, run_file, run_list, run_problems, run_status
from submissions.views.uploading import run_guess, run_upload

__all__ = [
    "run_detail",
    "run_edit",
    "run_file",
    "run_guess",
    "run_list",
    "run_primary",
    "run_problems",
    "run_repaired",
    "run_status",
    "run_submit",
    "run_upload",
    "run_withdraw",
]
