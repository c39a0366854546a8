"""A file name is read as far as it goes."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.runs.filename import RunName, read_name
from arqkit.records import ItemKind

NAMES = {
    "PSU-task1-PSU1-auto-both-A.tsv.gz": RunName(
        "PSU", "task1", "PSU1", False, "both", None, False
    ),
    "MathDowsers-task1-alpha05noReRank-auto-both-A.tsv.gz": RunName(
        "MathDowsers", "task1", "alpha05noReRank", False, "both", None, False
    ),
    "tf.psu-task1-77.mean.bert-auto-both-A.tsv.gz": RunName(
        "tf.psu", "task1", "77.mean.bert", False, "both", None, False
    ),
    "tf.psu-task1-mlt.no_stopword.tsv.gz": RunName("tf.psu", "task1", "mlt.no_stopword"),
    "Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz": RunName(
        "Baseline", "task2", "TangentS", False, "math", None, True, ItemKind.VISUAL_IDS
    ),
    "Baseline2022-task3-GPT3-auto-both-generate-P.tsv": RunName(
        "Baseline2022", "task3", "GPT3", False, "both", "generate", True
    ),
    "DPRL-task1-SVM-Rank-manual-text-P.tsv": RunName(
        "DPRL", "task1", "SVM-Rank", True, "text", None, True
    ),
    "Baseline-task1-Linked-auto-links-P.tsv": RunName(
        "Baseline", "task1", "Linked", False, "links", None, True
    ),
    "C:\\runs\\TU-Task3-x-auto-both-extract-a.TSV": RunName(
        "TU", "task3", "x", False, "both", "extract", False
    ),
    "North-Lake-task1-task2-x-auto-both-P.tsv": RunName(
        "North-Lake", "task1", "task2-x", False, "both", None, True
    ),
    "PSU_task1_my_run_auto_both_P.tsv": RunName(
        "PSU", "task1", "my_run", False, "both", None, True
    ),
    "PSU task1 bm25 manual text A.tsv": RunName("PSU", "task1", "bm25", True, "text", None, False),
    "my_team-task1-my_run-auto-both-P (1).tsv": RunName(
        "my_team", "task1", "my_run", False, "both", None, True
    ),
    "PSU-task1-bm25-auto-both-P - Copy (2).tsv.gz": RunName(
        "PSU", "task1", "bm25", False, "both", None, True
    ),
    "carbon copy.tsv": RunName(tag="carbon"),
    "TangentCFT.txt.gz": RunName(tag="TangentCFT"),
    "Team-task1.tsv": RunName("Team", "task1"),
    "Team-task1-A.tsv": RunName("Team", "task1", "A"),
    "": RunName(),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_read(name):
    assert read_name(name) == NAMES[name]


@given(st.text())
def test_any_name_can_be_read(name):
    assert isinstance(read_name(name), RunName)


@given(
    st.from_regex(r"[A-Za-z0-9_.]*[A-Za-z0-9_]", fullmatch=True),
    st.sampled_from(["auto", "manual"]),
    st.sampled_from(["both", "text", "math"]),
    st.sampled_from("PA"),
)
def test_a_name_that_follows_the_rule_is_read_whole(tag, manual, data, mark):
    name = read_name(f"Team-task2-r{tag}-{manual}-{data}-{mark}.tsv.gz")

    assert (name.team, name.task, name.tag) == ("Team", "task2", f"r{tag}")
    assert (name.manual, name.data_used, name.primary) == (manual == "manual", data, mark == "P")


@pytest.mark.parametrize("marks", list(permutations(("auto", "math", "generate", "P"))))
def test_marks_are_read_in_any_order(marks):
    name = read_name(f"Team-task3-My-Run-{'-'.join(marks)}.TSV.GZ")

    assert (name.tag, name.manual, name.data_used, name.answer_kind, name.primary) == (
        "My-Run", False, "math", "generate", True,
    )  # fmt: skip


def test_a_mark_that_comes_twice_is_a_word_of_the_tag():
    assert read_name("Team-task1-a-b-A-A.tsv").tag == "a-b-A"
