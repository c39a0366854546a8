"""Topic information: fields by kind of task, edits, and the CSV file."""

from arqlab.formats.topics.information import read_topic_info
from arqlab.ir.records import TaskKind
from arqlab.ir.topics import info_fields, merged_info, updated_edits, write_topic_info
from tests.real_data import DATA, needs_data

FOLDER = {"category": "proof", "difficulty": "hard", "#Answers": "7"}


def test_questions_and_formulas_have_fields_of_their_own():
    assert list(info_fields(TaskKind.ANSWERS)) == [
        "category",
        "difficulty",
        "dependency",
        "multi_part",
    ]
    assert info_fields(TaskKind.WRITTEN_ANSWERS) == info_fields(TaskKind.ANSWERS)
    assert list(info_fields(TaskKind.FORMULAS)) == ["complexity", "elements"]


def test_an_edit_overrides_the_folder_field_by_field():
    assert merged_info(FOLDER, {"difficulty": "easy"}) == {**FOLDER, "difficulty": "easy"}


def test_an_empty_edit_removes_a_value():
    assert merged_info(FOLDER, {"difficulty": ""}) == {"category": "proof", "#Answers": "7"}


def test_the_folders_own_value_is_not_an_edit():
    edits = updated_edits(
        FOLDER, {"difficulty": "easy"}, {"category": "concept", "difficulty": "hard"}
    )

    assert edits == {"category": "concept"}
    assert updated_edits(FOLDER, {}, {"dependency": ""}) == {}


def test_the_columns_are_named_as_in_the_labs():
    data = write_topic_info(
        {"A.1": {"category": "proof", "multi_part": "no"}}, info_fields(TaskKind.ANSWERS)
    )

    assert data == b"Topic,Category,Difficulty,Dependency,Multi-Part\nA.1,proof,,,no\n"


def test_what_was_written_is_read_again():
    facts = {
        "B.1": {"complexity": "low", "elements": 'sum, "limit"'},
        "B.2": {"complexity": "", "elements": ""},
    }
    data = write_topic_info(facts, info_fields(TaskKind.FORMULAS))

    assert read_topic_info(data, path="info.csv") == facts


@needs_data
def test_the_real_information_is_read_again_field_by_field():
    path = DATA / "arqmath-3" / "topic-info.task1.csv"
    real = read_topic_info(path.read_bytes(), path=str(path))
    fields = info_fields(TaskKind.ANSWERS)
    again = read_topic_info(write_topic_info(real, fields), path="again.csv")

    assert again == {topic: {name: facts[name] for name in fields} for topic, facts in real.items()}
