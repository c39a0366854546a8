"""Whether assessors may follow the answers of a topic to their threads."""

from __future__ import annotations

from django.db import connection

_POSTGRESQL = """(pool.settings -> 'includes_generated_answers')::boolean
        AND NOT COALESCE((pool.settings -> 'shows_threads')::boolean, FALSE)"""
_SQLITE = """json_extract(pool.settings, '$.includes_generated_answers')
        AND NOT COALESCE(json_extract(pool.settings, '$.shows_threads'), 0)"""


def hides_threads_sql(vendor: str) -> str:
    """Return the SQL of `hides_threads`, a condition on the parameter `topic`."""
    return f"""EXISTS (
    SELECT 1 FROM core_topic topic
    JOIN core_task task ON task.id = topic.task_id
    JOIN core_task other ON other.lab_id = task.lab_id AND other.kind = 'written-answers'
    JOIN assessment_pool pool ON pool.task_id = task.id
    WHERE topic.id = %(topic)s AND {_POSTGRESQL if vendor == "postgresql" else _SQLITE}
)"""  # noqa: S608  # our words


def hides_threads(topic_id: int) -> bool:
    """Return whether the threads of a topic's answers are hidden from those who judge them.

    They are if generated answers, which have no thread, are judged among the posts of the task,
    unless the organizers chose to keep the links (`PoolProtocol.shows_threads`).
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {hides_threads_sql(connection.vendor)}", {"topic": topic_id})
        return bool(cursor.fetchone()[0])
