"""Checks of run files by the rules of their task."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from django.core.files import File

from arqkit.formats.archives.uploads import UploadRefusedError
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.report import RunRules
from arqkit.polars_errors import panics_as_errors
from arqkit.records import ItemKind
from arqlab.core.models import Task
from submissions.models import Run
from submissions.selectors import report_data, rules_for, run_bytes, unpack_runs
from submissions.services.check_result import CheckResult, check_result_of, unreadable_upload_result
from submissions.services.known_items import knows_any
from submissions.services.repair import repair_facts


def check_stored(run: Run) -> CheckResult:
    """Check the stored file of a run by the rules of its task."""
    try:
        data = run_bytes(run)
    except UploadRefusedError as refused:
        return unreadable_upload_result(refused.problems)
    rules = replace(rules_for(run.task), knows=partial(knows_any, run))
    result = _check(data, rules, run.items)
    return replace(result, sha256=sha256(data).hexdigest())


def check_file(*, file: File, task: Task, items: str = "") -> dict[str, dict[str, Any]]:
    """Check a file without storing it. Return a report for each run in it, by its name.

    `submissions.selectors.report_data` describes a report.
    """
    rules = rules_for(task)
    try:
        members = unpack_runs(file, name=str(file.name), task=task)
    except UploadRefusedError as refused:
        return {str(file.name): _data(unreadable_upload_result(refused.problems))}
    # Two folders of a zip may hold runs with the same name; such runs are listed by their paths.
    count = Counter(member.name for member in members)
    return {
        (member.name if count[member.name] == 1 else member.path): _data(
            _check(member.data, rules, items)
        )
        for member in members
    }


@panics_as_errors()
def _check(data: bytes, rules: RunRules, items: str) -> CheckResult:
    result = check_result_of(check_run(data, rules, items=ItemKind(items) if items else None))
    # The order of the index: scoring must notice when the task's order changes later.
    result.facts["order"] = rules.order
    if any(problem.is_repairable for problem in result.problems):
        result.facts["repair"] = repair_facts(data, rules)
    return result


def _data(result: CheckResult) -> dict[str, Any]:
    return report_data(facts=result.facts, problems=result.problems, is_valid=result.is_valid)
