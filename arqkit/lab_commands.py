"""The commands of `arqkit` that ask a server: log in, read topics, submit, read results.

What they need beyond the kernel is imported when one of them is called.
"""

import json
import os
import stat
import sys
from argparse import (
    Action,
    ArgumentParser,
    ArgumentTypeError,
    BooleanOptionalAction,
    Namespace,
    _SubParsersAction,
)
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from arqkit.extras import needs_extra
from arqkit.formats.runs.results import report_text

if TYPE_CHECKING:
    from rich.console import Console

    from arqkit.client import LabServer

VALID, INVALID, MISUSED, REFUSED, UNREACHABLE = 0, 1, 2, 3, 4
"""What the command exits with: it did what was asked and all runs are valid, a run has errors, it
was called wrongly, the server refused, the server did not answer."""
NAMES = ("ARQKIT_URL", "ARQKIT_TOKEN")
SHELLS = ("bash", "zsh", "tcsh")
TOPICS_SHOWN = ("query_id", "title", "latex", "tags")
RUNS_SHOWN = ("id", "team", "tag", "state", "standing", "is_primary", "run_id", "submitted_at")
FLAGS_OF_A_RUN = {
    "primary": "mark the runs as the team's primary run",
    "manual": "a person took part in the retrieval",
}
NOT_LOGGED_IN = (
    "No server is known. Run arqkit login https://lab.example.org, or set ARQKIT_URL and "
    "ARQKIT_TOKEN."
)


class MisuseError(Exception):
    """The arguments of the command cannot be used. The message says how to correct them."""


class Login(NamedTuple):
    """The address of a server and the token for it."""

    url: str
    token: str


def add_lab_commands(commands: "_SubParsersAction[ArgumentParser]") -> None:
    """Add the commands that ask a server to the parser of `arqkit`."""
    login = commands.add_parser(
        "login",
        help="keep the address of a server and your token",
        description="Ask for your token (from your account page) unless it is on standard input or "
        "in ARQKIT_TOKEN, try it, and keep it in a file that only you can read.",
    )
    login.set_defaults(action=_login)
    login.add_argument("url", metavar="URL", help="address of the server")
    for name, (action, what) in READING.items():
        command = _of_a_task(commands, name, what, action)
        if name == "leaderboard":
            help_ = "name of a qrels version (default: the released or current one)"
            command.add_argument("--qrels", default="", metavar="NAME", help=help_)
        if name in ("topics", "qrels"):
            help_ = f"write the {name} as the file of the lab's downloads"
            command.add_argument("--out", type=Path, metavar="FILE", help=help_)
    submit = _of_a_task(commands, "submit", "upload runs and wait for their reports", _submit)
    submit.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="run file: plain, gzip or zip"
    )
    submit.add_argument("--team", help="name of your team, if you have several")
    submit.add_argument("--tag", help="run tag (default: from the file name, as other details)")
    submit.add_argument("--description", metavar="TEXT", help="what the system does")
    for flag, help_ in FLAGS_OF_A_RUN.items():
        submit.add_argument(f"--{flag}", action=BooleanOptionalAction, help=help_)
    submit.add_argument("--check-only", action="store_true", help="check, but do not submit")
    help_ = "submit even if the file name has the name of another team"
    submit.add_argument("--confirm-team", action="store_true", help=help_)
    completion = commands.add_parser(
        "completion",
        help="print the completion of your shell",
        description="Print a script that completes commands and options. For bash: "
        "arqkit completion bash > ~/.local/share/bash-completion/completions/arqkit",
    )
    completion.set_defaults(action=_completion)
    completion.add_argument("shell", choices=SHELLS)


def _of_a_task(
    commands: "_SubParsersAction[ArgumentParser]",
    name: str,
    what: str,
    action: Callable[[Namespace], int],
) -> ArgumentParser:
    command = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
    command.set_defaults(action=action)
    help_ = "the task, such as arqmath-x/task1"
    command.add_argument("task", type=_task, metavar="LAB/TASK", help=help_)
    command.add_argument("--json", action="store_true", help="print JSON, with all fields")
    return command


def _task(name: str) -> str:
    if len(list(filter(None, name.split("/")))) != 2:
        raise ArgumentTypeError(f"{name!r} is no task. Write it as LAB/TASK.")
    return name


@contextmanager
def logged_in() -> Iterator["LabServer"]:
    """Yield the server of the login or of the environment. Raises MisuseError without one."""
    with needs_extra("client"):
        from arqkit.client import LabServer
    login = _known_login()
    try:
        lab = LabServer(*login)
    except ValueError as error:
        raise MisuseError(str(error)) from error
    with lab:
        yield lab


def login_file() -> Path:
    """Return the file with the address and the token, in the folder of the user's settings."""
    with needs_extra("client"):
        from platformdirs import user_config_path
    return user_config_path("arqkit", appauthor=False) / "login.json"


