"""Visual ids: which instances show the same formula, and which ids stay the same."""

import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arqkit.formulas.layout import layout_strings
from arqkit.formulas.visual_ids import VisualIdMap, visual_map
from tests.agreement import agreement

SCHEMA = {"formula_id": pl.String, "latex": pl.String, "layout": pl.String, "given": pl.String}
Row = tuple[str, str, str | None, str | None]


def instances(*rows: Row) -> pl.DataFrame:
    """Return instances: formula id, LaTeX, layout, given id."""
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def ids(found: VisualIdMap) -> dict[str, str]:
    """Return the map as a dictionary."""
    return dict(found.mapping.iter_rows())


def known(**formulas: str) -> pl.DataFrame:
    """Return a previous map: f1="5" is instance 1 with the id 5."""
    rows = [(name[1:], visual) for name, visual in formulas.items()]
    return pl.DataFrame(
        rows, schema={"formula_id": pl.String, "visual_id": pl.String}, orient="row"
    )


def changes(found: VisualIdMap) -> list[tuple[str, ...]]:
    """Return the changes as rows."""
    return found.changes.rows()


def test_the_same_layout_is_the_same_formula_whatever_the_latex() -> None:
    assert ids(visual_map(instances(("1", "e^x", "S", None), ("2", "e^{x}", "S", None)))) == {
        "1": "1",
        "2": "1",
    }


def test_without_a_layout_the_latex_without_white_space_decides() -> None:
    found = ids(
        visual_map(
            instances(
                ("1", "a + b", None, None), ("2", "a+b ", None, None), ("3", "ab", None, None)
            )
        )
    )

    assert found == {"1": "1", "2": "1", "3": "2"}


def test_an_instance_without_a_layout_takes_the_most_frequent_one_of_its_latex() -> None:
    rows = [
        ("1", "a b", "S", None),
        ("2", "ab", "T", None),
        ("3", "ab", "T", None),
        ("4", " ab", None, None),
    ]
    found = ids(visual_map(instances(*rows)))

    assert found["4"] == found["2"] != found["1"]


def test_html_escapes_in_latex_are_decoded() -> None:
    assert (
        len(
            set(
                ids(
                    visual_map(instances(("1", "a&lt;b", None, None), ("2", "a < b", None, None)))
                ).values()
            )
        )
        == 1
    )


def test_an_empty_cell_is_a_missing_value() -> None:
    assert ids(visual_map(instances(("1", "x", "", ""), ("2", "y", "", "")))) == {
        "1": "1",
        "2": "2",
    }


def test_latex_is_not_mistaken_for_a_layout() -> None:
    assert (
        len(
            set(
                ids(
                    visual_map(instances(("1", "V!x", None, None), ("2", "x", "V!x", None)))
                ).values()
            )
        )
        == 2
    )


def test_given_ids_are_kept_and_others_get_the_most_frequent_id_of_their_formula() -> None:
    rows = [("1", "x", "S", "9"), ("2", "x", "S", "7"), ("3", "x", "S", "7"), ("4", "x", "S", None)]

    assert ids(visual_map(instances(*rows))) == {"1": "9", "2": "7", "3": "7", "4": "7"}


def test_ties_between_given_ids_go_to_the_lowest_formula_id() -> None:
    assert (
        ids(
            visual_map(instances(("2", "", "S", "7"), ("10", "", "S", "3"), ("11", "", "S", None)))
        )["11"]
        == "7"
    )


def test_new_numbers_are_above_all_given_known_and_used_numbers() -> None:
    rows = instances(("1", "x", "S", "40"), ("2", "y", "T", None))

    assert ids(visual_map(rows))["2"] == "41"
    assert ids(visual_map(rows, previous=known(f8="60")))["2"] == "61"
    assert ids(visual_map(rows, above=99))["2"] == "100"


def test_new_numbers_follow_the_formula_ids_as_numbers() -> None:
    rows = [("10", "y", "T", None), ("9", "x", "S", None), ("q_1", "z", "U", None)]

    assert ids(visual_map(instances(*rows))) == {"9": "1", "10": "2", "q_1": "3"}


def test_a_split_keeps_its_id_on_the_larger_part() -> None:
    rows = instances(("1", "", "S", None), ("2", "", "T", None), ("3", "", "T", None))
    found = visual_map(rows, previous=known(f1="5", f2="5", f3="5"))

    assert ids(found) == {"1": "6", "2": "5", "3": "5"}
    assert changes(found) == [("split", "1", "5", "6")]


