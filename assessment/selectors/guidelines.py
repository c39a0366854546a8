"""What is read about instructions for assessors."""

from __future__ import annotations

from arqlab.core.models import Task
from arqlab.ir.guidelines import default_guideline
from arqlab.ir.records import TaskKind
from assessment.models import Guideline


def current_guideline(task: Task) -> Guideline | None:
    """Give the newest version of a task's instructions; None where nobody has written any."""
    return task.guidelines.order_by("-version").first()


def guideline_text(task: Task, guideline: Guideline | None) -> str:
    """Give the source of a version; without one, the text that the task's protocol has for its kind."""
    return guideline.text if guideline else default_guideline(TaskKind(task.kind), task.lab.protocol)
