"""What the radar finds, and that it is silent on a lab whose labels are consistent."""

import random
from math import sqrt
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import norm, pearsonr

from arqkit.formats.formulas.index import read_index
from arqkit.formats.qrels.read import read_qrels
from arqkit.judgments.radar import (
    FALSE_ALARMS,
    RADAR_SCHEMA,
    FindingKind,
    contradictions,
    find_all,
    repeated_judgments,
)
from arqkit.pooling.pools import in_random_order
from tests.real_data import DATA, needs_data

PLANTED = 11  # as many as in the labs' own labels
LABELS = (0, 1, 2, 3)


def judged(*rows: dict) -> pl.DataFrame:
    """Make judgments in their order; what is not given is the same for all, or a new number."""
    made = [
        {"assessor": 1, "topic": "B.1", "pool": 1, "item": number, "instance": number}
        | {"visual_id": None, "post": str(number), "text": None}
        | {"label": 0, "active_ms": 30_000, "is_imported": False}
        | row
        for number, row in enumerate(rows, start=100)
    ]
    return pl.DataFrame(made, schema=RADAR_SCHEMA)


def found(frame: pl.DataFrame) -> list[tuple]:
    """Return kind, assessor and instances of the findings."""
    findings = find_all(frame, relevant_from=2)
    return [(one.kind.value, one.assessor, one.instances) for one in findings]


def noise(seed: int, *, assessors: int = 8, topics: int = 4, items: int = 35) -> list[dict]:
    """A lab without drift: topics differ in relevance, people in pace, and all is by chance."""
    draw = random.Random(seed)
    rows = []
    for assessor in range(assessors):
        pace = draw.uniform(9, 11)  # the logarithm of milliseconds
        for topic in range(topics):
            weights = [draw.random() ** 3 for _ in LABELS]
            rows += [
                {"assessor": assessor, "topic": f"A.{assessor}{topic}"}
                | {"label": draw.choices(LABELS, weights)[0]}
                | {"active_ms": round(draw.lognormvariate(pace, 0.7))}
                for _ in range(items)
            ]
    return rows


def real_formulas(edition: int) -> pl.DataFrame:
    """The official labels of the instances in the sample, each topic judged by one person."""
    index = [part.frame for part in read_index(DATA / "collection/formulas.latex.tsv.gz")]
    known = pl.concat(index).drop_nulls("visual_id").unique("formula_id")
    path = f"arqmath-{edition}/qrels.task2.instances.tsv"
    labels = read_qrels(Path(DATA / path).read_bytes(), path=path)
    rows = labels.join(known, left_on="item", right_on="formula_id", maintain_order="left")
    return judged(
        *(
            {"assessor": int(topic[2:]) % 8, "topic": topic}
            | {"visual_id": visual_id, "post": post, "label": label}
            for topic, visual_id, post, label in rows.select(
                "topic", "visual_id", "post_id", "label"
            ).iter_rows()
        )
    )


def test_different_labels_of_a_formula_are_a_finding():
    frame = judged(
        {"visual_id": "v7", "label": 2},
        {"visual_id": "v8", "label": 0},
        {"visual_id": "v7", "label": 0},
        {"visual_id": "v8", "label": 0},
    )

    assert found(frame) == [("visual-id", 1, (100, 102))]


@pytest.mark.parametrize("other", [{"assessor": 2}, {"topic": "B.2"}, {"visual_id": "v8"}])
def test_labels_of_others_of_other_topics_and_of_other_formulas_do_not_contradict(other):
    frame = judged({"visual_id": "v7", "label": 2}, {"visual_id": "v7", "label": 0} | other)

    assert found(frame) == []


def test_different_labels_in_one_post_come_first_and_then_large_differences():
    frame = judged(
        {"visual_id": "v1", "label": 1},
        {"visual_id": "v1", "label": 0},
        {"visual_id": "v2", "label": 3},
        {"visual_id": "v2", "label": 0},
        {"visual_id": "v3", "label": 1, "post": "p"},
        {"visual_id": "v3", "label": 0, "post": "p"},
    )

    findings = contradictions(frame, by="visual_id", kind=FindingKind.VISUAL_ID)

    assert [(one.facts["what"], one.facts["same_post"]) for one in findings] == [
        ("v3", True),
        ("v2", False),
        ("v1", False),
    ]


def test_different_labels_of_duplicate_posts_are_a_finding():
    texts = [{"label": 3, "text": "other"}, {"label": 3, "text": "same"}]
    frame = judged(*texts, {"label": 0, "text": "same"}, {"label": 1})

    assert found(frame) == [("duplicates", 1, (101, 102))]


def test_an_assessor_is_compared_with_themselves_on_items_served_twice():
    frame = judged(
        *({"label": label} for label in (3, 1, 2, 1)), {"label": 0, "assessor": 2}
    ).with_columns(doc_id=pl.Series(["7", "8", "7", "8", "8"]))

    both = repeated_judgments(frame, by="doc_id")
    findings = contradictions(frame, by="doc_id", kind=FindingKind.SERVED_TWICE)

    assert both.select("doc_id", "labels").rows() == [("7", [3, 2]), ("8", [1, 1])]
    assert [one.instances for one in findings] == [(100, 102)]


def test_a_finding_keeps_its_key_until_its_labels_change():
    first = judged({"visual_id": "v", "label": 2}, {"visual_id": "v", "label": 0})
    other = judged({"visual_id": "v", "label": 2}, {"visual_id": "v", "label": 1})
    keys = [find_all(each, relevant_from=2)[0].key for each in (first, first, other)]

    assert keys[0] == keys[1] != keys[2]


