"""Votes: judgments only, binary labels, confusion matrices."""

from hypothesis import given
from sklearn.metrics import confusion_matrix as peer

from arqkit.agreement.votes import binarized, confusion_matrix, judgments_only
from arqkit.protocols.scales import ARQMATH, NTCIR
from tests.arqkit.agreement.tables import tables, votes_of


def test_labels_that_are_not_judgments_are_no_votes():
    votes = judgments_only(votes_of([(3, 5), (6, 0)]), ARQMATH)

    assert votes.rows() == [("i0", "a", 3), ("i1", "b", 0)]


def test_high_and_medium_are_relevant_in_h_m_binarization():
    votes = binarized(votes_of([(3, 2), (1, 0)]), relevant_from=2)

    assert votes["label"].to_list() == [1, 1, 0, 0]


def test_a_confusion_matrix_has_all_judgments_in_the_order_of_the_scale():
    votes = votes_of([(3, 3), (3, 2), (0, 2), (1, None), (5, 0)])

    assert confusion_matrix(votes, "a", "b", scale=ARQMATH) == (
        (1, 1, 0, 0),
        (0, 0, 0, 0),
        (0, 0, 0, 0),
        (0, 1, 0, 0),
    )


@given(tables(labels=5, assessors=(2, 3)))
def test_a_confusion_matrix_is_that_of_scikit_learn(rows):
    common = [(row[0], row[1]) for row in rows if None not in row[:2]]
    first, second = ([pair[side] for pair in common] for side in (0, 1))
    labels = [4, 3, 2, 1, 0]
    expected = peer(first, second, labels=labels).tolist() if common else [[0] * 5] * 5

    found = confusion_matrix(votes_of(rows), "a", "b", scale=NTCIR)
    assert [list(row) for row in found] == expected


@given(tables(assessors=(2, 2)))
def test_exchanged_assessors_transpose_the_confusion_matrix(rows):
    votes = votes_of(rows)
    found = confusion_matrix(votes, "a", "b", scale=ARQMATH)

    exchanged = confusion_matrix(votes, "b", "a", scale=ARQMATH)
    assert exchanged == tuple(zip(*found, strict=True))
