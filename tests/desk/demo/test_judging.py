"""The plan of the demo's judging in `judging.toml` is consistent."""

from collections import Counter

import pytest

from arqkit.formats.labs.folder import TaskFile
from desk.demo.judging import DemoPool, read_pools, read_tickets

POOLS = read_pools()


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: pool.task)
def test_every_topic_belongs_to_the_task_and_to_one_assessor(
    pool: DemoPool, tasks: dict[str, TaskFile]
) -> None:
    given = Counter(topic for share in pool.shares for topic in share.topics)

    assert given.keys() < {topic.query_id for topic in tasks[pool.task].topics}
    assert set(given.values()) == {1}


@pytest.mark.parametrize("pool", POOLS, ids=lambda pool: pool.task)
def test_topics_are_done_begun_or_waiting(pool: DemoPool) -> None:
    for kind in ("done", "started", "waiting"):
        assert any(getattr(share, kind) for share in pool.shares)


def test_one_ticket_is_open_and_another_is_answered() -> None:
    assert Counter(bool(ticket.answer) for ticket in read_tickets()) == {False: 1, True: 1}


def test_tickets_are_about_items_without_a_judgment(tasks: dict[str, TaskFile]) -> None:
    [complete] = [qrels.frame for qrels in tasks["task1"].qrels if qrels.name == "complete"]
    unjudged = {(topic, item) for topic, item, label in complete.iter_rows() if label > 4}

    assert {(ticket.topic, ticket.item) for ticket in read_tickets()} <= unjudged
