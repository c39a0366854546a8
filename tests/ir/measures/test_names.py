"""Measures: their full names, the headings of the papers, and what is refused."""

import ir_measures
import pytest

from arqlab.ir.measures.names import KINDS, MeasureRefusedError, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("nDCG(judged_only=True)@1000", "nDCG'"),
        ("nDCG(judged_only=True)@10", "nDCG'@10"),
        ("nDCG@1000", "nDCG"),
        ("nDCG", "nDCG"),
        ("AP(rel=2, judged_only=True)", "MAP'"),
        ("AP(rel=2)@1000", "MAP"),
        ("AP(rel=2)@100", "MAP@100"),
        ("P(rel=2, judged_only=True)@10", "P'@10"),
        ("P(rel=2)@5", "P@5"),
        ("Bpref(rel=2)", "bpref"),
        ("RR(rel=2)", "MRR"),
        ("Judged@10", "judged@10"),
        ("AR", "AR"),
        ("P@1", "P@1"),
    ],
)
def test_a_measure_is_headed_as_the_papers_head_it(text, label):
    assert parse_measure(text).label == label


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("P@10", "P(rel=2)@10"),
        ("AP(judged_only=True,rel=2)", "AP(rel=2,judged_only=True)"),
        ("AP(rel=1)", "AP(rel=1)"),
        ("P(judged_only=False)@5", "P(rel=2)@5"),
        (" AR ", "AR"),
        ("nDCG(judged_only=True)@1000", "nDCG(judged_only=True)@1000"),
    ],
)
def test_the_name_says_everything_that_the_value_depends_on(text, name):
    assert parse_measure(text).name == name


def test_relevant_from_is_the_label_where_the_text_has_none():
    assert parse_measure("Bpref", relevant_from=3).name == "Bpref(rel=3)"


def test_a_relevant_label_in_the_text_goes_before_relevant_from():
    assert parse_measure("Bpref(rel=1)", relevant_from=3).name == "Bpref(rel=1)"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "AR"])
def test_every_name_is_ir_measures_notation(kind):
    measure = parse_measure(KINDS[kind].example)

    assert str(ir_measures.parse_measure(measure.name)) == measure.name


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_reads_as_itself(kind):
    measure = parse_measure(KINDS[kind].example)

    assert parse_measure(measure.name, relevant_from=1) == measure


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "nDC",
            "P",
            "P@0",
            "P@x",
            "P@-1",
            "AP(rel=0)",
            "AP(rel=x)",
            "AP(rel=True)",
            "P(rell=2)@3",
            "Judged",
        ),
        *(
            "nDCG(judged_only=1)",
            "nDCG(rel=2)",
            "nDCG(dcg='exp-log2')@10",
            "RR@10",
            "Bpref(judged_only=True)",
            "ERR@20",
        ),
        *("AR@1", "P(2)@10", "import os", "P@10; P@5", "RR(judged_only=True)", "P(rel=2)@1.5"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_an_example(text):
    with pytest.raises(MeasureRefusedError, match=r"written like|write it like"):
        parse_measure(text)


def test_the_order_of_measures_is_kept():
    names = [measure.label for measure in parse_measures(["P@10", "nDCG@1000", "AR"])]

    assert names == ["P@10", "nDCG", "AR"]


def test_two_measures_under_one_heading_are_refused():
    with pytest.raises(
        MeasureRefusedError, match=r"AP\(rel=2\) and AP\(rel=1\) would both be headed MAP; keep one"
    ):
        parse_measures(["AP", "AP(rel=1)"])
