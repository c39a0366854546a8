"""Of organizers who save at the same time, the first one wins and the others are refused."""

from pathlib import Path

from tests.databases import UseDatabase
from tests.submissions.processes import MAKE_LAB, output_of, outputs_together

SAVE = """
from arqlab.labs.services.topic_loading import change_topic_information
from arqkit.topics import InfoChange
try:
    change = InfoChange(Topic.objects.first().query_id, "difficulty", "", "{value}")
    print(json.dumps(change_topic_information(task=Task.objects.get(), changes=[change], by=None)))
except UserError as refused:
    print(json.dumps(refused.code))
"""


def test_of_three_conflicting_edits_one_is_saved_and_two_are_refused(
    tmp_path: Path, use_tested_database: UseDatabase
) -> None:
    use_tested_database(tmp_path)
    output_of(tmp_path, MAKE_LAB, "print(0)")
    outcomes = outputs_together(
        tmp_path, [SAVE.format(value=value) for value in ("easy", "medium", "hard")]
    )

    assert sorted(map(str, outcomes)) == ["1", "changed-meanwhile", "changed-meanwhile"]
