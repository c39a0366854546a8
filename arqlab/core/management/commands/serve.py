"""`manage.py serve`: bring the database up to date and serve ArqLab."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker

from arqlab.schedule import start_schedule


class Command(BaseCommand):
    """Migrate, then serve by gunicorn; on the embedded default the scheduled tasks run in the same
    process.
    """

    help = "Bring the database up to date and serve ArqLab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to listen and with how much."""
        parser.add_argument(
            "--bind", default="127.0.0.1:8000", help="Address and port (default: %(default)s)."
        )
        parser.add_argument(
            "--workers", type=int, default=2, help="Web processes; the embedded default has one."
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=8,
            help="Threads of each web process; 1 only behind a proxy that takes requests in whole.",
        )

    def handle(self, **options: Any) -> None:
        """Serve until a signal ends it."""
        call_command("migrate", interactive=False, verbosity=0)
        Server(
            {
                "bind": options["bind"],
                # With one thread nothing is kept open, and the kernel's queue gives all who ask the
                # same share.
                "worker_class": "gthread" if options["threads"] > 1 else "sync",
                "workers": 1 if settings.EMBEDDED else options["workers"],
                "threads": options["threads"],
                "timeout": 120,
                "graceful_timeout": 20,
                "loglevel": "warning",
                "when_ready": lambda server: self.say_ready(options["bind"]),
                "post_worker_init": start_schedule_in if settings.EMBEDDED else lambda worker: None,
            }
        ).run()

    def say_ready(self, bind: str) -> None:
        """Print the address once the server listens on it."""
        where = (
            "tasks run in the web process" if settings.EMBEDDED else "tasks run in Celery workers"
        )
        self.stdout.write(f"ArqLab serves http://{bind}/ ({where}).")
        self.stdout.flush()


class Server(BaseApplication):
    """Gunicorn with our application and settings, without a configuration file."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Hand the options to gunicorn."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the WSGI application, loaded in the worker after the fork."""
        from arqlab.wsgi import application

        return application


def start_schedule_in(worker: Worker) -> None:
    """Start the beat schedule once gunicorn's worker process is up (threads do not survive a fork)."""
    start_schedule()
