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

SHARED_DATA = ROOT.parent / "shared" / "data"
"""The field's real data, beside the repository; absent on most machines."""
