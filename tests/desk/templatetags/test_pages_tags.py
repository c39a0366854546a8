from arqlab.core.models import Task
from arqlab.labs.selectors import TaskRow
from desk.templatetags.desk_tags import open_first, release_first


def row(pk: int, state: str) -> TaskRow:
    return TaskRow(task=Task(pk=pk), state=state, topics=1)


def keys(tasks: list[TaskRow]) -> list[int]:
    return [task.task.pk for task in tasks]


def test_a_team_sees_open_tasks_first():
    assert keys(
        open_first([row(1, "closed"), row(2, "upcoming"), row(3, "open"), row(4, "open")])
    ) == [3, 4, 1, 2]


def test_an_organizer_sees_unreleased_tasks_first_and_then_open_ones():
    tasks = [row(1, "closed"), row(2, "open"), row(3, "closed"), row(4, "closed")]

    assert keys(release_first(tasks, {1: "released", 2: "hidden", 3: "waiting", 4: "hidden"})) == [
        4,
        2,
        1,
        3,
    ]
