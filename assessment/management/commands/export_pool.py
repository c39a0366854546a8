"""`manage.py export_pool LAB/TASK`: print a frozen pool, byte for byte as it was hashed."""

from typing import Any

from arqlab.core.management.labcommand import TASK, LabCommand
from arqlab.core.selectors import task_named
from assessment.pools.selectors.frozen import pool_file, pool_numbered


class Command(LabCommand):
    """Print a frozen pool as TSV: topic, position, kind, item, doc_id, post_id.

    The SHA-256 of the output is the pool's hash.
    """

    changes_labs = False

    arguments = {
        "task": TASK,
        "--pool": {
            "type": int,
            "default": 1,
            "metavar": "N",
            "help": "number of a supplement (default: the pool)",
        },
    }

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the file."""
        pool = pool_numbered(task_named(options["task"]), options["pool"])
        self.stdout.write(pool_file(pool).decode(), ending="")
