"""Several requests at once at a served lab: the database decides who was first."""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest

from tests.databases import UseDatabase
from tests.faults.judging import Seat, Served, served_lab


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, use_tested_database: UseDatabase
) -> Iterator[Served]:
    """Serve a lab on the kind of database that the tests run on; two assessors share each topic."""
    folder = tmp_path_factory.mktemp("served")
    use_tested_database(folder)
    database = (folder / "database").read_text() if os.environ.get("DATABASE_URL") else None
    with served_lab(folder, database, items=5) as lab:
        yield lab


def at_once(asked: Sequence[tuple[Seat, str, str, Any]]) -> list[Any]:
    """Ask all at the same moment, and give the answers."""
    start = Barrier(len(asked))

    def ask(seat: Seat, method: str, path: str, body: Any) -> Any:
        start.wait()
        return seat.ask(method, path, body)

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(lambda one: ask(*one), asked))


def submits(
    seat: Seat, item: Any, *labels: Sequence[int | None]
) -> list[tuple[Seat, str, str, Any]]:
    """Return a submit for each row of labels, one per instance; None leaves an instance out."""
    bodies = [
        [
            {"instance": one["instance"], "label": label, "key": str(uuid4()), "seen": _seen(one)}
            for one, label in zip(item["instances"], row, strict=True)
            if label is not None
        ]
        for row in labels
    ]
    place = {"item": item["item"], "lease": item["lease"]}
    return [(seat, "POST", "judgments/", place | {"judgments": body}) for body in bodies]


def _seen(instance: Any) -> int | None:
    return instance["judgment"] and instance["judgment"]["judgment"]


def stored(served: Served, item: Any) -> list[tuple[int, bool]]:
    """Return the labels of an item as they are stored, and whether each counts."""
    query = (
        "SELECT j.label, j.is_current FROM assessment_judgment j"
        " JOIN assessment_poolinstance i ON i.id = j.instance_id"
    )
    return [
        (label, bool(counts))
        for label, counts in served.rows(f"{query} WHERE i.item_id = {item['item']} ORDER BY j.id")
    ]


def is_done(served: Served, item: Any) -> bool:
    """Return whether an item is done."""
    return (
        served.rows(f"SELECT done_at FROM assessment_poolitem WHERE id = {item['item']}")[0][0]
        is not None
    )


def test_equal_submits_at_once_are_stored_once_with_the_same_answer(served: Served) -> None:
    seat = Seat(served, 2)
    item = seat.ask("GET", "next/")["item"]

    answers = at_once(submits(seat, item, [3]) * 4)

    assert (
        len(
            {
                json.dumps([answer["saved"], answer["done"], answer["next"]["item"]])
                for answer in answers
            }
        )
        == 1
    )
    assert stored(served, item) == [(3, True)]
    assert is_done(served, item)


def test_of_labels_for_one_item_at_once_one_counts_and_all_are_kept(served: Served) -> None:
    seat = Seat(served, 4)
    item = seat.ask("GET", "next/")["item"]

    answers = at_once(submits(seat, item, [0], [1], [2], [3]))

    assert sorted(answer["saved"][0]["counts"] for answer in answers) == [False, False, False, True]
    kept = stored(served, item)
    assert sorted(label for label, _ in kept) == [0, 1, 2, 3]
    assert sum(counts for _, counts in kept) == 1


def test_labels_for_the_parts_of_an_item_at_once_make_it_done(served: Served) -> None:
    seat = Seat(served, 0)
    for _ in range(5):
        item = seat.ask("GET", "next/")["item"]

        answers = at_once(submits(seat, item, [1, None, None], [None, 2, None], [None, None, 3]))

        assert all(answer["saved"][0]["counts"] for answer in answers)
        assert any(answer["done"] for answer in answers)
        assert is_done(served, item)


def test_of_changes_of_one_label_at_once_one_counts(served: Served) -> None:
    seat = Seat(served, 8)
    item = seat.ask("GET", "next/")["item"]
    at_once(submits(seat, item, [3]))
    again = seat.ask("GET", f"items/{item['item']}/")

    answers = at_once(submits(seat, again, [0], [1], [2], [1]))

    assert sorted(answer["saved"][0]["counts"] for answer in answers) == [False, False, False, True]
    kept = stored(served, item)
    assert (len(kept), sum(counts for _, counts in kept)) == (5, 1)


def test_assessors_of_one_topic_who_ask_at_once_get_different_items(served: Served) -> None:
    both = [Seat(served, 10), Seat(served, 11)]

    answers = at_once([(seat, "GET", "next/", None) for seat in both])

    assert sorted(answer["item"]["position"] for answer in answers) == [1, 2]


def test_assessors_of_one_topic_judge_each_item_once(served: Served) -> None:
    both = [Seat(served, 14), Seat(served, 15)]
    items = [answer["item"] for answer in at_once([(seat, "GET", "next/", None) for seat in both])]
    judged = []
    while any(items):
        pairs = [(seat, item) for seat, item in zip(both, items, strict=True) if item]
        answers = at_once([submits(seat, item, [2])[0] for seat, item in pairs])
        judged += [item["position"] for _, item in pairs]
        following = dict(
            zip([seat for seat, _ in pairs], [answer["next"] for answer in answers], strict=True)
        )
        items = [following.get(seat) for seat in both]

    assert sorted(judged) == [1, 2, 3, 4, 5]
