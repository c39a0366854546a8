"""What a team says of a run: read out of the file's name, corrected by a person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from arqlab.formats.runs.filename import read_name

TAG_LENGTH = 100


@dataclass(frozen=True)
class RunMetadata:
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
        """Return the metadata as fields of a `Run`."""
        return asdict(self)


def metadata_from_name(name: str) -> RunMetadata:
    """Read what a file's name tells (protocol §4); a run of which it says nothing is an automatic,
    alternate one.
    """
    read = read_name("".join(sign if sign.isprintable() else "_" for sign in name))
    return RunMetadata(
        tag=(read.tag or "run")[:TAG_LENGTH],
        is_primary=bool(read.primary),
        is_manual=bool(read.manual),
        data_used=read.data_used or "",
        answer_kind=read.answer_kind or "",
        items=read.items.value if read.items else "",
    )
