"""How the commands on collections read what they are given."""

from __future__ import annotations

from argparse import ArgumentTypeError

from arqlab.formats.labs.tables import slug_text


def collection_slug(text: str) -> str:
    """Read the slug of a collection, as a lab's folder may name it. Raises `ArgumentTypeError` with
    what is expected.
    """
    try:
        return slug_text(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:80]!r} is no slug. Write {error}.") from error
