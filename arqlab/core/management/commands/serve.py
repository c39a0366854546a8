"""`manage.py serve`: migrate the database and serve ArqLab."""

from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.conf import settings
from django.core.checks import Error, register
from django.core.management import call_command
from django.core.management.base import BaseCommand
from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker

from arqlab.core.hashing import PasswordHasher, Turns
from arqlab.schedule import start_schedule
from arqlab.web import static_files


class Command(BaseCommand):
    """Migrate, then serve with gunicorn.

    In embedded mode, scheduled tasks run in the web process.
    """

    help = "Migrate the database and serve ArqLab."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options for the address and the number of processes and threads."""
        parser.add_argument(
            "--bind", default="127.0.0.1:8000", help="Address and port (default: %(default)s)."
        )
        parser.add_argument(
            "--workers",
            type=int,
            default=1 if settings.EMBEDDED else 2,
            help="Web processes (default: %(default)s); more than 1 need REDIS_URL.",
        )
        parser.add_argument(
            "--threads",
            type=int,
            default=8,
            help="Threads per web process (default: %(default)s). Use 1 only behind a proxy that"
            " buffers requests.",
        )

    def get_check_kwargs(self, options: dict[str, Any]) -> Any:
        """Let the system checks refuse these options together with the settings."""
        register(partial(check_workers, options["workers"]))
        return super().get_check_kwargs(options)

    def handle(self, **options: Any) -> None:
        """Serve until a signal stops the process."""
        call_command("migrate", interactive=False, verbosity=0)
        static_files.collect()
        Server(
            {
                "bind": options["bind"],
                # With one thread, no connection is kept open, and the kernel's queue is fair to all
                # clients.
                "worker_class": "gthread" if options["threads"] > 1 else "sync",
                "workers": options["workers"],
                "threads": options["threads"],
                "timeout": 120,
                "graceful_timeout": 20,
                "loglevel": "warning",
                "when_ready": lambda server: self.print_ready(options["bind"]),
                "post_worker_init": start_schedule_in if settings.EMBEDDED else lambda worker: None,
            }
        ).run()

    def print_ready(self, bind: str) -> None:
        """Print the address when the server is listening."""
        place = "the web process" if settings.EMBEDDED else "Celery workers"
        self.stdout.write(f"ArqLab is running at http://{bind}/ (tasks run in {place}).")
        self.stdout.flush()


def check_workers(workers: int, app_configs: object, **_: Any) -> list[Error]:
    """Return an error for several web processes in embedded mode: each would run the tasks."""
    if workers == 1 or not settings.EMBEDDED:
        return []
    return [
        Error(
            f"--workers is {workers}, but REDIS_URL is not set. Expected: 1 web process, because it"
            " runs the background tasks.",
            hint="Leave out --workers, or set REDIS_URL and start a Celery worker and beat.",
            id="arqlab.workers",
        )
    ]


class Server(BaseApplication):
    """Gunicorn with our application and options, without a configuration file."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        super().__init__()

    def load_config(self) -> None:
        """Pass the options to gunicorn."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the WSGI application, loaded in the worker after the fork.

        Its threads share the turns to hash passwords.
        """
        PasswordHasher.turns = Turns(self.options["threads"])
        from arqlab.wsgi import application

        return application


def start_schedule_in(worker: Worker) -> None:
    """Start the schedule in gunicorn's worker process, because threads do not survive a fork."""
    start_schedule()
