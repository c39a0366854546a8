"""The metadata of a run: read from the file name, edited by the team."""

from collections.abc import Iterable
from dataclasses import dataclass

from arqkit.formats.runs.filename import read_name
from arqlab.core.models import Lab, Task
from arqlab.teams.selectors import team_key

TAG_LENGTH = 100


@dataclass(frozen=True)
class RunMetadata:
    """A team's description of one run, with the fields of `Run`. An empty text means unknown."""

    tag: str
    is_primary: bool = False
    is_manual: bool = False
    is_baseline: bool = False
    out_of_competition: str = ""
    is_control: bool = False
    data_used: str = ""
    answer_kind: str = ""
    description: str = ""
    items: str = ""


def metadata_from_name(name: str) -> RunMetadata:
    """Return the metadata in a file name (protocol §4); by default an automatic, alternate run."""
    read = read_name(_printable(name))
    return RunMetadata(
        tag=(read.tag or read.team or "run")[:TAG_LENGTH],
        is_primary=bool(read.primary),
        is_manual=bool(read.manual),
        data_used=read.data_used or "",
        answer_kind=read.answer_kind or "",
        items=read.items.value if read.items else "",
    )


def teams_in_names(names: Iterable[str]) -> list[str]:
    """Return the teams in the names of run files (protocol §4), without repetitions."""
    teams = (read_name(_printable(name)).team for name in names)
    return list({team_key(team): team for team in teams if team}.values())


def lab_teams_in_names(lab: Lab, names: Iterable[str]) -> list[str]:
    """Return the teams in the names of run files that are teams of the lab.

    The first part of any other name, as of `bm25-task1.tsv`, is no team.
    """
    team_keys = {team_key(team) for team in lab.teams.values_list("name", flat=True)}
    return [name for name in teams_in_names(names) if team_key(name) in team_keys]


def name_advice(name: str, task: Task) -> str:
    """Return what to do about the name of a run file: it lacks parts, or names another task."""
    named = read_name(_printable(name)).task
    if named is None:
        return (
            "This name does not contain a team and a task, so only the run tag was read from it. "
            "Complete the details, or rename the file."
        )
    other = task.lab.tasks.filter(slug=named).exclude(pk=task.pk).first()
    if other is None:
        return ""
    return (
        f"The file name says {named}, which is {other.name}. This page is for {task.name}: check "
        "that the file is for this task."
    )


def _printable(name: str) -> str:
    return "".join(sign if sign.isprintable() else "_" for sign in name)
