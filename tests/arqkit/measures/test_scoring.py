"""Scores: the papers' digits on real runs, pytrec_eval's values on random ones, and the rules about
topics and labels.
"""

import csv
import math
from pathlib import Path

import hypothesis.strategies as st
import ir_measures
import polars as pl
import pytest
from hypothesis import given, settings

from arqkit.formats.qrels.read import read_qrels
from arqkit.measures.names import MeasureFailedError, MeasureRefusedError
from arqkit.measures.scoring import Scorer, ceilings, means, score_frame
from arqkit.protocols.presets import PRIMES
from arqkit.protocols.scales import ARQMATH
from tests.arqkit.measures.provided import EQUATION_SEARCH, PROVIDED
from tests.paths import ROOT
from tests.real_data import DATA, SCALES, index_frame, needs_data, read_run

SCORES_FILE = ROOT / "tests" / "golden" / "scores.tsv"
GOLDEN = list(csv.DictReader(SCORES_FILE.read_text(encoding="utf-8").splitlines(), delimiter="\t"))
HEADINGS = ("nDCG'", "MAP'", "P'@10")
MEASURES = (
    *("nDCG(judged_only=True)@1000", "nDCG(judged_only=True)@3"),
    *("AP(rel=2,judged_only=True)", "AP(rel=2,judged_only=True)@3"),
    *("P(rel=2,judged_only=True)@10", "P(rel=3,judged_only=True)@1"),
    *("nDCG@1000", "nDCG@3", "AP(rel=2)@1000", "AP(rel=1)@3", "Bpref(rel=2)", "RR(rel=2)"),
    *(f"P(rel=2)@{cutoff}" for cutoff in (1, 5, 10, 15, 20)),
)
WITHOUT_CUT = ("nDCG(judged_only=True)", "nDCG", "AP(rel=1,judged_only=True)", "AP(rel=2)")
# Pairs that are equal as 32-bit floats and different as 64-bit ones stand among the scores.
SCORES = st.sampled_from(
    [20000000.5, 20000000.0, 0.123456789, 0.123456788, 1.0, 0.5, 0.0, -3.25, 7.0, 1e-8]
)
ITEMS = [*map(str, range(1, 31)), "Duckworth–Lewis_method:0", "a", "B", "Z:1"]
RUNS = st.dictionaries(
    st.sampled_from(["A.1", "A.2", "A.10", "A.99"]),
    st.dictionaries(st.sampled_from(ITEMS), SCORES, min_size=1),
)
JUDGMENTS = st.dictionaries(
    st.sampled_from(["A.1", "A.2", "A.10"]),
    st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 3), min_size=1),
    min_size=1,
)

Run = dict[str, dict[str, float]]
Labels = dict[str, dict[str, int]]


def qrels_frame(judgments: Labels) -> pl.DataFrame:
    """Return qrels as they are scored: 5 and 6 are not judgments."""
    rows = [
        (topic, item, label)
        for topic, labels in judgments.items()
        for item, label in labels.items()
    ]
    schema = {"topic": pl.String, "item": pl.String, "label": pl.Int8}
    return ARQMATH.only_judged(pl.DataFrame(rows, schema=schema, orient="row"))


def run_frame(run: Run) -> pl.DataFrame:
    return index_frame(
        [(topic, item, 1, score) for topic, items in run.items() for item, score in items.items()]
    )


def values(scores: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(measure, topic): value for topic, measure, value in scores.iter_rows()}


def nested(rows: list[tuple]) -> dict:
    found: dict = {}
    for topic, item, value in rows:
        found.setdefault(topic, {})[item] = value
    return found


def reference(names: tuple[str, ...], judgments: Labels, run: Run) -> dict[tuple[str, str], float]:
    """What ir_measures gives by pytrec_eval from the raw scores, with 0 where the run lacks a
    topic.
    """
    found = {(name, topic): 0.0 for name in names for topic in judgments}
    named = {ir_measures.parse_measure(name): name for name in names}
    metrics = ir_measures.pytrec_eval.iter_calc(list(named), judgments, run) if run else ()
    return found | {(named[metric.measure], metric.query_id): metric.value for metric in metrics}


