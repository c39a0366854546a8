"""Checking run files: the kernel's report as what is stored and shown."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.files import File

from arqlab.core.models import Task
from arqlab.formats.archives.uploads import UploadRefusedError
from arqlab.formats.runs.check import RunRules, check_run
from arqlab.ir.records import ItemKind
from submissions.models import Run
from submissions.selectors import report_data, rules_for, run_bytes, unpack_runs
from submissions.services.check_result import CheckResult, check_result_of, unreadable_upload_result
from submissions.services.repair import repair_facts


def check_stored(run: Run) -> CheckResult:
    """Check the file of a run by the rules of its task."""
    try:
        data = run_bytes(run)
    except UploadRefusedError as refused:
        return unreadable_upload_result(refused.problems)
    return _checked(data, rules_for(run.task), run.items)


def check_file(*, file: File, task: Task, items: str = "") -> dict[str, dict[str, Any]]:
    """Check a file that is not stored; gives a report (`selectors.report_data`) for each run in it,
    by its name.
    """
    rules = rules_for(task)
    try:
        members = unpack_runs(file, name=str(file.name), task=task)
    except UploadRefusedError as refused:
        return {str(file.name): _data(unreadable_upload_result(refused.problems))}
    # Two folders of a zip may hold runs of one name; their paths tell them apart.
    times = Counter(member.name for member in members)
    shown = [member.name if times[member.name] == 1 else member.path for member in members]
    return {
        name: _data(_checked(member.data, rules, items))
        for name, member in zip(shown, members, strict=True)
    }


def _checked(data: bytes, rules: RunRules, items: str) -> CheckResult:
    outcome = check_result_of(check_run(data, rules, items=ItemKind(items) if items else None))
    # The index is in this order; whoever scores it after the task's order was changed must know.
    outcome.facts["order"] = rules.order
    if any(problem.is_repairable for problem in outcome.problems):
        outcome.facts["repair"] = repair_facts(data, rules)
    return outcome


def _data(outcome: CheckResult) -> dict[str, Any]:
    return report_data(facts=outcome.facts, problems=outcome.problems, is_valid=outcome.is_valid)
