"""Folders that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""

PACKAGES = (
    "arqkit",
    "arqlab",
    "collection",
    "submissions",
    "assessment",
    "evaluation",
    "analyses",
    "desk",
    "contrib",
)
"""The packages of the product, each above those before it."""

OPTIONAL_APPS = sorted(path.parent.name for path in (ROOT / "contrib").glob("*/apps.py"))
"""The apps that a server can leave out."""

SHARED_DATA = ROOT.parent / "shared" / "data"
"""The field's real data, beside the repository; absent on most machines."""
