"""The files of a lab or a task that somebody may download.

Teams and visitors get what is published; organizers can take the whole lab with them.
"""

from arqlab.core.exports import Audience, Export, exports_of_labs, exports_of_task, exports_of_tasks
from arqlab.core.models import Lab, Task
from evaluation.selectors.boards import released_leaderboard


def lab_exports(*, organizes: bool) -> list[Export[Lab]]:
    """Return the files of a lab for people who see the lab, or for its organizers."""
    return [
        export
        for export in _sorted(exports_of_labs())
        if organizes or export.audience == Audience.EVERYONE
    ]


def task_exports(task: Task, *, organizes: bool) -> list[Export[Task]]:
    """Return the files of a task for people who see the task, or for organizers of its lab."""
    audiences = {Audience.EVERYONE}
    if organizes:
        audiences.add(Audience.ORGANIZERS)
    if released_leaderboard(task):
        audiences.add(Audience.AFTER_RELEASE)
    exports = [export for export in exports_of_tasks() if export.exists(task)]
    if organizes:
        exports += exports_of_task(task)
    return _sorted([export for export in exports if export.audience in audiences])


def _sorted(exports: list[Export]) -> list[Export]:
    """Return files with those for organizers last."""
    return sorted(exports, key=lambda export: export.audience == Audience.ORGANIZERS)
