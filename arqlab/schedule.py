"""The scheduled tasks in the web process, in place of Celery beat and a worker."""

import logging
import threading
import time

from django.db import close_old_connections

from arqlab.celery import app

logger = logging.getLogger(__name__)


def start_schedule() -> threading.Thread:
    """Start a thread that runs each scheduled task at its interval, and return the thread."""
    thread = threading.Thread(target=_run_schedule, name="schedule", daemon=True)
    thread.start()
    return thread


def _run_schedule() -> None:
    app.loader.import_default_modules()
    due = dict.fromkeys(app.conf.beat_schedule, time.monotonic())
    while True:
        for name, entry in app.conf.beat_schedule.items():
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