def test_ties_between_parts_go_to_relevance_then_to_the_lowest_formula_id() -> None:
    rows, before = instances(("9", "", "S", None), ("10", "", "T", None)), known(f9="5", f10="5")
    labels = pl.DataFrame({"formula_id": ["10", "9"], "label": [2, 1]})

    assert ids(visual_map(rows, previous=before, relevance=labels)) == {"9": "6", "10": "5"}
    assert ids(visual_map(rows, previous=before)) == {"9": "5", "10": "6"}


def test_a_merge_keeps_the_id_of_the_larger() -> None:
    rows = instances(("1", "", "S", None), ("2", "", "S", None), ("3", "", "S", None))
    found = visual_map(rows, previous=known(f1="5", f2="8", f3="8"))

    assert set(ids(found).values()) == {"8"}
    assert changes(found) == [("merge", "1", "5", "8")]


def test_a_part_that_moves_to_an_existing_formula_is_a_merge() -> None:
    rows = [(str(number), "", "S" if number < 4 else "T", None) for number in range(1, 7)]
    before = known(f1="5", f2="5", f3="5", f4="5", f5="6", f6="6")

    assert changes(visual_map(instances(*rows), previous=before)) == [("merge", "4", "5", "6")]


def test_a_part_that_leaves_a_formula_with_a_retired_id_is_a_split() -> None:
    rows = [(str(number), "", "T" if number == 3 else "S", None) for number in range(1, 7)]
    before = known(f1="5", f2="5", f3="5", f4="6", f5="6", f6="6")

    assert changes(visual_map(instances(*rows), previous=before)) == [
        ("merge", "1", "5", "6"),
        ("merge", "2", "5", "6"),
        ("split", "3", "5", "7"),
    ]


def test_a_given_id_takes_precedence_over_our_id_with_the_same_number() -> None:
    found = ids(
        visual_map(instances(("1", "", "S", None), ("2", "", "T", "5")), previous=known(f1="5"))
    )

    assert found == {"1": "6", "2": "5"}


def test_a_newly_given_id_is_a_change() -> None:
    found = visual_map(
        instances(("1", "", "S", "77"), ("2", "", "S", None)), previous=known(f1="5", f2="5")
    )

    assert changes(found) == [("merge", "1", "5", "77"), ("merge", "2", "5", "77")]


def test_forms_have_the_most_frequent_values_of_their_instances() -> None:
    rows = [
        ("2", "y", "S", None),
        ("10", "x", "S", None),
        ("11", "x", "S", None),
        ("3", "z", None, None),
    ]
    found = visual_map(instances(*rows)).forms

    assert found.rows() == [("1", "x", "S", 3, "2"), ("2", "z", None, 1, "3")]


def test_the_opinion_lists_what_we_would_merge_and_split() -> None:
    rows = [("1", "x", "S", "7"), ("2", "X", "S", "8"), ("3", "y", "T", "8"), ("4", "z", "U", "9")]
    found = visual_map(instances(*rows)).opinion

    assert found.rows() == [
        ("would merge", ["7", "8"], ["1", "2"], ["x", "X"], 2),
        ("would split", ["8"], ["2", "3"], ["X", "y"], 2),
    ]


def test_no_instances_give_an_empty_map() -> None:
    found = visual_map(instances())

    assert [len(part) for part in found] == [0, 0, 0, 0]


def test_a_repeated_formula_id_counts_once() -> None:
    assert len(visual_map(instances(("1", "x", "S", None), ("1", "x", "S", None))).mapping) == 1


def test_agreement_counts_pairs() -> None:
    found = agreement(pl.DataFrame({"ours": ["a", "a", "a", "b"], "theirs": ["x", "x", "y", "y"]}))

    assert found == (1, 2, 1)
    assert (found.precision, found.recall) == (1 / 3, 1 / 2)


# --- laws

LAYOUTS = st.sampled_from(["S", "T", "U", None])
NUMBERS = st.sampled_from(["1", "2", "10", "30", None])


def tables(given_ids: st.SearchStrategy[str | None]) -> st.SearchStrategy[list[Row]]:
    """Return instances with distinct formula ids, in any order."""
    cells = st.tuples(st.sampled_from(["x", "y", "x y"]), LAYOUTS, given_ids)
    rows = st.lists(cells, max_size=12).map(
        lambda found: [(str(place * 7), *row) for place, row in enumerate(found)]
    )
    return rows.flatmap(st.permutations)


