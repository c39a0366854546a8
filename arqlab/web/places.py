"""Places: pages by what they show, so that an app can link a page of an app above it.

A page declares its place (`Page.shows`) and its tabs. An app that is not installed shows nothing:
links to its places are empty, and its tabs are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from arqlab.web.tabs import Tab

if TYPE_CHECKING:  # models have addresses too, and are there before pages
    from arqlab.web.pages import Page


class Declared(NamedTuple):
    """A page as it is installed: its declaration, the name of its view, its placeholders."""

    page: Page
    view: str
    placeholders: frozenset[str]


class Slugged(Protocol):
    """What addresses name by its slug."""

    @property
    def slug(self) -> str:
        """Return what stands for it in addresses."""


class SluggedTask(Slugged, Protocol):
    """A task with its lab, as addresses name both."""

    @property
    def lab(self) -> Slugged:
        """Return its lab."""


def url_of(place: str, *arguments: object, **named: object) -> str:
    """Return the address of the page that shows a place, or "" if no installed app has it."""
    view = _views().get(place)
    return reverse(view, args=arguments, kwargs=named) if view else ""


def address_of(page: str, *arguments: object) -> str:
    """Return the address of a page, which is named by its view or by its place."""
    return reverse(page, args=arguments) if ":" in page else url_of(page, *arguments)


def task_url(page: str, task: SluggedTask, *more: object) -> str:
    """Return the address of a page of a task, which takes `more` parts of the address."""
    return address_of(page, task.lab.slug, task.slug, *more)


@cache
def tabs_of(thing: str) -> tuple[tuple[Declared, Tab], ...]:
    """Return the tabs of labs or of tasks (`lab`, `task`), in order, and their pages."""
    tabs = [
        (declared, tab)
        for declared in _declared(get_resolver().url_patterns)
        for tab in declared.page.tabs
        if tab.thing == thing
    ]
    return tuple(sorted(tabs, key=lambda each: each[1].order))


@cache
def _views() -> Mapping[str, str]:
    pages = _declared(get_resolver().url_patterns)
    return {each.page.shows: each.view for each in pages if each.page.shows}


def _declared(patterns: list[URLPattern | URLResolver], namespace: str = "") -> Iterator[Declared]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{pattern.namespace}:" if pattern.namespace else namespace
            yield from _declared(pattern.url_patterns, inner)
        elif page := getattr(pattern.callback, "page", None):
            names = frozenset(pattern.pattern.converters)
            yield Declared(page, f"{namespace}{pattern.name}", names)
