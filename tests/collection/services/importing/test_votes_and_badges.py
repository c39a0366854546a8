"""Tallies of votes and badges."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.dumps.records import BadgeRecord
from collection.services.importing.related_rows import BADGES, Tally

KINDS = st.sampled_from([*BADGES, "wooden"])
AUTHORS = st.integers(-1, 5) | st.just(10**18 - 1)


@given(st.lists(st.tuples(AUTHORS, KINDS), max_size=60))
def test_a_tally_counts_like_a_plain_loop(rows):
    tally = Tally(BADGES, "author_id")
    for author, kind in rows:
        tally.append(BadgeRecord("", str(author), kind, None))
    ids, sums = tally.sums()

    expected = Counter((str(author), kind) for author, kind in rows if kind in BADGES)
    found = {
        (row_id, kind): int(n)
        for row_id, row in zip(ids, sums, strict=True)
        for kind, n in zip(BADGES, row, strict=True)
    }
    assert {key: count for key, count in found.items() if count} == expected
    assert (len(tally), tally.others) == (len(rows), len(rows) - expected.total())
