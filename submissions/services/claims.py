"""What a team says of a run: read out of the file's name, corrected by a person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from arqlab.ir.runname import read_name

TAG_LENGTH = 100
# What may follow the name proper of a run file.
SUFFIXES = {".tsv", ".txt", ".csv", ".run", ".trec", ".res", ".gz", ".zip"}


@dataclass(frozen=True)
class RunClaims:
    """What the sender says of one run. The fields are those of `Run`; an empty text says nothing."""

    tag: str
    is_primary: bool = False
    is_manual: bool = False
    is_baseline: bool = False
    data_used: str = ""
    answer_kind: str = ""
    description: str = ""
    items: str = ""

    def as_fields(self) -> dict[str, Any]:
        """Give the claims as fields of a `Run`."""
        return asdict(self)


def stem(name: str) -> str:
    """Give a file's name without folder and without the suffixes of run files and archives."""
    path = PurePosixPath(name.replace("\\", "/"))
    while path.suffix.lower() in SUFFIXES and path.stem:
        path = path.with_suffix("")
    return path.name


def claims_from_name(name: str) -> RunClaims:
    """Read what a file's name tells (protocol §4); what it does not tell is automatic, alternate, tagged by its stem."""
    read = read_name(PurePosixPath(name).name)
    return RunClaims(
        tag=(read.tag or stem(name))[:TAG_LENGTH] or "run",
        is_primary=bool(read.primary),
        is_manual=bool(read.manual),
        data_used=read.data_used or "",
        answer_kind=read.answer_kind or "",
    )
