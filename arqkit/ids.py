"""Ids of topics and items: how a report shows them, and what one in another spelling means."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

QUOTES: Final = "\"'`“”„‘’«» "
_MARKS: Final = {"\ufeff": "⟨BOM⟩"}


def visible(text: str) -> str:
    """Return a text with its invisible characters as `⟨U+00A0⟩`, but for blanks and line ends."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign in "\t\r\n" else _mark(sign) for sign in text)


def _mark(sign: str) -> str:
    return _MARKS.get(sign, f"⟨U+{ord(sign):04X}⟩")


def plain_id(name: str) -> str:
    """Return an id as most collections write it.

    It has no quotation marks around it, no invisible, full-width or URL-encoded characters, and if
    it is a number no leading zeros and no `.0`.
    """
    text = unicodedata.normalize("NFKC", unquote(name))
    text = "".join(sign for sign in text if sign.isprintable()).strip(QUOTES)
    return re.sub(r"^0+(?=[0-9]+$)", "", re.sub(r"^([0-9]+)\.0+$", r"\1", text))


def meant_topics(names: Iterable[str], topics: Iterable[str]) -> dict[str, str]:
    """Return the topic that each name means, by the names that mean one.

    A name means the only topic that differs from it in case, punctuation, leading zeros and what
    `plain_id` ignores. A number alone means the only topic with this number.
    """
    by_key: dict[str, set[str]] = {}
    for topic in topics:
        for key in {_topic_key(topic), _topic_key(re.sub(r"\D", "", topic))} - {""}:
            by_key.setdefault(key, set()).add(topic)
    candidates = {name: by_key.get(_topic_key(plain_id(name)), set()) for name in names}
    return {name: min(alike) for name, alike in candidates.items() if len(alike) == 1}


def _topic_key(name: str) -> str:
    return re.sub(r"[\W_]|(?<!\d)0+(?=\d)", "", name).casefold()
