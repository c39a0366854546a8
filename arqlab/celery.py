"""The Celery application, from which tasks import it.

`arqlab/__init__.py` stays empty, so that the kernel does not import Celery.
"""

import logging
import logging.config
import os
import queue
import threading
from collections.abc import Callable
from functools import cache, partial
from inspect import signature
from multiprocessing.connection import Connection
from typing import ParamSpec, TypedDict, Unpack

from celery import Celery, Task
from celery.signals import setup_logging, task_postrun, task_prerun, worker_init
from kombu.exceptions import OperationalError
from structlog.contextvars import bind_contextvars, get_contextvars, reset_contextvars

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")

app = Celery("arqlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
logger = logging.getLogger(__name__)
NICENESS = 10
"""Pages come first where they and background work want the same core."""

_background: Connection | None = None
P = ParamSpec("P")
Message = tuple[Task[..., None], tuple[object, ...], dict[str, str]]
"""A task, its arguments, and the id of the request that asks for it."""


class TaskOptions(TypedDict, total=False):
    """Options of a task: the name of its queue, if it is not the default, and the seconds after
    which its worker ends.
    """

    lane: str
    time_limit: int


def packages_with_tasks() -> list[str]:
    """Return the packages of the installed apps that have a module of tasks."""
    from arqlab.apps import lab_apps

    names = [name for app in lab_apps() for name in app.modules_named("tasks")]
    return [name.rpartition(".")[0] for name in names]


app.autodiscover_tasks(packages_with_tasks)


def scheduled(
    *, every: float, **options: Unpack[TaskOptions]
) -> Callable[[Callable[P, None]], Task[P, None]]:
    """Declare a task that is due `every` so many seconds.

    While no worker runs, messages must not pile up, so each expires when the next is due.
    """

    def declared(function: Callable[P, None]) -> Task[P, None]:
        name = f"{function.__module__}.{function.__name__}"
        entry = {"task": name, "schedule": every, "options": {"expires": every}}
        app.conf.beat_schedule[name] = entry
        task: Task[P, None] = app.task(name=name, **options)(function)
        return task

    return declared


def lane_of(name: str, *_: object, **__: object) -> str:
    """Return the queue of a task, in embedded mode its thread."""
    return str(getattr(app.tasks[name], "lane", app.conf.task_default_queue))


@setup_logging.connect
def use_our_log(**_: object) -> None:
    """Let workers log as web processes do, instead of setting up a log of their own."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_init.connect
def let_pages_go_first(**_: object) -> None:
    """Lower the priority of this process and of its child processes.

    On one machine, a pool of 60,000 items must not slow the next page of an assessor down.
    """
    os.nice(NICENESS)


@task_prerun.connect
def name_in_log(task: Task[..., object], **_: object) -> None:
    """Name the task in the log, with the id of the request that asked for it."""
    before = bind_contextvars(task=task.name, **(task.request.headers or {}))
    task.request.update(log_context=before)


@task_postrun.connect
def end_name_in_log(task: Task[..., object], **_: object) -> None:
    """Log as before the task."""
    reset_contextvars(**task.request.get("log_context"))


def wake_after_commit(task: Task[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
    """Wake up a worker for a task after the commit, when it can see what there is to do.

    A request neither fails nor waits when Redis is down or hangs: another thread sends the message.
    A lost one does no harm, because the scheduled tasks find the work in the database. In embedded
    mode, the message goes to the server's background process; a command does the task at once.
    """
    from django.db import transaction

    # A message has the arguments by position, whichever way they were written.
    placed = signature(task.run).bind(*args, **kwargs).args
    send = partial(task.delay, *placed) if runs_at_once() else partial(_put, task, placed)
    # After the commit: a worker that was faster would not find the row.
    transaction.on_commit(send)


def runs_at_once() -> bool:
    """Return whether this process does the tasks that it wakes a worker for."""
    return app.conf.task_always_eager and _background is None


def send_to_background(process: Connection) -> None:
    """Let this web process send its messages to the background process of its server."""
    global _background
    _background = process


def _put(task: Task[..., None], args: tuple[object, ...]) -> None:
    try:
        # Never waits: a request must be answered even if Redis hangs and the queue is full.
        _messages().put_nowait((task, args, _request_id()))
    except queue.Full:
        logger.warning("Nobody takes messages. %s waits for the schedule.", task.name)


def _request_id() -> dict[str, str]:
    return {key: value for key, value in get_contextvars().items() if key == "request_id"}


@cache
def _messages() -> queue.Queue[Message]:
    """Return the queue of this process, and start the thread that sends what is put into it."""
    waiting: queue.Queue[Message] = queue.Queue(maxsize=1_000)
    threading.Thread(target=_send, args=[waiting], name="messages", daemon=True).start()
    return waiting


def _send(waiting: queue.Queue[Message]) -> None:
    while True:
        task, args, headers = waiting.get()
        if _background:
            _background.send((task.name, args, headers))
            continue
        try:
            task.apply_async(args, retry=False, headers=headers)
        except OperationalError as problem:
            logger.warning("%s waits for the schedule: no message sent. %s", task.name, problem)
