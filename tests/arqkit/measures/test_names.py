"""Measures: their full names, the headings of the papers, and what is refused."""

import re

import ir_measures
import pytest

from arqkit.measures.names import MeasureRefusedError, parse_measure, parse_measures
from arqkit.protocols.presets import PROTOCOLS
from tests.arqkit.measures.provided import EQUATION_SEARCH, PROVIDED
from tests.offline import arqkit

PRIMES = ("nDCG(judged_only=True)@1000", "P(judged_only=True)@10")
NAMES = (*PROVIDED, *EQUATION_SEARCH, *PRIMES, "Judged", "Judged@10")


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
        ("RR@10", "MRR@10"),
        ("RR(judged_only=True)", "MRR'"),
        ("ERR@20", "ERR@20"),
        ("R(rel=2)@100", "R@100"),
        ("Rprec(judged_only=True)", "Rprec'"),
        ("Success(rel=3)@5", "Success@5"),
        ("infAP", "infAP"),
        ("SetF(beta=0.5,judged_only=True)", "SetF'(beta=0.5)"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(dcg=exp-log2)@10"),
        ("nDCG(gains={0:0,1:1,2:3,3:7},judged_only=True)@1000", "nDCG'(gains={2:3,3:7})"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("SetRelP", "SetP(relative=True)"),
        ("NumRet", "NumRet"),
        ("NumRelRet", "NumRet(rel=1)"),
        ("Judged", "judged"),
        ("uMAP@1000", "uMAP"),
        ("uMAP(judged_only=True)@100", "uMAP'@100"),
        ("RankingScore", "RankingScore"),
        ("OneNN", "1-NN"),
    ],
)
def test_a_measure_is_headed_as_the_papers_head_it(text, label):
    assert parse_measure(text).label == label


def test_a_page_heads_a_prime_measure_with_a_typeset_prime():
    assert parse_measure("nDCG(judged_only=True)@1000").heading == "nDCG′"
    assert parse_measure("P@10").heading == "P@10"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("P@10", "P(rel=2)@10"),
        ("AP(judged_only=True,rel=2)", "AP(rel=2,judged_only=True)"),
        ("AP(rel=1)", "AP(rel=1)"),
        ("P(judged_only=False)@5", "P(rel=2)@5"),
        (" AR ", "AR"),
        ("nDCG(judged_only=True)@1000", "nDCG(judged_only=True)@1000"),
        ("MAP@10", "AP(rel=2)@10"),
        ("NDCG(dcg='log2')", "nDCG"),
        ("Success(judged_only=True,rel=1)@5", "Success(rel=1,judged_only=True)@5"),
        ("ERR@20", "ERR@20"),
        ("Compat(p=0.9)", "Compat(p=0.9)"),
        ("NumRet", "NumRet"),
    ],
)
def test_the_name_contains_everything_that_the_value_depends_on(text, name):
    assert parse_measure(text).name == name


def test_relevant_from_is_the_label_where_the_text_has_none():
    assert parse_measure("Bpref", relevant_from=3).name == "Bpref(rel=3)"


def test_a_relevant_label_in_the_text_goes_before_relevant_from():
    assert parse_measure("Bpref(rel=1)", relevant_from=3).name == "Bpref(rel=1)"


@pytest.mark.parametrize("text", NAMES)
def test_every_name_is_ir_measures_notation(text):
    name = parse_measure(text).name

    # ir_measures leaves its own default out.
    assert str(ir_measures.parse_measure(name)) == name.replace("(rel=1)", "")


@pytest.mark.parametrize("text", [*NAMES, "AR"])
def test_a_name_reads_as_itself(text):
    measure = parse_measure(text)

    assert parse_measure(measure.name, relevant_from=1) == measure


@pytest.mark.parametrize(
    "text",
    [
        *("", "nDC", "P@x", "P@-1", "AP(rel=x)", "P(rel=[1])@5", "nDCG(gains={1:-2})"),
        *("nDCG(gains={{}:1})", "AR@1", "P(2)@10", "import os", "P@10; P@5", "P(**{'rel':1})@5"),
    ],
)
def test_what_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(
        MeasureRefusedError, match=r"Unknown measure .* Use the notation of ir_measures"
    ):
        parse_measure(text)


NEEDS = {
    "P": "P needs cutoff, a whole number from 1, such as P@10.",
    "Success": "Success needs cutoff, a whole number from 1, such as Success@10.",
    "INST": "INST needs max_rel, a whole number from 1.",
    "IPrec": "IPrec needs recall, a number from 0.0 to 1.0 with a decimal point",
    "BPM(T=30.0)": "BPM needs cutoff, a whole number from 1 and max_rel, a whole number from 1.",
    "nDCG(rel=2)": "nDCG has no parameter rel. The parameters that it has: cutoff, dcg, gains",
    "P(rell=2)@3": "P has no parameter rell.",
    "Bpref(judged_only=True)": "Bpref has no parameter judged_only.",
    "NumQ(rel=1)": "NumQ has no parameter rel. The parameters that it has: none.",
    "P@0": "P cannot be computed with cutoff=0. Use a whole number from 1.",
    "P@True": "P cannot be computed with cutoff=True. Use a whole number from 1.",
    "P(rel=2)@1.5": "P cannot be computed with cutoff=1.5.",
    "P(rel=None)@5": "P cannot be computed with rel=None.",
    "P(rel=1j)@5": "P cannot be computed with rel=1j.",
    "AP(rel=0)": "AP cannot be computed with rel=0.",
    "AP(rel=True)": "AP cannot be computed with rel=True.",
    "nDCG(judged_only=1)": "nDCG cannot be computed with judged_only=1. Use True or False.",
    "nDCG(dcg='log3')": "nDCG cannot be computed with dcg='log3'. Use 'log2' or 'exp-log2'.",
    "nDCG(gains=3)": "nDCG cannot be computed with gains=3. Use whole numbers from 0, as in {1:1",
    "nDCG(gains={1:'x'})": "nDCG cannot be computed with gains={1: 'x'}.",
    "IPrec@0.123": "recall=0.123. Use a number from 0.0 to 1.0 with a decimal point and at most 2",
    "IPrec@1": "IPrec cannot be computed with recall=1. Use a number from 0.0 to 1.0 with a deci",
    "IPrec@1.5": "IPrec cannot be computed with recall=1.5.",
    "Compat(p=2.0)": "Compat cannot be computed with p=2.0.",
    "SetF(beta=0.00001)": "SetF cannot be computed with beta=1e-05.",
    "SetF(beta=1e999)": "SetF cannot be computed with beta=inf. Use a number from 0.0 to 1000.0",
    "INST(max_rel=0)": "INST cannot be computed with max_rel=0.",
    "INST(max_rel=3,min_rel=0,T=2.0)": "No installed provider computes INST(",
    "RankingScore@5": "RankingScore has no parameter cutoff.",
    "OneNN(judged_only=True)": "OneNN has no parameter judged_only.",
    "uMAP@0": "uMAP cannot be computed with cutoff=0.",
}


