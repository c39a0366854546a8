"""Argument types of the commands on collections."""

from __future__ import annotations

from argparse import ArgumentTypeError

from arqkit.formats.labs.tables import slug_text


def collection_slug(text: str) -> str:
    """Return the slug of a collection, or raise `ArgumentTypeError` if the text is not a slug."""
    try:
        return slug_text(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text[:80]!r} is not a slug. Use {error}.") from error