def test_ten_items_faster_than_anyone_reads_are_a_series():
    fast = [{"active_ms": 1_999}] * 10

    assert found(judged({}, *fast, {})) == [("fast-series", 1, tuple(range(101, 111)))]
    assert found(judged({}, *fast[:9], {}, fast[0])) == []


def test_a_series_is_much_faster_than_the_assessor_usually_is():
    usual, hurried = [{"active_ms": 60_000}] * 30, [{"active_ms": 14_000}] * 10

    assert found(judged(*usual, *hurried)) == [("fast-series", 1, tuple(range(130, 140)))]
    assert found(judged(*[{"active_ms": 14_000}] * 40)) == []


def test_the_instances_of_an_item_are_one_item_of_a_series():
    # five items with two instances each, whose times add up
    rows = [{"item": number // 2, "active_ms": 1_500} for number in range(30)]

    assert found(judged(*rows)) == []
    assert len(found(judged(*({**row, "active_ms": 900} for row in rows)))) == 1


def test_items_without_a_time_are_in_no_series():
    assert found(judged(*[{"active_ms": None}] * 40)) == []


def test_stricter_labels_within_topics_are_a_drift():
    draw = random.Random(3)
    rows = [
        {"topic": f"A.{number // 100}", "label": 2 * (draw.random() > 0.3 + number % 100 / 200)}
        for number in range(400)
    ]

    [drift] = find_all(judged(*rows), relevant_from=2)

    assert drift.kind == FindingKind.LABEL_DRIFT
    assert drift.facts["correlation"] < 0
    assert drift.facts["first"] > drift.facts["last"]
    assert len(drift.instances) == 400


def test_a_pace_that_changes_is_a_drift_with_its_mean_seconds():
    rows = [{"active_ms": 60_000 - 200 * number} for number in range(200)]

    [drift] = find_all(judged(*rows), relevant_from=2)

    assert drift.kind == FindingKind.PACE_DRIFT
    assert drift.facts["first"] == pytest.approx(50.1)
    assert drift.facts["last"] == pytest.approx(30.1)


def test_the_strength_of_a_drift_within_one_topic_is_pearsons_correlation():
    draw = random.Random(5)
    labels = [int(draw.random() < number / 300) * 2 for number in range(300)]

    [drift] = find_all(judged(*({"label": one} for one in labels)), relevant_from=2)
    wanted = pearsonr(range(300), labels)

    assert drift.facts["correlation"] == pytest.approx(wanted.statistic)
    assert drift.facts["p"] == pytest.approx(2 * norm.sf(abs(wanted.statistic) * sqrt(299)))


def test_topics_that_differ_are_no_drift():
    # All items of a topic have one label and one pace: nothing changes within a topic.
    rows = [
        {
            "topic": f"A.{number // 50}",
            "label": 3 * (number > 200),
            "active_ms": 9_000 + number // 50,
        }
        for number in range(400)
    ]

    assert found(judged(*rows)) == []


def test_a_supplement_is_a_topic_of_its_own():
    rows = [{"label": 2, "pool": 1}] * 100 + [{"label": 0, "pool": 2}] * 100

    assert found(judged(*rows)) == []


def test_imported_judgments_have_no_order_and_no_pace():
    rows = [{"label": 3 * (number > 99), "active_ms": 500} for number in range(200)]

    assert len(found(judged(*rows))) == 2
    assert found(judged(*({**row, "is_imported": True} for row in rows))) == []


def test_few_items_show_no_drift():
    assert found(judged(*({"label": 3 * (number > 49)} for number in range(99)))) == []


def test_labs_with_random_labels_and_times_rarely_raise_an_alarm():
    labs = 200
    alarms = sum(bool(found(judged(*noise(seed)))) for seed in range(labs))

    print(f"{alarms} of {labs} labs without drift raise an alarm")  # noqa: T201
    assert alarms <= 2 * FALSE_ALARMS * labs


@needs_data
@pytest.mark.parametrize("edition", [2, 3])
def test_the_official_labels_of_formulas_contradict_nowhere(edition, shared_data):
    frame = real_formulas(edition)

    assert repeated_judgments(frame, by="visual_id").height > 20
    assert found(frame) == []


@needs_data
@pytest.mark.parametrize("edition", [2, 3])
def test_all_planted_contradictions_of_formulas_are_found(edition, shared_data):
    frame = real_formulas(edition)
    draw = random.Random(edition)
    groups = repeated_judgments(frame, by="visual_id")["instances"].to_list()
    planted = {draw.choice(group): tuple(group) for group in draw.sample(groups, PLANTED)}
    is_planted = pl.col("instance").is_in(list(planted))
    # One step is enough: 0 becomes 1, and all others become one lower.
    wrong = pl.when(pl.col("label") == 0).then(1).otherwise(pl.col("label") - 1)

    findings = found(frame.with_columns(label=pl.when(is_planted).then(wrong).otherwise("label")))

    assert sorted(instances for _, _, instances in findings) == sorted(planted.values())
    assert {kind for kind, _, _ in findings} == {"visual-id"}


@needs_data
def test_the_official_labels_in_random_order_show_no_drift(shared_data):
    path = "arqmath-3/qrels.task1.tsv"
    labels = read_qrels(Path(DATA / path).read_bytes(), path=path)
    ordered = in_random_order(labels, seed=1).sort("topic", "position")
    rows = (
        {"assessor": int(topic[2:]) % 8, "topic": topic, "label": label, "active_ms": None}
        for topic, label in ordered.select("topic", "label").iter_rows()
    )

    assert found(judged(*rows)) == []