def ir_measures_values(
    names: tuple[str, ...], judgments: Labels, index: pl.DataFrame
) -> dict[tuple[str, str], float]:
    """Return the values of ir_measures for the order of the index; 0 where trec_eval divides by
    zero. Each measure is computed alone, because ir_measures lets those without `rel` depend on the
    others. Topics are numbered, because gdeval accepts no others.
    """
    number = {topic: str(place) for place, topic in enumerate(judgments)}
    qrels = {number[topic]: labels for topic, labels in judgments.items()}
    rows = index.filter(pl.col("topic").is_in(list(judgments)))
    run = nested([(number[t], i, -o) for t, i, o in rows.select("topic", "item", "order").rows()])
    measures = {ir_measures.parse_measure(name): name for name in names}
    return {
        (measures[metric.measure], list(judgments)[int(metric.query_id)]): (
            0.0 if math.isnan(metric.value) else metric.value
        )
        for measure in measures
        for metric in ir_measures.iter_calc([measure], qrels, run)
    }


@needs_data
@pytest.mark.parametrize(
    "known", GOLDEN, ids=lambda row: f"{Path(row['run']).name[:30]}-{row['qrels']}-{row['order']}"
)
def test_a_real_run_has_the_scores_of_the_papers_to_four_decimals(known):
    scale = SCALES.get(known["lab"], ARQMATH)
    qrels = read_qrels(
        (DATA / known["lab"] / known["qrels"]).read_bytes(), path="qrels", scale=scale
    )
    index = index_frame(
        read_run(DATA / known["lab"] / "runs" / known["task"] / known["run"]), order=known["order"]
    )

    found = means(
        score_frame(
            index, scale.only_judged(qrels), PRIMES, relevant_from=2 if scale == ARQMATH else 3
        )
    )

    ours = {
        heading: f"{value:.4f}"[1:] for heading, value in zip(HEADINGS, found.values(), strict=True)
    }
    assert ours == {heading: known[heading] or ours[heading] for heading in HEADINGS}


@needs_data
@pytest.mark.parametrize(
    ("qrels", "best"),
    [("arqmath-3/qrels.task1.tsv", "0.9500"), ("arqmath-3/qrels.task2.visual-v3.tsv", "0.9303")],
)
def test_the_ceiling_of_p_at_10_is_the_papers(qrels, best):
    frame = read_qrels((DATA / qrels).read_bytes(), path=qrels)

    assert [f"{value:.4f}" for value in ceilings(frame, PRIMES).values()] == [
        "1.0000",
        "1.0000",
        best,
    ]


@needs_data
def test_a_real_run_scores_as_pytrec_eval_scores_it_for_every_topic_and_measure():
    qrels = read_qrels((DATA / "arqmath-1/qrels.task1.tsv").read_bytes(), path="qrels")
    rows = read_run(
        DATA / "arqmath-1/runs/task1/MIRMU-task1-OutOfCompetitionEnsemble-auto-both-A.tsv.gz"
    )
    run = nested([(topic, item, score) for topic, item, _, score in rows])

    found = values(score_frame(index_frame(rows), qrels, MEASURES))

    assert found == pytest.approx(reference(MEASURES, nested(qrels.rows()), run), abs=1e-9)


@given(RUNS, JUDGMENTS)
@settings(deadline=None)
def test_every_measure_is_pytrec_evals_on_any_run_ties_included(run, judgments):
    found = score_frame(run_frame(run), qrels_frame(judgments), MEASURES)

    assert values(found) == pytest.approx(reference(MEASURES, judgments, run), abs=1e-9)


@given(RUNS, JUDGMENTS, st.sampled_from(WITHOUT_CUT))
@settings(deadline=None)
def test_measures_of_the_whole_list_are_pytrec_evals_too(run, judgments, name):
    found = score_frame(run_frame(run), qrels_frame(judgments), [name])

    assert values(found) == pytest.approx(reference((name,), judgments, run), abs=1e-9)


@given(RUNS, JUDGMENTS)
@settings(deadline=None, max_examples=25)
def test_every_other_measure_is_ir_measures_in_trec_evals_order(run, judgments):
    index = run_frame(run)
    expected = ir_measures_values(PROVIDED, judgments, index)

    found = score_frame(index, qrels_frame(judgments), PROVIDED)

    assert values(found) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("answered_only", [False, True])
