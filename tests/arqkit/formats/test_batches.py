"""Rows come in lists of a size, each once and in order."""

from itertools import count

from arqkit.formats.batches import in_slices


def test_every_row_is_in_one_slice_and_only_the_last_is_shorter():
    assert list(in_slices(range(5), size=2)) == [[0, 1], [2, 3], [4]]
    assert not list(in_slices([], size=2))


def test_no_more_rows_are_read_than_are_asked_for():
    rows = count()
    assert next(in_slices(rows, size=3)) == [0, 1, 2]
    assert next(rows) == 3
