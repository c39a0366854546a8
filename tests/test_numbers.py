"""Whole numbers that no database holds are 404 or refused: in addresses, parameters and fields."""

import re
from typing import Any

from django.db import transaction
from django.urls import URLPattern, get_resolver, resolve
from django.urls.converters import IntConverter
from lxml import html

from tests.hostile import asked_parameters
from tests.test_access import Filled, address, answer_to, filled, named_views
from tests.test_structure import PACKAGES, all_patterns

__all__ = ["filled"]
HUGE = (2**63, 2**64, 10**30)
LONGEST = 10**18 - 1


def own_patterns() -> list[URLPattern]:
    """Return the patterns of our apps."""
    patterns = all_patterns(get_resolver())
    return [one for one in patterns if one.callback.__module__.split(".")[0] in PACKAGES]


def paths_with_numbers(filled: Filled) -> list[str]:
    """Return the address of each URL that has a number, with %s in its place."""
    paths = []
    for name, _ in named_views(get_resolver().url_patterns):
        path = address(name, filled.public, filled.run.pk)
        match = resolve(path.partition("?")[0])
        if "<number:" in match.route:
            route = re.sub(r"<number:\w+>", "%s", match.route)
            for key, value in match.kwargs.items():
                route = re.sub(rf"<\w+:{key}>", lambda _, text=str(value): text, route)
            paths.append(f"/{route}")
    return paths


def status(filled: Filled, method: str, path: str, **sent: Any) -> int:
    """Return the status of an organizer's request, after what it wrote is undone."""
    with transaction.atomic():
        answer = answer_to(method, path, filled.cookies["organizer"], **sent)
        transaction.set_rollback(True)
    return int(answer.status_code)


def test_every_number_of_an_address_has_our_converter():
    found = [
        str(pattern.pattern)
        for pattern in own_patterns()
        for converter in pattern.pattern.converters.values()
        if type(converter) is IntConverter
    ]
    assert found == []


def test_a_number_that_no_database_holds_is_the_address_of_no_page(filled, db):
    paths = paths_with_numbers(filled)

    assert len(paths) > 50
    for path in paths:
        for number in HUGE:
            asked = path.replace("%s", str(number))
            for method in ("GET", "POST"):
                assert status(filled, method, asked) == 404, asked
        longest = path.replace("%s", str(LONGEST))
        assert status(filled, "GET", longest) < 500, longest


def test_a_parameter_that_no_database_holds_is_no_server_error(filled, db):
    for name, view in named_views(get_resolver().url_patterns):
        path = address(name, filled.public, filled.run.pk)
        for number in HUGE[1:]:
            asked = dict.fromkeys(asked_parameters(view), str(number))
            assert status(filled, "GET", path, data=asked) < 500, (path, asked)


def test_a_field_that_no_database_holds_is_refused(filled, db):
    forms = 0
    for name, view in named_views(get_resolver().url_patterns):
        if "GET" not in getattr(getattr(view, "page", None), "methods", ()):
            continue
        path = address(name, filled.public, filled.run.pk)
        page = answer_to("GET", path, filled.cookies["organizer"])
        if page.status_code != 200 or "text/html" not in page.get("Content-Type", ""):
            continue
        for form in html.fromstring(page.content).forms:
            fields = {
                field: HUGE[2] if is_number(form.inputs[field], value) else value
                for field, value in form.form_values()
            }
            numbers = dict.fromkeys(form.fields.keys(), HUGE[2])
            for sent in (fields, numbers):
                if form.method == "POST":
                    forms += 1
                    assert status(filled, "POST", form.action or path, data=sent) < 500, (
                        path,
                        sent,
                    )
    assert forms > 100


def is_number(field: Any, value: str) -> bool:
    """Return whether a field of a form has a whole number."""
    return getattr(field, "type", "") == "number" or value.isdigit()