def test_topics_and_relevant_items_of_unanswered_topics_are_counted(answered_only, level):
    """As by `trec_eval -c -l level`: pytrec_eval counts those of answered topics only."""
    judgments = {"A.1": {"1": 3, "2": 0}, "A.2": {"1": 2, "3": 1}, "A.3": {"4": 0}}
    scorer = Scorer(
        qrels_frame(judgments), ["NumQ", "NumRel"], relevant_from=level, answered_only=answered_only
    )

    found = means(scorer.score(run_frame({"A.1": {"1": 2.0, "unjudged": 1.0}})))

    relevant = sum(label >= level for labels in judgments.values() for label in labels.values())
    assert found == {"NumQ": 3, f"NumRel(rel={level})": relevant}


@pytest.mark.parametrize("name", ["NumRet", "NumQ", "nDCG@10", "R(rel=1)@5"])
@pytest.mark.parametrize(
    "before", ["Rprec(rel=2,judged_only=True)", "nDCG(gains={1:5},judged_only=True)@10"]
)
def test_a_measure_does_not_depend_on_the_measures_before_it(before, name):
    index = run_frame({"A.1": {"1": 3.0, "unjudged": 2.0, "2": 1.0}})
    judgments = {"A.1": {"1": 1, "2": 3}}

    found = values(score_frame(index, qrels_frame(judgments), [before, name]))

    assert found[name, "A.1"] == pytest.approx(
        ir_measures_values((name,), judgments, index)[name, "A.1"]
    )


@given(RUNS, JUDGMENTS)
@settings(deadline=None, max_examples=25)
def test_the_mean_over_topics_is_ir_measures_and_counts_are_added_up(run, judgments):
    index = run_frame(run)
    expected = ir_measures_values(PROVIDED, judgments, index)

    found = means(score_frame(index, qrels_frame(judgments), PROVIDED))

    for name in PROVIDED:
        of_topics = [value for (measure, _), value in expected.items() if measure == name]
        aggregator = ir_measures.parse_measure(name).aggregator()
        for value in of_topics:
            aggregator.add(value)
        assert found[name] == pytest.approx(aggregator.result(), abs=1e-9)


def test_every_measure_that_ir_measures_knows_is_accepted_or_refused_for_a_reason():
    tried = {ir_measures.parse_measure(name).NAME for name in (*PROVIDED, *EQUATION_SEARCH)}
    tried |= {"Judged", "NumQ", "NumRel"}
    known = {measure.NAME for measure in ir_measures.measures.registry.values()}
    with_subtopics = {"alpha_DCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall", "nERR_IA"}
    not_installed = {"BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ"}

    assert known - tried == with_subtopics | not_installed | {"Accuracy"}


def test_rank_biased_precision_is_that_of_cwl_eval():
    """The values are those of cwl-eval 1.0.12 (`ir_measures.cwl_eval`)."""
    qrels = qrels_frame({"1": {"a": 2, "b": 0, "c": 3}, "2": {"x": 2}})
    run = run_frame({"1": {"b": 3.0, "a": 2.0, "z": 1.5, "c": 1.0}, "2": {"y": 3.0, "x": 1.0}})
    found = score_frame(run, qrels, ["RBP", "RBP(p=0.5)", "RBP@2"])

    assert dict.fromkeys(found["measure"]) == dict.fromkeys(
        ["RBP(rel=2)", "RBP(p=0.5,rel=2)", "RBP(rel=2)@2"]
    )
    assert found["value"].to_list() == pytest.approx([0.2624, 0.16, 0.3125, 0.25, 0.16, 0.16])


@pytest.mark.parametrize("text", ["Compat(p=0.975)", "alpha_nDCG(rel=1,alpha=0.625)@10"])
def test_a_parameter_has_as_many_decimals_as_its_provider_reads(text):
    qrels, run = {"1": {"a": 1, "b": 1, "c": 1}}, {"1": {"x": 3.0, "b": 2.5, "c": 2.0, "a": 1.0}}
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure(text)], qrels, run)

    values = score_frame(run_frame(run), qrels_frame(qrels), [text])["value"]
    assert values.to_list() == pytest.approx(list(expected.values()))


