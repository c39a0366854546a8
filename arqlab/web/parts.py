"""Parts of pages: an app adds to a page of an app below it, which names its places."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest


class PagePart(NamedTuple):
    """What stands at a place of a page: a template, and what it shows of the page's subject.

    `context` gets the request and the subject, such as a run; the part is missing without any.
    """

    template: str
    context: Callable[[HttpRequest, object], Mapping[str, object]]


PARTS: dict[str, list[PagePart]] = defaultdict(list)
"""The parts at each place; the `parts.py` of each app declares its own."""


def declare_part(
    place: str, template: str, context: Callable[[HttpRequest, Any], Mapping[str, object]]
) -> None:
    """Declare what stands at a place, behind the parts of apps below."""
    PARTS[place].append(PagePart(template, context))