OURS = tables(st.none())
ANY = tables(NUMBERS)


def same(left: VisualIdMap, right: VisualIdMap) -> bool:
    """Return whether two maps are equal in all rows."""
    return all(one.equals(other) for one, other in zip(left, right, strict=True))


@given(ANY, st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_rows_does_not_matter(rows: list[Row], luck: random.Random) -> None:
    before = pl.DataFrame(
        [(row[0], luck.choice("123")) for row in rows],
        schema=["formula_id", "visual_id"],
        orient="row",
    )
    shuffled = luck.sample(rows, len(rows))
    args = {"previous": before.cast(pl.String) if rows else None}

    assert same(visual_map(instances(*rows), **args), visual_map(instances(*shuffled), **args))


@given(ANY)
@settings(max_examples=60, deadline=None)
def test_applying_the_map_again_changes_nothing(rows: list[Row]) -> None:
    first = visual_map(instances(*rows))
    again = visual_map(instances(*rows), previous=first.mapping)

    assert again.mapping.equals(first.mapping)
    assert again.changes.is_empty()


@given(OURS)
@settings(max_examples=60, deadline=None)
def test_without_given_ids_equal_layouts_have_equal_ids(rows: list[Row]) -> None:
    found = ids(visual_map(instances(*rows)))
    with_string = [row for row in rows if row[2]]

    for one in with_string:
        for other in with_string:
            assert (found[one[0]] == found[other[0]]) == (one[2] == other[2])


@given(OURS, OURS)
@settings(max_examples=60, deadline=None)
def test_an_old_id_stays_with_one_part_and_new_ids_are_new(
    rows: list[Row], later: list[Row]
) -> None:
    first = visual_map(instances(*rows))
    second = visual_map(instances(*later), previous=first.mapping)
    old, new = ids(first), ids(second)

    for formula, visual in new.items():
        if visual in old.values():  # then some instance that had it is there
            assert visual in {old[other] for other in old if new.get(other) == visual}, formula
        else:
            assert int(visual) > max(map(int, old.values()), default=0)


@given(OURS, OURS)
@settings(max_examples=60, deadline=None)
def test_every_change_is_listed(rows: list[Row], later: list[Row]) -> None:
    first = visual_map(instances(*rows))
    second = visual_map(instances(*later), previous=first.mapping)
    old, new = ids(first), ids(second)
    moved = {formula for formula in old if formula in new and old[formula] != new[formula]}

    assert {row[1] for row in changes(second)} == moved
    assert all((row[2], row[3]) == (old[row[1]], new[row[1]]) for row in changes(second))


# --- the official ids


@pytest.fixture(scope="module")
def sample(shared_data: Path) -> pl.DataFrame:
    """Return the sample's instances with our ids and the official ones, which we do not see."""
    latex, slt = (
        pl.read_csv(
            shared_data / f"collection/formulas.{form}.tsv.gz", separator="\t", infer_schema=False
        )
        for form in ("latex", "slt")
    )
    rows = latex.select(formula_id="id", latex="formula", theirs="visual_id", slt=slt["formula"])
    layout = pl.Series(layout_strings(rows["slt"]), dtype=pl.String)
    ours = visual_map(rows.with_columns(layout=layout, given=pl.lit(None, pl.String))).mapping
    return rows.join(ours, on="formula_id").rename({"visual_id": "ours"})


def test_our_ids_agree_with_the_official_ones(sample: pl.DataFrame) -> None:
    given_ids = sample.drop_nulls("theirs")
    found = agreement(given_ids)
    same_bytes = agreement(
        given_ids.select(ours=pl.concat_str("slt", pl.lit("\n"), "latex"), theirs="theirs")
    )

    assert len(given_ids) == 29_531
    assert found.recall > 0.999
    # 16,974 pairs have the same SLT and LaTeX but different official ids: no method can separate
    # them.
    assert found.together / (found.together + found.only_ours - same_bytes.only_ours) > 0.998


def test_given_ids_of_the_sample_are_kept(sample: pl.DataFrame) -> None:
    rows = sample.select("formula_id", "latex", layout=pl.lit(None, pl.String), given="theirs")
    kept = visual_map(rows).mapping.join(rows, on="formula_id").drop_nulls("given")

    assert (kept["visual_id"] == kept["given"]).all()
