"""Symbol layout strings (stand-in until the whole module joins)."""

import re
from collections.abc import Iterable

_LEAF = re.compile(r"<m([ions])\b[^>]*>([^<]*)<|<(m(?:sup|sub|frac|sqrt|over|under)\b)")


def layout_string(mathml: str) -> str | None:
    """Give the symbol layout string of Presentation MathML; None where it cannot be read."""
    if not mathml or "<math" not in mathml or "merror" in mathml:
        return None
    return " ".join("".join(found) for found in _LEAF.findall(mathml)) or None


def layout_strings(mathml: Iterable[str | None]) -> list[str | None]:
    """Give the symbol layout strings of many."""
    return [layout_string(one) if one else None for one in mathml]
