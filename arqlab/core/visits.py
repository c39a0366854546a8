"""The writes of a visit. A GET request writes nothing else."""

from collections.abc import Callable
from enum import StrEnum

from django.http import HttpRequest

_WRITES = "arqlab.visits"


class Visit(StrEnum):
    """The writes of a visit, done after the page was made. Django stores the session then, too."""

    NOTICES = "the notices that lead to the page are read"
    COMPUTING = "what the page lacks is computed by a job"
    SESSION = "the session is used"
    TOKEN = "an API token was used"  # noqa: S105


def after_visit(request: HttpRequest, what: Visit, write: Callable[[], object]) -> None:
    """Add a write to be done as soon as the page of a visit was made."""
    request.META.setdefault(_WRITES, {})[what] = write


def write_visit(request: HttpRequest) -> None:
    """Do the writes of a visit."""
    writes = request.META.pop(_WRITES, {})
    for write in writes.values() if request.method != "HEAD" else ():
        write()
