"""Email addresses in pasted text: every page where people paste several reads them here."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_LENGTH = 254  # of an email address
_PARTS = re.compile(r'"[^"]*"|<[^<>]*>|[,;]|[^\s,;<>"]+|[<>"]')


class PastedAddress(NamedTuple):
    """An address in pasted text, or what stands in the place of one, and its line."""

    line: int
    text: str

    @property
    def is_valid(self) -> bool:
        """Return whether it is an email address."""
        try:
            validate_email(self.text)
        except ValidationError:
            return False
        return len(self.text) <= MAX_LENGTH


def pasted_addresses(text: str) -> list[PastedAddress]:
    """Return the addresses in pasted text in their order, with all else that is not a name.

    Commas, semicolons, spaces and line breaks separate addresses. Words before an address in angle
    brackets, as mail programs write them, are a name, also with a comma: `Lovelace, Ada
    <ada@example.org>`. Nothing else is left out, so that nobody is left out without a word.
    """
    lines = enumerate(text.splitlines(), start=1)
    return [PastedAddress(line, part) for line, text in lines for part in _addresses(text)]


def without_repeated(addresses: Iterable[PastedAddress]) -> tuple[list[str], list[PastedAddress]]:
    """Return the distinct addresses, ignoring case, and those that repeat an earlier one."""
    first: dict[str, str] = {}
    repeated = []
    for address in addresses:
        if address.text.lower() in first:
            repeated.append(address)
        first.setdefault(address.text.lower(), address.text)
    return list(first.values()), repeated


def _addresses(line: str) -> Iterator[str]:
    """Yield the addresses of a line, and the words that belong to none."""
    words: list[str] = []
    for part in _PARTS.findall(line):
        if part.startswith("<") and len(part) > 1:
            address = part[1:-1].strip()
            yield from (word for word in words if "@" in word and word.strip('"') != address)
            yield address or part
            words = []
        elif part == ";":
            yield from words
            words = []
        elif part != ",":
            words.append(part)
    yield from words
