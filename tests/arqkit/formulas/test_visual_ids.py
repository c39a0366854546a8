"""Formula instances become visually distinct formulas, in rank order."""

import hypothesis.strategies as st
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given

from arqkit.formats.formulas.index import read_index
from arqkit.formats.qrels.read import read_qrels
from arqkit.formulas.visual_ids import as_formulas, distinct_visual, highest_labels
from arqkit.measures.scoring import score_frame
from arqkit.protocols.presets import PRIMES
from arqkit.protocols.scales import ARQMATH
from tests.real_data import DATA, index_frame, needs_data

FORMULAS = [str(number) for number in range(1, 25)]
VISUALS = [str(number) for number in range(100, 112)]
# Most scores tie; the first two do so only as 32-bit floats.
SCORES = st.sampled_from([0.123456789, 0.123456788, 0.5, 1.0])
SHOWN = st.dictionaries(st.sampled_from(FORMULAS), st.sampled_from(VISUALS))
LABELS = st.dictionaries(st.sampled_from([*VISUALS, *FORMULAS]), st.integers(0, 3), min_size=1)


def mapping(**visual_ids: str | None) -> pl.DataFrame:
    schema = {"formula_id": pl.String, "visual_id": pl.String}
    return pl.DataFrame(list(visual_ids.items()), schema=schema, orient="row")


def index(*items: str, topic: str = "B.1") -> pl.DataFrame:
    return index_frame(
        [(topic, item, rank, 100.0 - rank) for rank, item in enumerate(items, start=1)]
    )


def qrels(*rows: tuple[str, int]) -> pl.DataFrame:
    schema = {"topic": pl.String, "item": pl.String, "label": pl.Int8}
    return pl.DataFrame([("B.1", item, label) for item, label in rows], schema=schema, orient="row")


def by_formula(qrels: pl.DataFrame, mapping: pl.DataFrame) -> pl.DataFrame:
    """Return the qrels of the formulas whose instances the qrels judge."""
    return highest_labels(as_formulas(qrels.with_columns(doc_id="item"), mapping), ARQMATH)


def test_an_instance_becomes_its_visual_id():
    assert distinct_visual(index("f1", "f2"), mapping(f1="v7", f2="v8"))["item"].to_list() == [
        "v7",
        "v8",
    ]


def test_only_the_first_instance_of_a_formula_is_kept_and_rows_are_renumbered():
    found = distinct_visual(
        index("f1", "f2", "f3", "f4"), mapping(f1="v7", f2="v8", f3="v7", f4="v9")
    )

    assert found.select("item", "order").rows() == [("v7", 1), ("v8", 2), ("v9", 3)]


def test_the_kept_row_is_that_of_the_first_instance():
    found = distinct_visual(index("f1", "f2"), mapping(f1="v7", f2="v7"))

    assert found.select("rank", "score").rows() == [(1, 99.0)]


def test_the_first_instance_is_the_first_by_order_not_by_row():
    found = distinct_visual(index("f1", "f2", "f3").reverse(), mapping(f1="v7", f2="v8", f3="v7"))

    assert found.select("item", "rank").rows() == [("v7", 1), ("v8", 2)]


@pytest.mark.parametrize("known", [mapping(), mapping(f1=None)])
def test_an_instance_without_visual_id_is_its_own_formula(known):
    assert distinct_visual(index("f1", "f2"), known)["item"].to_list() == ["f1", "f2"]


def test_without_a_mapping_items_are_visual_ids_already():
    assert distinct_visual(index("v1", "v2"), None).equals(index("v1", "v2"))


def test_two_formulas_that_tie_are_ordered_by_visual_id():
    tied = index_frame([("B.1", "f1", 1, 1.0), ("B.1", "f2", 2, 1.0)])

    assert distinct_visual(tied, mapping(f1="v8", f2="v7"))["item"].to_list() == ["v8", "v7"]


def test_by_rank_two_formulas_that_tie_keep_the_submitted_order():
    tied = index_frame([("B.1", "f1", 1, 1.0), ("B.1", "f2", 2, 1.0)], order="rank")
    found = distinct_visual(tied, mapping(f1="v7", f2="v8"), by="rank")

    assert found["item"].to_list() == ["v7", "v8"]


@given(st.dictionaries(st.sampled_from(FORMULAS), SCORES, min_size=1), SHOWN, LABELS)
def test_a_run_with_ties_has_the_scores_of_the_labs_pipeline(run, shown, labels):
    best: dict[str, float] = {}
    for formula, score in run.items():
        visual = shown.get(formula, formula)
        best[visual] = max(score, best.get(visual, score))
    judged = {visual: score for visual, score in best.items() if visual in labels}
    metrics = {"ndcg_cut_1000", "map", "P_10"}
    theirs = pytrec_eval.RelevanceEvaluator({"B.1": labels}, metrics, relevance_level=2)
    wanted = theirs.evaluate({"B.1": judged}).get("B.1", dict.fromkeys(metrics, 0.0))

    index = index_frame([("B.1", formula, 1, score) for formula, score in run.items()])
    found = score_frame(distinct_visual(index, mapping(**shown)), qrels(*labels.items()), PRIMES)

    ours = dict(zip(("ndcg_cut_1000", "map", "P_10"), found["value"], strict=True))
    assert ours == pytest.approx(wanted)


def test_topics_keep_the_same_formula_each():
    both = pl.concat([index("f1"), index("f1", topic="B.2")])

    assert distinct_visual(both, mapping(f1="v7")).select("topic", "item", "order").rows() == [
        ("B.1", "v7", 1),
        ("B.2", "v7", 1),
    ]


def test_a_duplicate_instance_in_the_mapping_does_not_multiply_rows():
    twice = pl.concat([mapping(f1="v7"), mapping(f1="v7")])

    assert distinct_visual(index("f1"), twice).height == 1


def test_the_type_of_the_order_column_is_kept():
    assert distinct_visual(index("f1"), mapping(f1="v7")).schema == index("f1").schema


def test_a_formula_has_the_highest_label_of_its_judged_instances():
    found = by_formula(qrels(("f1", 1), ("f2", 3), ("f3", 0)), mapping(f1="v7", f2="v7", f3="v8"))

    assert found.rows() == [("B.1", "v7", 3), ("B.1", "v8", 0)]


def test_a_system_failure_is_ignored_beside_a_judgment():
    found = by_formula(qrels(("f1", 5), ("f2", 1), ("f3", 6)), mapping(f1="v7", f2="v7", f3="v8"))

    assert found.rows() == [("B.1", "v7", 1), ("B.1", "v8", 6)]


@needs_data
def test_in_arqmath_2_no_instance_is_above_its_formula():
    parts = [part.frame for part in read_index(DATA / "collection/formulas.latex.tsv.gz")]
    known = pl.concat(parts).drop_nulls("visual_id")
    instances = read_qrels(
        (DATA / "arqmath-2/qrels.task2.instances.tsv").read_bytes(), path="instances"
    )
    formulas = read_qrels(
        (DATA / "arqmath-2/qrels.task2.visual-v2.tsv").read_bytes(), path="formulas"
    )

    mapped = by_formula(
        instances.join(known, left_on="item", right_on="formula_id", how="semi"), known
    )
    both = mapped.join(formulas, on=["topic", "item"], suffix="_official")

    assert both.height > 0
    assert both.filter(pl.col("label") > pl.col("label_official")).is_empty()
