"""The bundle of coefficients equals the single ones, and its intervals hold."""

from functools import partial

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap
from statsmodels.stats.inter_rater import cohens_kappa

from arqkit.agreement.estimates import Agreement, Estimate, agreement_of
from arqkit.agreement.votes import binarized, confusion_matrix, judgments_only
from arqkit.protocols.scales import ARQMATH
from tests.arqkit.agreement.tables import (
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
    mean_pairwise_kappas,
    noisy_rows,
    observed_agreement,
    tables,
    votes_of,
)

approx = partial(pytest.approx, abs=1e-12)


def bundle(votes: pl.DataFrame, **options: int) -> Agreement:
    return agreement_of(votes, scale=ARQMATH, relevant_from=2, **options)


@given(tables(labels=7))
def test_the_bundle_has_every_coefficient_of_the_judgments(rows):
    votes = judgments_only(votes_of(rows), ARQMATH)
    found = bundle(votes_of(rows), resamples=3)

    for ways, those in ((found.graded, votes), (found.binary, binarized(votes, relevant_from=2))):
        means = mean_pairwise_kappas(those)
        defined = [mean for mean in means.values() if mean is not None]
        assert {name: each.value for name, each in ways.assessors.items()} == approx(means)
        assert ways.pairs == approx({pair: cohen_kappa(those, *pair) for pair in ways.pairs})
        assert ways.total.value == approx(np.mean(defined) if defined else None)
        assert ways.fleiss.value == approx(fleiss_kappa(those))
        assert ways.nominal.value == approx(krippendorff_alpha(those))
        assert ways.ordinal.value == approx(krippendorff_alpha(those, "ordinal"))
        assert ways.observed.value == approx(observed_agreement(those))


def test_items_count_where_somebody_else_judged_them_too():
    found = bundle(votes_of([(3, 2, 5), (1, None, None), (0, None, 1), (6, 5, 0)]))

    assert found.judged == {"a": 2, "b": 1, "c": 1}
    assert (found.items, found.votes) == (2, 4)


@given(tables(), st.randoms(use_true_random=False))
def test_the_bundle_does_not_depend_on_the_order_of_items(rows, random):
    shuffled = random.sample(rows, len(rows))

    assert bundle(votes_of(shuffled), resamples=5) == bundle(votes_of(rows), resamples=5)


def test_the_seed_changes_the_intervals_only():
    votes = votes_of(noisy_rows(30, 3, seed=1))
    one, other = bundle(votes, seed=1).graded, bundle(votes, seed=2).graded

    assert one.fleiss.value == other.fleiss.value
    assert one.fleiss != other.fleiss


def test_no_votes_have_no_coefficient():
    found = bundle(votes_of([]))

    assert (found.items, found.votes, found.judged) == (0, 0, {})
    assert found.graded.total == found.binary.fleiss == Estimate(None)


@pytest.mark.parametrize(
    "rows", [[(3, 0)], [(3, 3), (0, 0)] * 9], ids=["one item", "no disagreement"]
)
def test_samples_that_are_all_alike_have_no_interval(rows):
    found = bundle(votes_of(rows)).graded

    assert found.observed.value is not None
    assert (found.observed.low, found.observed.high) == (None, None)


def test_samples_without_a_coefficient_do_not_count():
    # Nine of ten items have one label: a third of the samples have no other.
    found = bundle(votes_of([(0, 0)] * 9 + [(3, 2)] + [(1, 0)])).graded.total

    assert found.low < found.value < found.high


def test_the_interval_of_two_assessors_is_about_the_asymptotic_one():
    votes = votes_of(noisy_rows(800, 2, seed=2))
    # Fleiss, Cohen & Everitt, 1969: standard for Cohen's kappa in large samples.
    peer = cohens_kappa(np.array(confusion_matrix(votes, "a", "b", scale=ARQMATH)))
    found = bundle(votes).graded.pairs, bundle(votes).graded.total

    assert found[0] == {("a", "b"): found[1].value}
    width = peer.kappa_upp - peer.kappa_low
    assert found[1].low == pytest.approx(peer.kappa_low, abs=width / 15)
    assert found[1].high == pytest.approx(peer.kappa_upp, abs=width / 15)


def test_intervals_are_those_of_scipys_bootstrap():
    rows = noisy_rows(60, 4, seed=3, missing=0.3)
    found = bundle(votes_of(rows), resamples=4000).graded.ordinal
    data = np.array(rows, dtype=float)

    peer = bootstrap(
        (np.arange(60),),
        lambda drawn: krippendorff.alpha(data[drawn].T, level_of_measurement="ordinal"),
        method="percentile",
        vectorized=False,
        n_resamples=1000,
        rng=np.random.default_rng(4),
    ).confidence_interval
    width = peer.high - peer.low
    assert found.low == pytest.approx(peer.low, abs=width / 10)
    assert found.high == pytest.approx(peer.high, abs=width / 10)


def test_about_95_of_100_intervals_hold_the_true_coefficient():
    # Of assessors who know 60% of the labels and guess the others; a fraction of 20,000 items.
    everything = votes_of(noisy_rows(20_000, 4, seed=5, missing=0.4))
    truth = fleiss_kappa(everything)
    held = 0
    for seed in range(100):
        part = votes_of(noisy_rows(150, 4, seed=100 + seed, missing=0.4))
        interval = bundle(part, resamples=200).graded.fleiss
        held += interval.low <= truth <= interval.high

    assert 90 <= held <= 99