def _known_login() -> Login:
    """Return the login of the file, with what the environment has in its place.

    A token of the file is for the server of the file only.
    """
    stored, path = Login("", ""), login_file()
    if path.exists():
        try:
            stored = Login(**json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise MisuseError(
                f"{path} cannot be read ({error}). Run arqkit login again."
            ) from error
    url, token = (os.environ.get(name, "") for name in NAMES)
    login = Login(url or stored.url, token or (stored.token if url in ("", stored.url) else ""))
    if not login.url:
        raise MisuseError(NOT_LOGGED_IN)
    return login


def _login(options: Namespace) -> int:
    with needs_extra("client"):
        from arqkit.client import LabServer
    token = os.environ.get("ARQKIT_TOKEN") or (
        getpass("Token, from your account page: ") if sys.stdin.isatty() else sys.stdin.readline()
    )
    try:
        with LabServer(options.url, token.strip()) as lab:
            me, url = lab.me(), lab.url
    except ValueError as error:
        raise MisuseError(str(error)) from error
    path = login_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # the mode of a file that exists would stay
    # The file has its mode before the token is in it, and O_EXCL follows no link to another one.
    only_you = stat.S_IRUSR | stat.S_IWUSR
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, only_you), "w", encoding="utf-8"
    ) as file:
        json.dump(Login(url, token.strip())._asdict(), file)
    roles = (
        ", ".join(
            " ".join(filter(None, (one["lab"], one["role"], one["team"]))) for one in me["roles"]
        )
        or "no lab yet"
    )
    sys.stdout.write(f"You are {me['name'] or me['username']} ({roles}). {path} has the token.\n")
    return VALID


def _topics(options: Namespace) -> int:
    return (
        _download(options, "topics.xml")
        if options.out
        else _shown(options, lambda lab: lab.topics(options.task), TOPICS_SHOWN)
    )


def _runs(options: Namespace) -> int:
    return _shown(options, lambda lab: lab.runs(options.task), RUNS_SHOWN)


def _leaderboard(options: Namespace) -> int:
    return _shown(options, lambda lab: lab.leaderboard(options.task, qrels=options.qrels))


def _qrels(options: Namespace) -> int:
    if options.json and not options.out:
        return _shown(options, lambda lab: lab.qrels(options.task))
    return _download(options, "qrels.tsv")


READING: Mapping[str, tuple[Callable[[Namespace], int], str]] = {
    "topics": (_topics, "print the topics of a task"),
    "runs": (_runs, "print your team's runs of a task"),
    "leaderboard": (_leaderboard, "print the leaderboard of a task"),
    "qrels": (_qrels, "print the released qrels of a task"),
}


def _shown(
    options: Namespace, read: Callable[["LabServer"], pl.DataFrame], columns: Iterable[str] = ()
) -> int:
    """Print a table: all of it as JSON, or some columns for people."""
    with logged_in() as lab:
        frame = read(lab)
    if options.json:
        print_json(frame.to_dicts())
        return VALID
    names = [name for name in columns or frame.columns if name in frame.columns]
    rows = [[_cell(value) for value in row] for row in frame.select(names).iter_rows()]
    sys.stdout.write("".join(f"{line}\n" for line in aligned([names, *rows])))
    return VALID


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4f}"
        case list():
            return ",".join(map(str, value))
    return " ".join(str(value).split()) or "-"


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """Yield the lines of a table whose first row has the headings; figures stand at the right."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    texts = [not all(_is_figure(cell) for cell in column[1:]) for column in columns]
    for row in rows:
        cells = (
            cell.ljust(width) if is_text else cell.rjust(width)
            for cell, width, is_text in zip(row, widths, texts, strict=True)
        )
        yield "  ".join(cells).rstrip()


def _is_figure(cell: str) -> bool:
    return cell == "-" or cell.replace(".", "", 1).isdecimal()


def print_json(data: object) -> None:
    """Print data as indented JSON, with letters of all languages as they are."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def _download(options: Namespace, name: str) -> int:
    """Write a file of the task's downloads to a file or to standard output."""
    with logged_in() as lab:
        data = downloaded(lab, options.task, name)
    if options.out is None:
        sys.stdout.write(data.decode())
        return VALID
    with options.out.open("xb") as file:
        file.write(data)
    return VALID


def downloaded(lab: "LabServer", task: str, name: str) -> bytes:
    """Return a file of a task's downloads, with a bar of its progress in a terminal."""
    from rich.progress import Progress

    data = bytearray()
    with Progress(console=_console(), disable=not sys.stderr.isatty(), transient=True) as progress:
        bar = progress.add_task(name, total=None)
        for size, chunk in lab.chunks(task, name):
            data += chunk
            progress.update(bar, total=size, completed=len(data))
    return bytes(data)


def _submit(options: Namespace) -> int:
    with needs_extra("client"):
        from rich import progress
    details = {
        "team": options.team,
        "tag": options.tag,
        "description": options.description,
        "check_only": options.check_only or None,
        "confirm_team": options.confirm_team or None,
        **{f"is_{flag}": getattr(options, flag) for flag in FLAGS_OF_A_RUN},
    }
    console, is_quiet = _console(), not sys.stderr.isatty()
    submitted, is_valid = [], True
    with logged_in() as lab:
        for path in options.runs:
            with progress.open(
                path, "rb", description=path.name, console=console, disable=is_quiet, transient=True
            ) as file:
                keys = lab.submit(options.task, file, name=path.name, **details)
            for key in keys:
                with console.status("The server checks the run ..."):
                    report = lab.report(options.task, key)
                run = lab.run(options.task, key)
                is_valid &= report["valid"]
                submitted.append({**run, "report": report})
                if not options.json:
                    lines = report_text(f"{run['file']} (run {key})", report)
                    sys.stdout.write("".join(f"{line}\n" for line in [*lines, ""]))
    if options.json:
        print_json(submitted)
    return VALID if is_valid else INVALID


def _console() -> "Console":
    from rich.console import Console

    return Console(stderr=True)


def _completion(options: Namespace) -> int:
    with needs_extra("client"):
        import shtab
    for action in _actions(options.parser):
        if action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # what shtab reads
    sys.stdout.write(shtab.complete(options.parser, shell=options.shell) + "\n")
    return VALID


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