def test_rbp_has_any_persistence():
    """With one relevant item at rank 2, RBP is (1 - p) p (Moffat & Zobel 2008, equation 4)."""
    run, qrels = run_frame({"1": {"x": 2.0, "a": 1.0}}), qrels_frame({"1": {"a": 2}})

    values = score_frame(run, qrels, ["RBP(p=0.825)"])["value"].to_list()
    assert values == [pytest.approx(0.175 * 0.825)]


def test_a_value_that_trec_eval_divides_by_zero_for_is_zero():
    names = ["SetP(relative=True)", "SetF", "Rprec", "R@5", "IPrec@0.1"]

    found = score_frame(run_frame({"A.1": {"1": 1.0}}), qrels_frame({"A.1": {"2": 0}}), names)

    assert found["value"].to_list() == [0.0] * 5


def test_ids_with_blanks_reach_the_providers_that_read_files():
    qrels = qrels_frame({"A.1": {"my run:A.1": 3, "my": 0, "100%20": 1}})
    run = run_frame({"A.1": {"my run:A.1": 2.0, "my": 1.0, "100 ": 0.5}})

    assert means(score_frame(run, qrels, ["ERR@20"])) == {"ERR@20": pytest.approx(7 / 16, abs=1e-5)}


def test_a_run_on_which_a_provider_fails_shows_a_message():
    scorer = Scorer(qrels_frame({"A.1": {"1": 9}}), ["ERR@20"])  # gdeval knows labels up to 4

    with pytest.raises(MeasureFailedError, match="ERR@20"):
        scorer.score(run_frame({"A.1": {"1": 1.0}}))


@pytest.mark.parametrize(
    "name", ["SetP(rel=2)", "SetF(rel=2)", "ERR@20", "R(rel=2)@1000", "Compat", *EQUATION_SEARCH]
)
def test_no_run_goes_above_the_ceiling(name):
    judgments = {"A.1": {"1": 3, "2": 0, "3": 2}, "A.2": {"1": 1, "2": 0}}
    best = run_frame({"A.1": {"1": 3.0, "3": 2.0}, "A.2": {"1": 1.0}})
    qrels = qrels_frame(judgments)

    assert ceilings(qrels, [name]) == pytest.approx(means(score_frame(best, qrels, [name])))


def test_counts_have_no_ceiling():
    assert ceilings(qrels_frame({"A.1": {"1": 3}}), ["NumRet", "P@1"]) == {"P(rel=2)@1": 1.0}


@given(RUNS, JUDGMENTS, st.integers(1, 20))
@settings(deadline=None)
def test_judged_at_k_is_the_share_of_the_top_items_that_was_judged(run, judgments, cutoff):
    index = run_frame(run)

    found = values(score_frame(index, qrels_frame(judgments), [f"Judged@{cutoff}"]))

    for topic, labels in judgments.items():
        items = index.filter(pl.col("order") <= cutoff, topic=topic)["item"].to_list()
        share = sum(item in labels for item in items) / len(items) if items else 0.0
        assert found[f"Judged@{cutoff}", topic] == pytest.approx(share)


def test_judged_at_k_is_as_ir_measures_has_it():
    judgments = {"A.1": {"1": 3, "2": 0}}
    run = {"A.1": {"1": 3.0, "7": 2.0, "2": 1.0}}

    expected = ir_measures.calc_aggregate(
        [ir_measures.Judged @ 2, ir_measures.Judged @ 10, ir_measures.Judged], judgments, run
    )

    names = ["Judged@2", "Judged@10", "Judged"]
    found = means(score_frame(run_frame(run), qrels_frame(judgments), names))
    assert found == {str(measure): value for measure, value in expected.items()}


@given(JUDGMENTS)
@settings(deadline=None, max_examples=30)
def test_the_qrels_themselves_as_a_run_reach_the_ceiling(judgments):
    qrels = qrels_frame(judgments)
    run = {
        topic: {item: float(label) for item, label in labels.items()}
        for topic, labels in judgments.items()
    }

    assert means(score_frame(run_frame(run), qrels, PRIMES)) == pytest.approx(
        ceilings(qrels, PRIMES)
    )