@pytest.mark.parametrize("text", NEEDS)
def test_a_parameter_that_cannot_be_used_is_refused_with_what_can(text):
    with pytest.raises(MeasureRefusedError, match=re.escape(NEEDS[text])):
        parse_measure(text)


def answer_to(text: str) -> str:
    """Return the kind of a measure that is accepted, or why it is refused."""
    try:
        return parse_measure(text).kind
    except MeasureRefusedError as refusal:
        return str(refusal)


@pytest.mark.parametrize("name", ir_measures.measures.registry)
@pytest.mark.parametrize("form", ["{}", "{}@7", "{}@0.1", "{}(max_rel=3)", "{}(max_rel=3)@7"])
def test_no_measure_that_ir_measures_reads_is_unknown(name, form):
    text = form.format(name)
    measure = ir_measures.parse_measure(text)

    reasons = r"needs|has no parameter|cannot be computed|No installed provider|has no value"
    assert answer_to(text) == measure.NAME or re.search(reasons, answer_to(text))


def test_a_measure_of_a_provider_that_is_missing_is_refused_with_what_to_install():
    message = (
        r"No installed provider computes INST\(max_rel=3\). "
        r"Install a provider \(pip install ir-measures\[cwl_eval\]\) or use another measure."
    )

    with pytest.raises(MeasureRefusedError, match=message):
        parse_measure("INST(max_rel=3)")


def test_a_measure_of_an_extra_is_refused_with_the_extra(tmp_path):
    (tmp_path / "run.tsv").write_text("A.1\t10\t1\t9.5\tt\n")
    (tmp_path / "qrels.tsv").write_text("A.1 0 10 2\n")
    ended = arqkit(tmp_path, "score", "run.tsv", "qrels.tsv", "--measures", "ERR_IA@5")

    assert ended.returncode == 2
    assert "pip install './arqkit[measures]' in a checkout of ArqLab" in ended.stderr


@pytest.mark.parametrize("text", ["ERR", "nDCG(dcg='exp-log2')", "RR(judged_only=True)@10"])
def test_a_measure_that_no_provider_computes_is_refused(text):
    with pytest.raises(MeasureRefusedError, match=r"No installed provider .* another measure\."):
        parse_measure(text)


@pytest.mark.parametrize("text", ["Accuracy", "P@1000000000000000000000"])
def test_a_measure_that_has_no_value_for_some_runs_is_refused(text):
    with pytest.raises(MeasureRefusedError, match="has no value for some runs"):
        parse_measure(text)


def test_a_name_that_the_database_cannot_hold_is_refused():
    text = "nDCG(gains={1:10,2:20,3:30,4:40,5:50},judged_only=True)@1000000"

    with pytest.raises(MeasureRefusedError, match=r"has 63 characters\. Use at most 60"):
        parse_measure(text)


@pytest.mark.parametrize("text", ["NumRet", "NumQ", "NumRelRet"])
def test_counts_and_judged_at_k_rate_no_run(text):
    assert [parse_measure(one).is_rating for one in (text, "Judged@10", "ERR@20")] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_the_measures_of_every_preset_are_accepted(protocol):
    for task in protocol.tasks.values():
        assert len(parse_measures(task.measures)) == len(task.measures)


def test_the_order_of_measures_is_kept():
    names = [measure.label for measure in parse_measures(["P@10", "nDCG@1000", "AR"])]

    assert names == ["P@10", "nDCG", "AR"]


def test_two_measures_under_one_heading_are_refused():
    with pytest.raises(
        MeasureRefusedError,
        match=r"AP\(rel=2\) and AP\(rel=2\) would have the same heading, MAP\. Keep one",
    ):
        parse_measures(["AP", "AP(rel=2)"])


def test_measures_that_differ_in_rel_are_headed_with_it():
    texts = ["Bpref(rel=3)", "Bpref(rel=1)", "P@5", "P(rel=1)@5", "SetF(beta=2.0)"]
    measures = parse_measures([*texts, "SetF(rel=1,beta=2.0)"], relevant_from=3)

    expected = ["bpref", "bpref(rel=1)", "P@5", "P(rel=1)@5", "SetF(beta=2.0)"]
    assert [measure.label for measure in measures] == [*expected, "SetF(beta=2.0,rel=1)"]
