"""The scheduled tasks in the web process, in place of Celery beat and a worker."""

import logging
import threading
import time
from collections.abc import Iterable

from django.db import close_old_connections

from arqlab.celery import app

SLOW = ("run-waiting-jobs", "certify-boards")
logger = logging.getLogger(__name__)


def start_schedule() -> threading.Thread:
    """Start a thread that runs each scheduled task at its interval, and return the thread.

    Jobs may take hours and certificates half a minute, so they have a thread of their own.
    """
    # Before the threads start: Celery cannot register tasks in two threads at once.
    app.loader.import_default_modules()
    app.finalize()
    slow = [name for name in app.conf.beat_schedule if name in SLOW]
    rest = [name for name in app.conf.beat_schedule if name not in SLOW]
    threading.Thread(target=_run_schedule, args=[slow], name="jobs", daemon=True).start()
    thread = threading.Thread(target=_run_schedule, args=[rest], name="schedule", daemon=True)
    thread.start()
    return thread


def _run_schedule(names: Iterable[str]) -> None:
    app.loader.import_default_modules()
    due = dict.fromkeys(names, time.monotonic())
    while True:
        for name in due:
            entry = app.conf.beat_schedule[name]
            if time.monotonic() >= due[name]:
                _run(entry["task"])
                due[name] = time.monotonic() + entry["schedule"]
        time.sleep(0.5)


def _run(task: str) -> None:
    close_old_connections()
    try:
        # apply() instead of a plain call keeps the worker's limits and logging.
        app.tasks[task].apply(throw=True)
    except Exception:
        logger.exception("Scheduled task %s failed.", task)
    finally:
        close_old_connections()