def test_scores_that_differ_only_beyond_32_bits_are_a_tie_that_the_item_decides():
    qrels = qrels_frame({"A.1": {"1": 3, "2": 0}})
    run = {"A.1": {"1": 20000000.5, "2": 20000000.0}}

    found = score_frame(run_frame(run), qrels, ["P@1", "P(judged_only=True)@1"])

    assert found["value"].to_list() == [
        0.0,
        0.0,
    ]  # item 2 stands first; compared as doubles it would be item 1


def test_the_order_column_decides_and_not_the_score():
    qrels = qrels_frame({"A.1": {"1": 3, "2": 0}})
    index = run_frame({"A.1": {"1": 1.0, "2": 9.0}})

    by_rank = index.with_columns(order=pl.lit(3, pl.Int32) - pl.col("order"))

    assert score_frame(index, qrels, ["RR", "P(judged_only=True)@1"])["value"].to_list() == [
        0.5,
        0.0,
    ]
    assert score_frame(by_rank, qrels, ["RR", "P(judged_only=True)@1"])["value"].to_list() == [
        1.0,
        1.0,
    ]


def test_rows_in_any_sequence_score_alike():
    qrels = qrels_frame({"A.1": {"1": 3, "2": 0, "3": 2}, "A.2": {"1": 2}})
    index = run_frame({"A.1": {"1": 1.0, "2": 9.0, "3": 4.0}, "A.2": {"2": 5.0, "1": 4.0}})

    shuffled = index.sample(fraction=1.0, shuffle=True, seed=7)

    assert values(score_frame(shuffled, qrels, MEASURES)) == values(
        score_frame(index, qrels, MEASURES)
    )


def test_unjudged_items_leave_before_any_cut():
    qrels = qrels_frame({"A.1": {"judged": 3}})
    run = {"A.1": {f"unjudged{number}": 100.0 - number for number in range(50)} | {"judged": 0.0}}

    found = means(score_frame(run_frame(run), qrels, ["P(judged_only=True)@1", "P@1", "P@10"]))

    assert list(found.values()) == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("label", [5, 6])
def test_a_system_failure_or_do_not_know_counts_as_unjudged(label):
    qrels = qrels_frame({"A.1": {"failed": label, "good": 3}})
    run = {"A.1": {"failed": 9.0, "good": 1.0}}

    found = means(score_frame(run_frame(run), qrels, ["P(judged_only=True)@1", "P@1", "Judged@1"]))

    assert list(found.values()) == [1.0, 0.0, 0.0]


def test_a_topic_that_the_run_lacks_counts_zero():
    qrels = qrels_frame({"A.1": {"1": 3}, "A.2": {"1": 3}})

    found = score_frame(
        run_frame({"A.1": {"1": 1.0}}), qrels, ["nDCG(judged_only=True)@1000", "RR"]
    )

    assert found["value"].to_list() == [1.0, 0.0, 1.0, 0.0]


def test_a_topic_whose_items_were_all_failures_still_counts():
    qrels = qrels_frame({"A.1": {"1": 3}, "A.2": {"1": 5}})

    found = means(
        score_frame(run_frame({"A.1": {"1": 1.0}}), qrels, ["P(judged_only=True)@1", "P@1", "AR"])
    )

    assert list(found.values()) == [0.5, 0.5, 1.5]


def test_a_topic_outside_the_qrels_is_not_scored():
    qrels = qrels_frame({"A.1": {"1": 3}})

    found = score_frame(
        run_frame({"A.1": {"1": 1.0}, "A.7": {"1": 1.0}}), qrels, ["RR", "Judged@1"]
    )

    assert found["topic"].to_list() == ["A.1", "A.1"]


def test_topics_come_in_natural_order_and_measures_in_theirs():
    qrels = qrels_frame({"A.10": {"1": 3}, "A.2": {"1": 3}})

    found = score_frame(run_frame({}), qrels, ["RR", "P@5"])

    expected = [
        (measure, topic) for measure in ("RR(rel=2)", "P(rel=2)@5") for topic in ("A.2", "A.10")
    ]
    assert found.select("measure", "topic").rows() == expected


