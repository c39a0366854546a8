"""Read TOML and JSON from outside: absurd depth and size are faults of the text, not of the reader.

The parsers of the standard library recurse, and raise errors of their own for huge numbers.
"""

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

DEEPEST = 50
"""The most levels of tables and lists in each other; our own files have five."""
MOST_TOML = 1024 * 1024  # characters
TOO_DEEP = f"more than {DEEPEST} levels of tables and lists in each other"
# tomllib takes the square of the time for the parts of a key.
_LONG_KEY = re.compile(
    r"""(?<![\w"'-])(?>(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)"""
    f"{{{DEEPEST}}}"
)


def toml_values(text: str) -> dict[str, object]:
    """Return the values of a TOML text. Raise `tomllib.TOMLDecodeError`, for absurd depth too."""
    if len(text) > MOST_TOML:
        raise tomllib.TOMLDecodeError(f"more than {MOST_TOML:,} characters")
    if _LONG_KEY.search(text):
        raise tomllib.TOMLDecodeError(TOO_DEEP)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError(TOO_DEEP) from None
    except ValueError as error:  # a number of thousands of digits
        raise tomllib.TOMLDecodeError(str(error)) from error
    if is_too_deep(values):
        raise tomllib.TOMLDecodeError(TOO_DEEP)
    return values


def json_values(
    text: str | bytes, *, pairs: Callable[[list[tuple[str, object]]], object] | None = None
) -> Any:
    """Return the values of a JSON text. Raise `json.JSONDecodeError`, for absurd depth too.

    `pairs` makes the value of an object.
    """
    try:
        values = json.loads(text, object_pairs_hook=pairs)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError(TOO_DEEP, "", 0) from None
    except ValueError as error:  # bytes that are not UTF-8, a number of thousands of digits
        raise json.JSONDecodeError(str(error), "", 0) from error
    if is_too_deep(values):
        raise json.JSONDecodeError(TOO_DEEP, "", 0)
    return values


def is_too_deep(values: object) -> bool:
    """Return whether tables and lists are more than `DEEPEST` levels in each other."""
    level, depth = [values], 0
    while level:
        depth += 1
        if depth > DEEPEST + 1:
            return True
        level = [
            part
            for value in level
            if isinstance(value, dict | list)
            for part in (value.values() if isinstance(value, dict) else value)
            if isinstance(part, dict | list)
        ]
    return False
