"""The data beside modules: tables of words, signs and texts in TOML."""

import tomllib
from pathlib import Path
from typing import Any


def data_beside(module: str, name: str = "") -> dict[str, Any]:
    """Return the TOML file beside a module (`__file__`), by default the one with its own name."""
    path = Path(module)
    path = path.with_name(name) if name else path.with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
