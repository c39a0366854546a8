"""The certificate, compared with pytrec_eval on qrels whose lines were dropped one by one."""

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from scipy.stats import kendalltau, rankdata

from arqkit.measures.names import parse_measures
from arqkit.reusability.certificate import Certificate, Rescorer, Study, certified_measures, certify

Labels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, list[str]]]
TEAMS = {"a1": "A", "a2": "A", "b1": "B", "c1": "C", "gone": "A"}
NAMES = ["nDCG(judged_only=True)", "AP", "P@5", "Bpref", "RR", "Judged@10", "SetP"]
THEIRS = {
    "nDCG(judged_only=True)": ("ndcg", True),
    "AP(rel=2)": ("map", False),
    "P(rel=2)@5": ("P_5", False),
    "Bpref(rel=2)": ("bpref", False),
    "RR(rel=2)": ("recip_rank", False),
    "nDCG": ("ndcg", False),
    "AP(rel=2,judged_only=True)": ("map", True),
    "P(rel=2,judged_only=True)@5": ("P_5", True),
}
DEPTH = 6


def random_lab() -> tuple[Labels, Runs]:
    """Make runs of three teams and qrels of their tops; `gone` is pooled, but not scored."""
    random = np.random.default_rng(15)
    runs: Runs = {run: {} for run in TEAMS}
    labels: Labels = {}
    for topic in ("T.2", "T.10", "T.3"):
        for run in TEAMS:
            runs[run][topic] = [f"d{item}" for item in random.permutation(40)[:20]]
        if topic == "T.3":
            del runs["c1"][topic]
        pooled = sorted({item for run in TEAMS for item in runs[run].get(topic, [])[:DEPTH]})
        labels[topic] = {item: int(random.integers(0, 4)) for item in pooled}
        labels[topic]["own"] = 3  # from no run
    return labels, runs


def frame(labels: Labels) -> pl.DataFrame:
    rows = [(t, item, label) for t, found in labels.items() for item, label in found.items()]
    return pl.DataFrame(rows, schema=["topic", "item", "label"], orient="row")


def contributions(runs: Runs) -> pl.DataFrame:
    rows = [
        (topic, item, run, needs)
        for run, topics in runs.items()
        for topic, items in topics.items()
        for needs, item in enumerate(items[:DEPTH], start=1)
    ]
    return pl.DataFrame(rows, schema=["topic", "item", "run", "needs"], orient="row")


def rescorer_of(labels: Labels, runs: Runs) -> Rescorer:
    measures = certified_measures(parse_measures(NAMES))
    found = Rescorer(frame(labels), measures)
    for run in (run for run in runs if run != "gone"):
        rows = [(t, i, n) for t, items in runs[run].items() for n, i in enumerate(items, start=1)]
        index = pl.DataFrame(rows, schema=["topic", "item", "order"], orient="row")
        found.add(run, index.sample(fraction=1, shuffle=True, seed=3))
    return found


def certificate(labels: Labels, runs: Runs) -> Certificate:
    study = rescorer_of(labels, runs)
    return certify(study, contributions(runs), TEAMS, relevant_from=2)


def dropped(labels: Labels, runs: Runs, leaving: Collection[str], depth: int = DEPTH) -> Labels:
    """Return the labels of a pool without some runs, with `own`, which no run contributed."""
    tops = {
        topic: {i for run in runs.keys() - set(leaving) for i in runs[run].get(topic, [])[:depth]}
        for topic in labels
    }
    return {
        topic: {item: label for item, label in found.items() if item in tops[topic] | {"own"}}
        for topic, found in labels.items()
    }


def theirs(labels: Labels, runs: Runs) -> dict[tuple[str, str], float]:
    """Return the means of pytrec_eval over all topics by run and measure."""
    means = {}
    for name, (key, prime) in THEIRS.items():
        evaluator = pytrec_eval.RelevanceEvaluator(
            labels, {key.replace("_", ".", 1) if key == "P_5" else key},
            relevance_level=2, judged_docs_only_flag=prime,
        )  # fmt: skip
        for run in (run for run in runs if run != "gone"):
            scored = {t: {i: -float(n) for n, i in enumerate(x)} for t, x in runs[run].items()}
            values = evaluator.evaluate(scored).values()
            means[run, name] = sum(value[key] for value in values) / len(labels)
    return means


def ranks(means: Mapping[tuple[str, str], float], measure: str) -> dict[str, int]:
    runs = [run for run, name in means if name == measure]
    found = rankdata([-means[run, measure] for run in runs], method="min")
    return dict(zip(runs, map(int, found), strict=True))


@pytest.mark.parametrize("by", ["team", "run"])
def test_a_party_left_out_changes_its_runs_as_pytrec_eval_finds_without_its_lines(by):
    labels, runs = random_lab()
    found = certificate(labels, runs)
    left = found.teams if by == "team" else found.each_run
    before = theirs(labels, runs)

    for row in left.changes.iter_rows(named=True):
        leaving = [run for run in TEAMS if row["party"] in (run, TEAMS[run])]
        after = theirs(dropped(labels, runs, leaving), runs)
        key = row["run"], row["measure"]
        assert row["value"] == pytest.approx(before[key], abs=1e-9)
        assert row["value_without"] == pytest.approx(after[key], abs=1e-9)
        assert row["change"] == pytest.approx(after[key] - before[key], abs=1e-9)
        was, now = ranks(before, key[1])[key[0]], ranks(after, key[1])[key[0]]
        assert (row["rank"], row["rank_without"], row["rank_change"]) == (was, now, now - was)
    assert left.changes.height == 4 * len(THEIRS)
    assert left.changes["change"].abs().max() > 0.01