def test_an_empty_run_scores_zero_everywhere():
    scores = score_frame(
        run_frame({}), qrels_frame({"A.1": {"1": 3}}), [*PRIMES, "Bpref", "Judged@10", "AR"]
    )

    assert scores["value"].to_list() == [0.0] * 6


def test_average_relevance_is_the_label_of_the_first_answer():
    qrels = qrels_frame({"A.1": {"x": 3, "y": 1}, "A.2": {"x": 1}, "A.3": {"x": 6}})
    run = {"A.1": {"x": 2.0, "y": 1.0}, "A.2": {"x": 1.0}, "A.3": {"x": 1.0}}

    assert means(score_frame(run_frame(run), qrels, ["AR"])) == {"AR": pytest.approx(4 / 3)}


@needs_data
@pytest.mark.parametrize(
    "run", ["PSU-task1-PSU1-auto-both-A", "judged-only/PSU-task1-PSU2-auto-both-P"]
)
def test_the_measures_of_task_3_rate_the_first_answers_of_a_real_run(run):
    rows = read_run(DATA / "arqmath-1" / "runs" / "task1" / f"{run}.tsv.gz")
    file = DATA / "arqmath-1" / "qrels.task1.tsv"
    lines = map(str.split, file.read_text().splitlines())
    judged = {(topic, item): float(label) for topic, _, item, label in lines}
    first: dict[str, tuple[float, str]] = {}
    for topic, item, _, score in rows:
        first[topic] = max(first.get(topic, (score, item)), (score, item))
    topics = {topic for topic, _ in judged}
    labels = [judged.get((topic, first[topic][1]), 0.0) for topic in topics & first.keys()]

    qrels = read_qrels(file.read_bytes(), path=file.name, scale=ARQMATH)
    found = means(score_frame(index_frame(rows), qrels, ["AR", "P@1"]))

    assert sum(labels) > 0
    assert found == {
        "AR": pytest.approx(sum(labels) / len(topics)),
        "P(rel=2)@1": pytest.approx(sum(label >= 2 for label in labels) / len(topics)),
    }


def test_task_3_means_are_over_the_topics_that_the_run_answered():
    qrels = qrels_frame({"A.1": {"x": 3}, "A.2": {"x": 6}, "A.3": {"x": 3}})
    run = run_frame({"A.1": {"x": 1.0}, "A.2": {"x": 1.0}})

    found = Scorer(qrels, ["AR", "P@1"], answered_only=True).score(run)

    assert means(found) == {"AR": 1.5, "P(rel=2)@1": 0.5}
    assert found["topic"].to_list() == ["A.1", "A.2"] * 2


def test_the_ceiling_of_average_relevance_is_the_mean_of_the_best_labels():
    qrels = qrels_frame({"A.1": {"x": 3, "y": 0}, "A.2": {"x": 1, "y": 6}, "A.3": {"x": 0}})

    assert ceilings(qrels, ["AR"]) == {"AR": pytest.approx(4 / 3)}


def test_relevant_from_fills_in_where_a_measure_has_no_threshold():
    index = run_frame({"A.1": {"1": 1.0}})

    found = means(
        score_frame(index, qrels_frame({"A.1": {"1": 2}}), ["P@1", "RR(rel=2)"], relevant_from=3)
    )

    assert found == {"P(rel=3)@1": 0.0, "RR(rel=2)": 1.0}


def test_a_scorer_serves_many_runs():
    scorer = Scorer(qrels_frame({"A.1": {"1": 3, "2": 0}}), ["P(judged_only=True)@1", "P@1"])

    first, second = (scorer.score(run_frame({"A.1": {item: 1.0}})) for item in ("1", "2"))

    assert (first["value"].to_list(), second["value"].to_list()) == ([1.0, 1.0], [0.0, 0.0])


def test_a_scorer_takes_the_measures_of_another():
    qrels = qrels_frame({"A.1": {"1": 3}})
    first = Scorer(qrels, PRIMES, relevant_from=3)

    assert Scorer(qrels, first.measures).measures == first.measures


def test_a_measure_that_cannot_be_computed_is_refused_at_once():
    with pytest.raises(MeasureRefusedError, match="nDCG"):
        Scorer(qrels_frame({"A.1": {"1": 3}}), ["nDCG(rel=2)"])
