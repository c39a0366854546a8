"""Weighting schemes of the demo's systems: scores of documents for queries, as bags of tokens.

Every function returns an array with a row for each query and a column for each document. Higher
scores are better; 0 means no match.
"""

import logging
import warnings
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Scores = NDArray[np.float64]
Bags = Sequence[Sequence[str]]


def bm25(
    documents: Bags, queries: Bags, *, k1: float = 1.2, b: float = 0.75, method: str = "lucene"
) -> Scores:
    """Score by Okapi BM25 (Robertson et al. 1994) in a variant of bm25s.

    `method` is lucene, robertson, bm25+ or atire.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bm25s warns about missing optional packages
        import bm25s  # installed for the demo only
    # bm25s logs every index that it builds, whatever the logging settings are.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    model = bm25s.BM25(method=method, k1=k1, b=b)
    model.index([list(document) for document in documents], show_progress=False)
    scores = [
        model.get_scores(list(query)) if query else np.zeros(len(documents)) for query in queries
    ]
    return np.asarray(scores, dtype=np.float64)


def cosine(documents: Bags, queries: Bags, *, sublinear: bool = False) -> Scores:
    """Score by the cosine of TF-IDF vectors with idf = log((N+1)/(df+1)) + 1.

    `sublinear` replaces tf by 1 + log(tf).
    """
    corpus, asked = _tfidf(documents, queries, sublinear=sublinear)
    return _dense(asked @ corpus.T)


def feedback(documents: Bags, queries: Bags, *, best: int = 3, weight: float = 0.4) -> Scores:
    """Score as `cosine` after pseudo-relevance feedback from the best documents (Rocchio 1971)."""
    corpus, asked = _tfidf(documents, queries, sublinear=True)
    vectors, moved = _dense(corpus), _dense(asked)
    first = moved @ vectors.T
    top = np.argsort(-first, axis=1, kind="stable")[:, :best]
    # Documents without a match are not used as feedback.
    matching = np.take_along_axis(first, top, axis=1) > 0
    moved = moved + weight * (vectors[top] * matching[:, :, None]).mean(axis=1)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    scores: Scores = (moved / np.maximum(lengths, 1e-12)) @ vectors.T
    return scores


def latent(documents: Bags, queries: Bags, *, dimensions: int = 60) -> Scores:
    """Score by the cosine in a latent semantic space (Deerwester et al. 1990).

    The space is spanned by the largest singular vectors of the TF-IDF matrix.
    """
    corpus, asked = _tfidf(documents, queries, sublinear=True)
    # The left singular vectors are the eigenvectors of the matrix of inner products, which is small
    # because there are few documents.
    squares, vectors = np.linalg.eigh(_dense(corpus @ corpus.T))
    largest, singular = vectors[:, -dimensions:], np.sqrt(np.maximum(squares[-dimensions:], 1e-12))
    near, far = _dense(asked @ corpus.T) @ largest / singular, largest * singular
    lengths = np.linalg.norm(near, axis=1)[:, None] * np.linalg.norm(far, axis=1)[None, :]
    scores: Scores = np.round(np.maximum(near @ far.T / np.maximum(lengths, 1e-12), 0.0), 9)
    return scores


def likelihood(documents: Bags, queries: Bags, *, mu: float = 200.0) -> Scores:
    """Score by query likelihood with Dirichlet smoothing (Zhai and Lafferty 2001).

    Only matching terms count.
    """
    counted, asked = _counts(documents, queries)
    lengths = np.maximum(np.asarray(counted.sum(axis=1)).ravel(), 1.0)
    background = np.asarray(counted.sum(axis=0)).ravel() / max(float(lengths.sum()), 1.0)
    weights = counted.tocoo()
    weights.data = np.log1p(weights.data / (mu * background[weights.col]))
    normalizer = np.log(mu / (lengths + mu))
    scores = _dense(asked @ weights.tocsr().T)
    shifted = scores + np.asarray(asked.sum(axis=1)).ravel()[:, None] * normalizer[None, :]
    floor = shifted.min(axis=1, keepdims=True)
    kept: Scores = np.where(scores > 0, shifted - floor, 0.0)
    return kept


def min_max(scores: Scores) -> Scores:
    """Map the scores of each query to [0, 1]; without any match they stay 0 (protocol §10)."""
    low, high = scores.min(axis=1, keepdims=True), scores.max(axis=1, keepdims=True)
    mapped: Scores = np.where(
        high > low, (scores - low) / np.where(high > low, high - low, 1.0), 0.0
    )
    return mapped


def _tfidf(documents: Bags, queries: Bags, *, sublinear: bool) -> tuple[Any, Any]:
    corpus, asked = _counts(documents, queries)
    if sublinear:
        corpus.data, asked.data = 1 + np.log(corpus.data), 1 + np.log(asked.data)
    frequency = np.asarray((corpus > 0).sum(axis=0)).ravel()
    idf = sparse.diags(np.log((len(documents) + 1) / (frequency + 1)) + 1)
    return _unit(corpus @ idf), _unit(asked @ idf)


def _counts(documents: Bags, queries: Bags) -> tuple[Any, Any]:
    """Count the documents' terms in documents and queries; terms only in queries are left out."""
    terms = {
        term: number
        for number, term in enumerate(sorted({term for bag in documents for term in bag}))
    }
    return _matrix(documents, terms), _matrix(queries, terms)


def _matrix(bags: Bags, terms: dict[str, int]) -> Any:
    cells = [(row, terms[term]) for row, bag in enumerate(bags) for term in bag if term in terms]
    rows, columns = np.array(cells, dtype=np.intp).reshape(-1, 2).T
    return sparse.coo_matrix(
        (np.ones(len(cells)), (rows, columns)), shape=(len(bags), len(terms))
    ).tocsr()


def _unit(vectors: Any) -> Any:
    lengths = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    return (sparse.diags(1 / np.where(lengths > 0, lengths, 1.0)) @ vectors).tocsr()


def _dense(matrix: Any) -> Scores:
    return cast("Scores", np.asarray(matrix.toarray(), dtype=np.float64))
