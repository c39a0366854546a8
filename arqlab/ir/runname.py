"""What the name of a run file tells (protocol §4)."""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from arqlab.ir.records import ItemKind

DataUsed = Literal["both", "text", "math", "links"]
AnswerKind = Literal["extract", "generate"]

NAME = re.compile(r"(?P<team>[^-]+)-(?P<task>task[0-9]+)(?:-(?P<rest>.+))?", re.IGNORECASE)
ENDINGS = re.compile(r"(\.(tsv|txt|csv|run|res|gz|zip))+$", re.IGNORECASE)
VISUAL_IDS = re.compile(r"[._-]visual[._-]?ids?$", re.IGNORECASE)
DATA_USED: dict[str, DataUsed] = {"both": "both", "text": "text", "math": "math", "links": "links", "link": "links"}
ANSWER_KINDS: dict[str, AnswerKind] = {"extract": "extract", "generate": "generate"}


class RunName(NamedTuple):
    """What a file name tells of its run; None where it tells nothing. `task` is written `task1`."""

    team: str | None = None
    task: str | None = None
    tag: str | None = None
    manual: bool | None = None
    data_used: DataUsed | None = None
    answer_kind: AnswerKind | None = None
    primary: bool | None = None
    items: ItemKind | None = None


def read_name(filename: str) -> RunName:
    """Read `TEAM-taskN-RUN-{auto|manual}-{both|text|math}-[extract|generate-]{P|A}.tsv[.gz]` as far as it goes.

    The marks are read from the end, so that a run tag may hold hyphens and a mark may be missing. A name without task
    is a run tag.
    """
    stem = ENDINGS.sub("", re.split(r"[\\/]", filename.strip())[-1])
    items = ItemKind.VISUAL_IDS if VISUAL_IDS.search(stem) else None
    stem = VISUAL_IDS.sub("", stem)
    parts = NAME.fullmatch(stem)
    if not parts:
        return RunName(tag=stem or None, items=items)
    words = (parts["rest"] or "").split("-")
    primary = {"p": True, "a": False}.get(_taken(words, {"p", "a"}))
    answer_kind = ANSWER_KINDS.get(_taken(words, ANSWER_KINDS))
    data_used = DATA_USED.get(_taken(words, DATA_USED))
    manual = {"manual": True, "auto": False}.get(_taken(words, {"auto", "manual"}))
    return RunName(
        team=parts["team"],
        task=parts["task"].lower(),
        tag="-".join(words) or None,
        manual=manual,
        data_used=data_used,
        answer_kind=answer_kind,
        primary=primary,
        items=items,
    )


def _taken(words: list[str], marks: Collection[str]) -> str:
    """Take the last word off if it is one of the marks; the run tag keeps at least one word."""
    return words.pop().lower() if len(words) > 1 and words[-1].lower() in marks else ""
