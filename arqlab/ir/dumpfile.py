"""The files of a dump (stand-in until the whole module joins)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

DUMP_FILES: Final[Mapping[str, str]] = {
    "posts": "Posts.xml",
    "comments": "Comments.xml",
    "post_links": "PostLinks.xml",
    "tags": "Tags.xml",
    "users": "Users.xml",
    "votes": "Votes.xml",
    "badges": "Badges.xml",
}


def dump_files(path: Path) -> dict[str, Path]:
    """Give the files of a folder by kind; of an archive that holds several, the archive for every kind."""
    if not path.is_dir():
        return dict.fromkeys(DUMP_FILES, path)
    there = {file.name.lower(): file for file in sorted(path.iterdir())}
    endings = ("", ".gz", ".bz2", ".7z")
    return {
        kind: there[name.lower() + ending]
        for kind, name in DUMP_FILES.items()
        for ending in endings
        if name.lower() + ending in there
    }
