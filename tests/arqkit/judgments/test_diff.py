"""Differences between two qrels."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from arqkit.judgments.qrels import diff_qrels

SCHEMA = {"topic": pl.String, "item": pl.String, "label": pl.Int8}
KEYS = st.tuples(st.sampled_from(["A.1", "A.2", "A.10"]), st.integers(1, 9).map(str))
QRELS = st.dictionaries(KEYS, st.integers(0, 6))


def qrels(labels: dict[tuple[str, str], int]) -> pl.DataFrame:
    return pl.DataFrame(
        [(*key, label) for key, label in labels.items()], schema=SCHEMA, orient="row"
    )


OLD = {("A.2", "1"): 3, ("A.2", "2"): 0, ("A.1", "1"): 1}
NEW = {("A.2", "1"): 2, ("A.2", "2"): 0, ("A.10", "5"): 1, ("A.2", "3"): 2}


def test_added_removed_and_changed_lines_are_sorted_by_topic_and_item():
    assert diff_qrels(qrels(OLD), qrels(NEW)).rows.rows() == [
        ("A.1", "1", "removed", 1, None),
        ("A.2", "1", "changed", 3, 2),
        ("A.2", "3", "added", None, 2),
        ("A.10", "5", "added", None, 1),
    ]


def test_a_diff_counts_lines_topics_and_label_changes():
    diff = diff_qrels(qrels(OLD), qrels(NEW))

    assert diff.counts == {"added": 2, "removed": 1, "changed": 1}
    assert (diff.topics_added, diff.topics_removed) == (["A.10"], ["A.1"])
    assert diff.steps == {(1, None): 1, (3, 2): 1, (None, 2): 1, (None, 1): 1}


@given(QRELS)
def test_qrels_do_not_differ_from_a_copy(labels):
    assert diff_qrels(qrels(labels), qrels(labels)).rows.is_empty()


@given(QRELS, QRELS)
def test_a_diff_applied_to_the_first_gives_the_second(old, new):
    made = dict(old)
    for topic, item, _, _, after in diff_qrels(qrels(old), qrels(new)).rows.iter_rows():
        if after is None:
            del made[topic, item]
        else:
            made[topic, item] = after

    assert made == new
