"""The scale of a task in a lab.toml, with every problem by its line."""

import pytest

from arqkit.protocols.scales import NTCIR, TREC_BINARY
from tests.arqkit.formats.labs.test_folder import HEAD, TASK, folder, lab_of, mistakes

__all__ = ["folder"]  # the fixture

LABELS = """labels = [
  { value = 2, key = "2", letter = "R", word = "Relevant", colour = "deep-green" },
  { value = 1, key = "1", letter = "P", word = "Partially relevant", colour = "amber" },
  { value = 0, key = "0", letter = "N", word = "Not relevant", colour = "grey" },
  { value = 9, key = "X", letter = "X", word = "Broken", colour = "purple",\
    is_judgment = false, asks_comment = true },
]
"""


def test_a_task_defines_its_own_labels(folder):
    (task,) = lab_of(folder, HEAD + TASK + LABELS).tasks

    assert [(label.value, label.word) for label in task.protocol.labels] == [
        (2, "Relevant"),
        (1, "Partially relevant"),
        (0, "Not relevant"),
        (9, "Broken"),
    ]
    assert task.protocol.labels.unjudged == (9,)
    assert task.overrides == {"labels": task.protocol.labels.rows()}


def test_labels_may_be_tables_of_their_own(folder):
    rows = LABELS.replace("labels = [", "").replace("]\n", "")
    tables = rows.replace("  { ", "\n[[tasks.labels]]\n").replace(", ", "\n").replace(" },\n", "\n")

    assert lab_of(folder, HEAD + TASK + tables) is not None
    found = mistakes(folder, HEAD + TASK + tables.replace('"amber"', '"pink"'))

    assert found == [("lab.toml", 24, "colour = 'pink'")]


def test_a_preset_and_a_range_are_kept_as_they_are_written(folder):
    named = 'labels = "trec-binary"\n'
    (task,) = lab_of(folder, HEAD + TASK + named).tasks

    assert task.overrides == {"labels": "trec-binary"}
    assert (task.protocol.labels, task.protocol.relevant_from) == (TREC_BINARY, 1)


def test_every_problem_of_a_scale_is_reported_with_its_line(folder):
    wrong = (
        LABELS.replace("value = 1,", "value = 2,")
        .replace('key = "0"', 'key = "L"')
        .replace('letter = "X"', 'letter = "R"')
        .replace('"amber"', '"pink"')
        .replace('word = "Broken", ', "")
    )

    assert sorted(mistakes(folder, HEAD + TASK + wrong)) == [
        ("lab.toml", 12, "colour = 'pink'"),
        ("lab.toml", 12, "the value 2 again"),
        ("lab.toml", 13, "key = 'L'"),
        ("lab.toml", 14, "a label without word"),
        ("lab.toml", 14, "the letter 'R' again"),
    ]


def test_a_scale_needs_a_relevant_label(folder):
    found = "no relevant label: the highest is 2, and labels are relevant from 3"
    binary = 'labels = "0-1"\n'

    assert mistakes(folder, HEAD + TASK + "relevant_from = 3\n" + LABELS) == [
        ("lab.toml", 10, found)
    ]
    assert mistakes(folder, HEAD + TASK + binary) == [
        ("lab.toml", 10, "no relevant label: the highest is 1, and labels are relevant from 2")
    ]


@pytest.mark.parametrize("value", ["[]", "[3, 2]", "7", '"best"', '"0-9"'])
def test_what_is_no_scale_is_reported_at_its_key(folder, value):
    [(file, line, _)] = mistakes(folder, HEAD + TASK + f"labels = {value}\n")

    assert (file, line) == ("lab.toml", 10)


def test_qrels_may_have_a_scale_of_their_own_and_it_is_checked(folder):
    own = 'qrels = [\n{ name = "q", file = "qrels.tsv", labels = "ntcir" },\n]\n'
    ((qrels,),) = [task.qrels for task in lab_of(folder, HEAD + TASK + own).tasks]

    assert (qrels.labels, qrels.relevant_from) == (NTCIR, 3)
    found = mistakes(folder, HEAD + TASK + own.replace('"ntcir"', '"ntcir", relevant_from = 5'))
    assert found == [
        ("lab.toml", 11, "no relevant label: the highest is 4, and labels are relevant from 5")
    ]


def test_qrels_are_read_by_the_labels_of_their_task(folder):
    (folder / "qrels.tsv").write_text("A.1 0 77 9\nA.1 0 78 3\n")
    qrels = 'qrels = [{ name = "q", file = "qrels.tsv" }]\n'

    assert mistakes(folder, HEAD + TASK + qrels + LABELS) == [("qrels.tsv", 2, "the label '3'")]