def test_a_part_has_the_rows_of_some_runs_and_teams_with_their_figures():
    whole = certificate(*random_lab())
    part = whole.of_runs(runs=["a1", "b1"], teams=["A", "B"])

    for frame_of, column, kept in (
        (lambda one: one.runs, "run", ["a1", "b1"]),
        (lambda one: one.teams.parties, "party", ["A", "B"]),
        (lambda one: one.teams.changes, "run", ["a1", "b1"]),
        (lambda one: one.each_run.parties, "party", ["a1", "b1"]),
    ):
        rest = frame_of(whole).filter(pl.col(column).is_in(kept))
        assert 0 < rest.height < frame_of(whole).height
        assert frame_of(part).equals(rest)


def test_the_items_that_only_a_team_contributed_are_counted_and_its_ranking_compared():
    labels, runs = random_lab()
    before = theirs(labels, runs)

    for row in certificate(labels, runs).teams.parties.iter_rows(named=True):
        rest = dropped(labels, runs, [run for run in TEAMS if TEAMS[run] == row["party"]])
        lost = [labels[t][i] for t in labels for i in labels[t].keys() - rest[t].keys()]
        assert (row["items"], row["relevant"]) == (len(lost), sum(x >= 2 for x in lost))
        after = theirs(rest, runs)
        for measure in THEIRS:
            both = zip(*((before[k], after[k]) for k in before if k[1] == measure), strict=True)
            assert row[measure] == pytest.approx(kendalltau(*both).statistic, nan_ok=True)


def test_each_depth_scores_with_what_a_pool_of_this_depth_would_have():
    labels, runs = random_lab()
    before = theirs(labels, runs)
    found = certificate(labels, runs).depths

    assert found["depth"].unique().sort().to_list() == [1, 2, 3, 5, 6]
    for row in found.iter_rows(named=True):
        shallow = dropped(labels, runs, [], row["depth"])
        after = theirs(shallow, runs)
        keys = [key for key in before if key[1] == row["measure"]]
        assert row["items"] == sum(map(len, shallow.values()))
        assert row["change"] == pytest.approx(max(abs(after[k] - before[k]) for k in keys))
        tau = kendalltau([before[k] for k in keys], [after[k] for k in keys]).statistic
        assert row["tau"] == pytest.approx(tau)


def test_each_measure_is_compared_with_its_prime():
    labels, runs = random_lab()
    means = theirs(labels, runs)

    found = certificate(labels, runs).primes

    assert found.select("measure", "prime").rows() == [
        ("AP(rel=2)", "AP(rel=2,judged_only=True)"),
        ("P(rel=2)@5", "P(rel=2,judged_only=True)@5"),
        ("nDCG", "nDCG(judged_only=True)"),
    ]
    for measure, prime, tau in found.rows():
        both = ([means[run, name] for run in runs if run != "gone"] for name in (measure, prime))
        assert tau == pytest.approx(kendalltau(*both).statistic)


def test_unjudged_counts_the_first_ten_items_of_answered_topics():
    labels, runs = random_lab()

    found = certificate(labels, runs).teams.changes

    for row in found.filter(pl.col("measure") == "nDCG").iter_rows(named=True):
        leaving = [run for run in TEAMS if TEAMS[run] == row["party"]]
        for name, judged in (
            ("unjudged", labels),
            ("unjudged_without", dropped(labels, runs, leaving)),
        ):
            shares = [
                sum(item not in judged[topic] for item in items[:10]) / 10
                for topic, items in runs[row["run"]].items()
            ]
            assert row[name] == pytest.approx(100 * sum(shares) / len(shares))


def test_a_run_without_a_topic_of_the_qrels_has_nothing_unjudged_and_no_score():
    found = Rescorer(frame({"T.1": {"d1": 3}}), parse_measures(["AP"]))
    found.add("elsewhere", pl.DataFrame({"topic": ["X"], "item": ["d1"], "order": [1]}))

    assert found.means(found.everything).tolist() == [[0.0]]
    assert found.unjudged(found.everything).tolist() == [0.0]


def test_without_runs_and_contributions_the_tables_are_empty():
    columns = {"topic": pl.String, "item": pl.String, "run": pl.String, "needs": pl.Int64}
    empty = pl.DataFrame(schema=columns)
    found = certify(
        Rescorer(frame({"T.1": {"d1": 3}}), parse_measures(["AP"])), empty, {}, relevant_from=2
    )

    assert (found.judged, found.relevant) == (1, 1)
    tables = (found.runs, found.teams.parties, found.teams.changes, found.depths, found.primes)
    assert [table.height for table in tables] == [0, 0, 0, 0, 0]


def test_an_unjudged_line_of_the_qrels_is_no_judgment():
    qrels = pl.DataFrame({"topic": ["T.1"] * 2, "item": ["d1", "d2"], "label": [3, None]})

    assert Rescorer(qrels, parse_measures(["AP"])).judged["item"].to_list() == ["d1"]


def test_the_measures_keep_their_order_and_get_their_other_side():
    names = [one.name for one in certified_measures(parse_measures(NAMES))]

    assert sorted(names) == sorted(THEIRS)
    assert names[:5] == list(THEIRS)[:5]


def test_a_study_finds_no_sole_items_of_a_team_that_contributed_nothing():
    labels, runs = random_lab()
    study = Study(rescorer_of(labels, runs), contributions({"a1": runs["a1"]}), 2)

    assert {party: int(mask.sum()) > 0 for party, mask in study.sole_items(TEAMS)} == {
        "A": True, "B": False, "C": False,
    }  # fmt: skip
