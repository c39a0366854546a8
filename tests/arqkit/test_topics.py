"""Topic information: fields by kind of task, edits, and the CSV file."""

from arqkit.formats.topics.information import read_topic_info, write_topic_info
from arqkit.records import FileRefusedError, Problem, TaskKind
from arqkit.topics import InfoChange, InfoRow, info_changes, info_fields, merged_info, updated_edits
from tests.real_data import DATA, needs_data

FOLDER = {"category": "proof", "difficulty": "hard", "#Answers": "7"}


def test_questions_and_formulas_have_fields_of_their_own():
    assert list(info_fields(TaskKind.ANSWERS)) == [
        "category",
        "difficulty",
        "dependency",
        "multi_part",
        "split",
    ]
    assert info_fields(TaskKind.GENERATED_ANSWERS) == info_fields(TaskKind.ANSWERS)
    assert list(info_fields(TaskKind.FORMULAS)) == [
        *("complexity", "text_dependence", "elements", "split")
    ]


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

    assert data == b"Topic,Category,Difficulty,Dependency,Multi-Part,Split\nA.1,proof,,,no,\n"


def test_what_was_written_is_read_again():
    facts = {
        "B.1": {
            "complexity": "low",
            "text_dependence": "high",
            "elements": 'sum, "limit"',
            "split": "train",
        },
        "B.2": dict.fromkeys(info_fields(TaskKind.FORMULAS), ""),
    }
    data = write_topic_info(facts, info_fields(TaskKind.FORMULAS))

    assert read_topic_info(data, path="info.csv") == facts


@needs_data
def test_the_real_information_is_read_again_field_by_field():
    path = DATA / "arqmath-3" / "topic-info.task1.csv"
    real = read_topic_info(path.read_bytes(), path=str(path))
    fields = info_fields(TaskKind.ANSWERS)
    again = read_topic_info(write_topic_info(real, fields), path="again.csv")

    assert again == {
        topic: {name: facts.get(name, "") for name in fields} for topic, facts in real.items()
    }


def test_a_file_changes_values_that_differ():
    rows = {"A.1": InfoRow(2, {"difficulty": "hard", "category": "proof"})}
    facts = {"A.1": {"difficulty": "easy", "category": "proof"}}

    changes, problems = info_changes(rows, facts, ["difficulty", "category"], path="info.csv")

    assert (changes, problems) == ([InfoChange("A.1", "difficulty", "easy", "hard")], [])


def test_unknown_topics_long_values_and_missing_columns_are_problems():
    rows = {"A.2": InfoRow(2, {}), "A.1": InfoRow(3, {"category": "x" * 101})}

    _, long = info_changes(rows, {"A.1": {}}, ["category"], path="info.csv")
    _, without = info_changes({"A.1": InfoRow(2, {})}, {"A.1": {}}, ["category"], path="info.csv")

    assert [str(problem) for problem in long] == [
        "info.csv:2: found the topic A.2; expected a topic of this task. Did you mean A.1?",
        "info.csv:3: found 101 characters for category of A.1; expected at most 100."
        " Shorten the value.",
    ]
    assert [problem.line for problem in without] == [1]


def test_a_refused_file_reports_all_problems():
    problems = [Problem("a.csv", None, "x", "y", "Correct it."), Problem("a.csv", 2, "x", "y", "")]

    assert str(FileRefusedError(problems)).count("a.csv") == 2
