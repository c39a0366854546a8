"""The beat schedule inside the web process: what `celery beat` and a worker do where there is a
Redis.
"""

import logging
import threading
import time

from django.db import close_old_connections

from arqlab.celery import app

logger = logging.getLogger(__name__)


def start_schedule() -> threading.Thread:
    """Start a thread that runs each task of the beat schedule at its interval, and give the thread."""
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
        # apply(), not the function itself: limits and logging are then the worker's.
        app.tasks[task].apply(throw=True)
    except Exception:
        logger.exception("The scheduled task %s failed.", task)
    finally:
        close_old_connections()
