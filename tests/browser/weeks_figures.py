"""The figures of the judging weeks, computed from downloaded tables by other libraries."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, median

import krippendorff
import numpy as np
import pytrec_eval
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score, confusion_matrix
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from tests.browser.weeks_lab import ITEMS, RUNS

Row = Mapping[str, str]
Item = tuple[str, str]
Votes = Mapping[Item, Mapping[str, int]]
"""Labels by item (topic and id in qrels) and assessor; only judgments."""
WORDS = {3: "High", 2: "Medium", 1: "Low", 0: "Not relevant", 5: "System failure", 6: "Do not know"}
VALUES = {word: value for value, word in WORDS.items()}
MEASURES = {
    "nDCG": "ndcg",
    "MAP": "map",
    "bpref": "bpref",
    "MRR": "recip_rank",
    **{f"P@{depth}": f"P_{depth}" for depth in (5, 10, 15, 20)},
}
"""The names that trec_eval gives to measures; with a prime, they read only judged items."""


def item_of(row: Row) -> Item:
    """Return the item of a row of a judgment table."""
    return row["topic"], row["doc_id"]


def label_of(row: Row) -> int:
    """Return the label of a row of a table of judgments."""
    return int(row["label"])


def current(rows: Iterable[Row]) -> dict[Item, Row]:
    """Return the current rows of a table of judgments by item."""
    return {item_of(row): row for row in rows if row["current"] == "yes"}


def votes_of(rows: Iterable[tuple[Item, str, int]]) -> Votes:
    """Return the votes that are judgments."""
    votes: dict[Item, dict[str, int]] = defaultdict(dict)
    for item, assessor, label in rows:
        if label <= 3:
            votes[item][assessor] = label
    return votes


def coefficients(votes: Votes, read: Callable[[int], int]) -> dict[str, float]:
    """Return what a table of agreement shows, by the name of its row."""
    people = sorted({name for labels in votes.values() for name in labels})
    kappas = defaultdict(list)
    for one, other in combinations(people, 2):
        both = [labels for labels in votes.values() if {one, other} <= labels.keys()]
        pairs = [(read(labels[one]), read(labels[other])) for labels in both]
        if len({*sum(pairs, ())}) > 1:  # else it is undefined
            kappa = cohen_kappa_score(*zip(*pairs, strict=True))
            kappas[one].append(kappa)
            kappas[other].append(kappa)
    means = {name: fmean(found) for name, found in kappas.items()}
    shared = [
        [read(one) for one in labels.values()] for labels in votes.values() if len(labels) > 1
    ]
    table = [
        [np.nan if name not in labels else read(labels[name]) for labels in votes.values()]
        for name in people
    ]
    agreeing = [fmean(a == b for a, b in combinations(labels, 2)) for labels in shared]
    return means | {
        "Mean": fmean(means.values()),
        "Fleiss’ kappa": fleiss_kappa(aggregate_raters(np.array(shared))[0]),
        "Krippendorff’s alpha, ordinal": alpha(table, "ordinal"),
        "Krippendorff’s alpha, nominal": alpha(table, "nominal"),
        "Observed agreement": fmean(agreeing),
    }


def alpha(table: Sequence[Sequence[float]], level: str) -> float:
    """Return Krippendorff's alpha."""
    return float(krippendorff.alpha(table, level_of_measurement=level))


def check_agreement(shown: Mapping[str, list[str]], votes: Votes) -> None:
    """Compare a table of agreement with coefficients of scikit-learn, statsmodels, krippendorff."""
    four = coefficients(votes, int)
    binary = coefficients(votes, lambda label: int(label >= 2))
    rows = {name: cells for name, cells in shown.items() if name != "Assessor"}
    assert rows.keys() == four.keys()
    shared = [labels for labels in votes.values() if len(labels) > 1]
    for name, (items, graded, graded_range, relevance, relevance_range) in rows.items():
        judged = [labels for labels in shared if name in labels]
        assert int(items) == (len(judged) if name in votes_people(votes) else len(shared)), name
        close(graded, four[name], digits=2)
        close(relevance, binary[name], digits=2)
        for value, interval in ((graded, graded_range), (relevance, relevance_range)):
            if interval != "–":
                low, high = map(float, interval.split(" to "))
                assert low <= float(value) <= high, name


def votes_people(votes: Votes) -> set[str]:
    """Return who voted."""
    return {name for labels in votes.values() for name in labels}


def close(shown: str, expected: float, *, digits: int, error: float = 1e-5) -> None:
    """Check a printed figure: it is the expected one, rounded; NaN is printed as a dash.

    The expected figure may be off by `error`, because it is computed from rounded ones.
    """
    if math.isnan(expected):
        assert shown == "–"
        return
    assert abs(float(shown) - expected) <= 0.5 * 10**-digits + error, (shown, expected)


def check_confusion(shown: Mapping[str, list[str]], firsts: list[int], seconds: list[int]) -> None:
    """Compare a confusion matrix and its sums with scikit-learn's."""
    values = [3, 2, 1, 0]
    matrix = confusion_matrix(firsts, seconds, labels=values)
    for value, counts in zip(values, matrix, strict=True):
        assert [int(cell) for cell in shown[WORDS[value]]] == [*counts, counts.sum()]
    assert [int(cell) for cell in shown["Total"]] == [*matrix.sum(axis=0), matrix.sum()]


def means(
    labels: Mapping[Item, int], heading: str, topics: Iterable[str] = ITEMS
) -> dict[str, float]:
    """Return the mean of each run over topics by pytrec_eval; `heading` is the measure's."""
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for (topic, doc_id), label in labels.items():
        qrels[topic][doc_id] = label
    measure = MEASURES[heading.replace("′", "")]
    level = {} if measure == "ndcg" else {"relevance_level": 2}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {measure}, **level)
    found = {}
    for name, ranked in RUNS.items():
        run = {
            topic: {
                one: 100.0 - rank
                for rank, one in enumerate(ids)
                if one in qrels[topic] or "′" not in heading
            }
            for topic, ids in ranked.items()
        }
        scores = evaluator.evaluate(run)
        found[name] = fmean(scores[topic][measure] for topic in topics)
    return found


def tau_and_swaps(one: Mapping[str, float], other: Mapping[str, float]) -> tuple[float, int]:
    """Return Kendall's tau-b of two rankings of runs, and the pairs in the opposite order."""
    swaps = sum(
        (one[a] - one[b]) * (other[a] - other[b]) < 0 for a, b in combinations(sorted(one), 2)
    )
    names = sorted(one)
    tau = kendalltau([one[run] for run in names], [other[run] for run in names]).statistic
    return float(tau), swaps


def median_seconds(rows: Iterable[Row]) -> float:
    """Return the median of the active seconds."""
    return median(int(row["active_ms"]) / 1000 for row in rows)
