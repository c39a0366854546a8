"""Disagreements: the items whose votes differ, largest difference first."""

from hypothesis import given

from arqkit.agreement.votes import disagreements
from tests.arqkit.agreement.tables import tables, votes_of


def test_the_largest_difference_comes_first_then_those_about_relevance():
    votes = votes_of([(0, 1), (2, 1), (3, 3), (0, 3, 2), (3, 2), (None, 1, 2), (3, None)])

    assert disagreements(votes, relevant_from=2).rows() == [
        ("i3", 3, 0, 3, 3, True),
        ("i1", 2, 1, 2, 1, True),
        ("i5", 2, 1, 2, 1, True),
        ("i0", 2, 0, 1, 1, False),
        ("i4", 2, 2, 3, 1, False),
    ]


@given(tables())
def test_every_item_with_different_labels_is_listed(rows):
    expected = {}
    for place, row in enumerate(rows):
        labels = [label for label in row if label is not None]
        if len(set(labels)) > 1:
            expected[f"i{place}"] = (max(labels) - min(labels), min(labels) < 2 <= max(labels))

    found = disagreements(votes_of(rows), relevant_from=2)
    assert {row["item"]: (row["spread"], row["is_binary"]) for row in found.to_dicts()} == expected
    assert found["spread"].is_sorted(descending=True)
