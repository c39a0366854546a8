"""Qrels from judged rows: levels, labels 5 and 6, dropped topics."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formulas.visual_ids import as_formulas, highest_labels
from arqkit.judgments.qrels import (
    JUDGED_SCHEMA,
    LabelledTopics,
    Level,
    judged_topics,
    make_qrels,
    qrels_item_kind,
)
from arqkit.protocols.scales import ARQMATH
from arqkit.records import ItemKind, TaskKind

LABELS = st.sampled_from([None, 0, 1, 2, 3, 5, 6])
# One row for each instance; its formula is the tens of its number, so every instance has one
# formula.
ROWS = st.dictionaries(
    st.tuples(st.sampled_from(["B.1", "B.2", "B.10"]), st.integers(10, 59)), LABELS, min_size=1
)


def judged(*rows: tuple[str, str, str, int | None]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=JUDGED_SCHEMA, orient="row")


FORMULAS = judged(
    ("B.10", "70", "7", 2), ("B.10", "70", "8", 3), ("B.10", "71", "9", 6), ("B.10", "72", "10", 2),
    ("B.2", "70", "7", 5), ("B.2", "70", "11", 1), ("B.2", "73", "12", None),
)  # fmt: skip


def lines(
    level: Level, *, complete: bool = False, dropped: tuple[str, ...] = ()
) -> list[tuple[str, str, int]]:
    return make_qrels(
        FORMULAS, scale=ARQMATH, level=level, complete=complete, dropped=dropped
    ).rows()


def test_instances_keep_their_labels_sorted_by_topic_and_item():
    assert lines(Level.INSTANCES) == [
        ("B.2", "11", 1),
        ("B.10", "10", 2),
        ("B.10", "7", 2),
        ("B.10", "8", 3),
    ]


def test_a_formula_has_the_highest_label_of_its_judged_instances():
    assert lines(Level.VISUAL) == [("B.2", "70", 1), ("B.10", "70", 3), ("B.10", "72", 2)]


def test_complete_qrels_keep_items_shown_but_not_judged():
    assert ("B.10", "71", 6) in lines(Level.VISUAL, complete=True)
    assert ("B.2", "7", 5) in lines(Level.INSTANCES, complete=True)
    assert len(lines(Level.INSTANCES, complete=True)) == 6


def test_a_dropped_topic_has_no_lines():
    assert {topic for topic, *_ in lines(Level.VISUAL, complete=True, dropped=("B.2",))} == {"B.10"}


def test_topics_are_counted_in_order_and_dropped_topics_have_a_reason():
    few, enough = judged_topics(FORMULAS, scale=ARQMATH, relevant_from=2, min_relevant=2)

    assert (few.topic, few.total, few.labelled, few.relevant) == ("B.2", 3, 2, 0)
    assert few.reason == "This topic has no relevant items; qrels need at least 2."
    assert (enough.topic, enough.labels[2], enough.labels[6], enough.relevant, enough.reason) == (
        "B.10",
        2,
        1,
        2,
        "",
    )


def test_two_relevant_instances_of_one_formula_are_one_relevant_item():
    [topic] = judged_topics(
        judged(("B.1", "70", "7", 3), ("B.1", "70", "8", 3)),
        scale=ARQMATH,
        relevant_from=2,
        min_relevant=2,
    )

    assert (topic.relevant, topic.reason) == (
        1,
        "This topic has 1 relevant item; qrels need at least 2.",
    )


def test_the_reason_for_an_unjudged_topic_shows_a_message():
    [topic] = judged_topics(
        judged(("B.1", "70", "7", None)), scale=ARQMATH, relevant_from=2, min_relevant=2
    )

    assert (topic.labelled, topic.reason) == (0, "No item of this topic has a label.")


def test_labels_that_are_judgments_are_counted_and_those_above_the_lowest():
    rows = [("B.1", str(10 * n), str(n), label) for n, label in enumerate([0, 0, 1, 3, 5, None])]
    topics = judged_topics(judged(*rows), scale=ARQMATH, relevant_from=2, min_relevant=0)

    labelled = LabelledTopics.of(topics, ARQMATH)

    assert (labelled.judged, labelled.positive) == ({"B.1": 4}, {"B.1": 2})


def test_with_a_minimum_of_one_only_topics_without_relevant_items_are_dropped():
    rows = judged(("B.1", "70", "7", 1), ("B.2", "70", "7", 2), ("B.3", "70", "7", 5))

    topics = judged_topics(rows, scale=ARQMATH, relevant_from=2, min_relevant=1)

    assert [one.reason for one in topics] == [
        "This topic has no relevant items; qrels need at least 1.",
        "",
        "This topic has no relevant items; qrels need at least 1.",
    ]


def test_without_a_minimum_every_topic_with_a_judgment_is_kept():
    rows = judged(("B.1", "70", "7", 0), ("B.2", "70", "7", 5), ("B.3", "70", "7", None))

    topics = judged_topics(rows, scale=ARQMATH, relevant_from=2, min_relevant=0)

    assert [one.reason for one in topics] == [
        "",
        "No label of this topic is a judgment.",
        "No item of this topic has a label.",
    ]


@pytest.mark.parametrize(
    ("kind", "level", "items"),
    [
        (TaskKind.ANSWERS, Level.INSTANCES, ItemKind.POSTS),
        (TaskKind.FORMULAS, Level.INSTANCES, ItemKind.FORMULA_IDS),
        (TaskKind.FORMULAS, Level.VISUAL, ItemKind.VISUAL_IDS),
        (TaskKind.GENERATED_ANSWERS, Level.INSTANCES, ItemKind.ANSWERS),
        (TaskKind.DOCUMENTS, Level.INSTANCES, ItemKind.DOCUMENTS),
    ],
)
def test_the_kind_of_items_depends_on_task_and_level(kind, level, items):
    assert qrels_item_kind(kind, level) == items


@given(ROWS)
def test_the_visual_level_maps_the_instance_level_to_visual_ids(rows):
    frame = judged(
        *((topic, f"v{item // 10}", str(item), label) for (topic, item), label in rows.items())
    )
    mapping = frame.select(formula_id="doc_id", visual_id="item").unique()
    instances = make_qrels(frame, scale=ARQMATH, level=Level.INSTANCES, complete=True, dropped=())

    visual = make_qrels(frame, scale=ARQMATH, level=Level.VISUAL, complete=True, dropped=())

    named = as_formulas(instances.with_columns(doc_id="item"), mapping)
    formulas = highest_labels(named, ARQMATH)
    assert set(formulas.rows()) == set(visual.rows())


@given(ROWS)
def test_official_qrels_are_complete_qrels_without_5_and_6(rows):
    frame = judged(
        *((topic, f"v{item // 10}", str(item), label) for (topic, item), label in rows.items())
    )

    for level in Level:
        complete = make_qrels(frame, scale=ARQMATH, level=level, complete=True, dropped=())
        official = make_qrels(frame, scale=ARQMATH, level=level, complete=False, dropped=())
        assert official.rows() == [row for row in complete.rows() if row[2] not in (5, 6)]
