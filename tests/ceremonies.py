"""Ceremonies in tests: see the page, then send its form with what it showed."""

from typing import Any

from django.http import HttpResponse
from django.test import Client


def confirmed(client: Client, address: str, **fields: Any) -> HttpResponse:
    """Open the page of a ceremony, press its button, and follow the redirect.

    A field of the page's forms that `fields` does not name is sent as the page filled it in.
    """
    page = client.get(address, {"qrels": fields["qrels"]} if "qrels" in fields else {})
    forms = [page.context.get(name) for name in ("form", "topics_form", "runs_form")]
    filled = {field.html_name: field.value() for form in forms if form for field in form}
    sent = {name: value for name, value in filled.items() if value not in (None, False)}
    return client.post(address, sent | seen(page) | fields, follow=True)


def seen(page: HttpResponse) -> dict[str, str]:
    """Return the fields by which a page shows that its user saw and acknowledged the checks."""
    return {"seen": page.context["ceremony"].digest, "acknowledged": "yes"}


def sentences(page: HttpResponse) -> list[str]:
    """Return the oddities on a page."""
    return [oddity.sentence for oddity in page.context["ceremony"].oddities]
