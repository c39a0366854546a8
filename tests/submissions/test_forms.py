"""The fields of the form for the metadata of a run."""

import pytest

from submissions.forms import RunMetadataForm
from tests.factories import FormulaTaskFactory, TaskFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db


def asked(task: object, *, organizes: bool = False) -> set[str]:
    return set(RunMetadataForm(task=task, organizes=organizes).fields)


def test_formula_tasks_have_a_field_for_the_item_type() -> None:
    form = RunMetadataForm(task=FormulaTaskFactory(), organizes=False)
    assert [value for value, _ in form.fields["items"].choices] == ["", "formula-ids", "visual-ids"]


def test_answers_of_task_3_are_extractive_or_generative() -> None:
    assert "answer_kind" in asked(WrittenTaskFactory())
    assert "answer_kind" not in asked(TaskFactory())


def test_only_organizers_can_mark_baselines_and_runs_out_of_competition() -> None:
    own = asked(TaskFactory(), organizes=True) - asked(TaskFactory())
    assert own == {"is_baseline", "is_control", "out_of_competition"}
