"""Attributes of tags: parse them from hostile HTML and rewrite the allowed ones."""

from __future__ import annotations

import re
from html import escape, unescape

from arqkit.texts.html.allowed_html import ATTRIBUTES, ID
from arqkit.texts.posts.addresses import SITE

_ATTRIBUTE = re.compile(r"""([a-zA-Z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SCHEME = re.compile(r"(?:(https?):)?//(?=[^/\\\s])", re.IGNORECASE)
_ON_SITE = re.compile(r"/(?![/\\])")


def kept_value(element: str, name: str, value: str) -> str | None:
    """Return the allowed part of an attribute's value, or None to drop the attribute."""
    if element == "span":
        allowed = "math-container" if name == "class" else ID
        return value if re.fullmatch(allowed, value) else None
    if name in ("href", "src"):
        value = web_address(value)
    known = ATTRIBUTES[element][name]
    # The proof reads the escaped value.
    return value if re.fullmatch(known, escape(value)) else None


def web_address(value: str) -> str:
    """Return a web address as https:// or http://, or ""; paths belong to the data dump's site."""
    value = re.sub(r"[\x00-\x1f\x7f]", "", value).strip()
    if _ON_SITE.match(value):
        return SITE + value
    scheme = _SCHEME.match(value)
    return f"{(scheme[1] or 'https').lower()}://{value[scheme.end() :]}" if scheme else ""


def element_id(tag: str) -> str:
    """Return the id of a tag, or "" if it has none that is allowed."""
    value = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(tag)}.get("id", "")
    return value if re.fullmatch(ID, value) else ""


def written_attributes(name: str, rest: str) -> str:
    """Return the allowed attributes of a tag, rewritten; `rest` is its source after the name."""
    known = ATTRIBUTES.get(name)
    if not known or not rest:
        return ""
    given: dict[str, str] = {}
    for key, double, single, bare in _ATTRIBUTE.findall(rest):
        value = unescape(double or single or bare)
        if key.lower() in known and (kept := kept_value(name, key.lower(), value)) is not None:
            given.setdefault(key.lower(), escape(kept))
    return "".join(f' {key}="{value}"' for key, value in given.items())
