"""The reference of the guides: Markdown made from the code when the guides are built."""

import os
import sys
import tomllib
from argparse import Action, ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterable
from dataclasses import fields
from importlib import resources
from pathlib import Path
from tempfile import mkdtemp

import django

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arqlab.settings")
os.environ.setdefault("ARQLAB_DATA", mkdtemp(prefix="arqlab-guides-"))
os.environ["ARQLAB_WITHOUT"] = ""  # the guides are of all apps
django.setup()

from django.core.management import BaseCommand, get_commands, load_command_class  # noqa: E402

from arqkit import __main__ as arqkit_cli  # noqa: E402
from arqkit.formats.labs.files import TASK_FILES  # noqa: E402
from arqkit.formats.runs.formats import FORMATS  # noqa: E402
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol  # noqa: E402

PACKAGES = (
    "arqlab",
    "collection",
    "submissions",
    "assessment",
    "evaluation",
    "analyses",
    "desk",
    "contrib",
)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    names = list(head)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def commands() -> str:
    """Return the management commands: a list, then for each its usage, help and options."""
    known = get_commands()
    names = sorted(name for name in known if str(known[name]).split(".")[0] in PACKAGES)
    loaded = {name: load_command_class(known[name], name) for name in names}
    contents = [
        (f"[`{name}`](#{name})", command.help.split(". ")[0].rstrip("."))
        for name, command in loaded.items()
    ]
    sections = (
        f"### {name}\n\n"
        + _described(command.create_parser("manage.py", name), f"manage.py {name}", command.help)
        for name, command in loaded.items()
    )
    return "\n\n".join([table(["command", "purpose"], contents), *sections])


def kernel_commands() -> str:
    """Return the commands of `arqkit`, as `commands` does."""
    [parsers] = (
        action.choices
        for action in arqkit_cli._parser()._actions
        if isinstance(action.choices, dict)
    )
    return "\n\n".join(
        f"### arqkit {name}\n\n" + _described(parser, f"arqkit {name}", parser.description or "")
        for name, parser in parsers.items()
    )


def _described(parser: ArgumentParser, usage: str, text: str) -> str:
    """Return the usage, the help and the options of a command."""
    shared = {
        option
        for action in BaseCommand().create_parser("", "")._actions
        for option in action.option_strings
    }
    own = [action for action in parser._actions if not shared & set(action.option_strings)]
    options = [action for action in own if action.option_strings]
    words = [usage, *(_argument(action) for action in own if not action.option_strings)]
    words += [_spelled(action) for action in options if action.required]
    words += ["[OPTIONS]"] if any(not action.required for action in options) else []
    parts = [f"```\n{' '.join(words)}\n```", text]
    if options:
        rows = ((f"`{_spelled(action)}`", _help(action)) for action in options)
        parts.append(table(["option", "meaning"], rows))
    return "\n\n".join(part for part in parts if part)


def _argument(action: Action) -> str:
    """Return an argument as in a usage line."""
    name = str(action.metavar or action.dest).upper()
    return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)


def _spelled(action: Action) -> str:
    """Return an option with what follows it."""
    name = next(name for name in action.option_strings if name.startswith("--"))
    if action.nargs == 0 or isinstance(action, BooleanOptionalAction):
        return name
    if isinstance(action.metavar, tuple):
        return f"{name} {' '.join(action.metavar)}"
    choices = "|".join(map(str, action.choices)) if action.choices else ""
    return f"{name} {choices or action.metavar or action.dest.upper()}"


def _help(action: Action) -> str:
    """Return the help of an option; one with an opposite names it."""
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    if isinstance(action, BooleanOptionalAction):
        text += f" (off: `{action.option_strings[-1]}`)"
    return text


def run_formats() -> str:
    """Return the formats of run files, with their columns."""
    return table(
        ["format", "columns", "tasks"],
        (
            (layout.name, layout.titles, ", ".join(f"`{kind}`" for kind in layout.kinds))
            for layout in FORMATS
            if layout.kinds
        ),
    )


def task_files() -> str:
    """Return the kinds of files of a task: their keys in a lab.toml, names and formats."""
    return table(
        ["key", "name in archives and downloads", "formats"],
        (
            (f"`{kind.key}`", f"`{kind.name}`{'/' * kind.is_folder}", kind.contents)
            for kind in TASK_FILES.values()
        ),
    )


def run_problems() -> str:
    """Return what the check of a run may report."""
    text = resources.files("arqkit.formats.runs").joinpath("problems.toml").read_text("utf-8")
    known = tomllib.loads(text)
    order = ("error", "warning", "note")
    rows = sorted(known.items(), key=lambda each: order.index(each[1]["severity"]))
    return table(
        ["problem", "severity", "what to do"],
        ((f"`{code}`", problem["severity"], problem["todo"]) for code, problem in rows),
    )


def measures() -> str:
    """Return the kinds of measures with a definition of ours."""
    text = resources.files("arqkit.measures").joinpath("kinds.toml").read_text("utf-8")
    return table(
        ["measure", "definition", "source"],
        (
            (f"`{kind}`", known["text"], known["source"])
            for kind, known in tomllib.loads(text).items()
        ),
    )


def first_lab() -> str:
    """Return the `lab.toml` of the first lab."""
    text = (ROOT / "docs/first-lab/lab.toml").read_text(encoding="utf-8")
    return f"```toml\n{text}```"


def protocols() -> str:
    """Return the presets: the rules of each kind of task."""
    return table(
        ["protocol", "kind of task", "items per topic", "relevant from", "pool", "first measures"],
        (
            (
                f"`{slug}`",
                f"`{kind}`",
                f"{task.limit:,}",
                str(task.relevant_from),
                _changed(task.pool),
                ", ".join(f"`{name}`" for name in task.measures[:3]),
            )
            for slug, protocol in PROTOCOLS.items()
            for kind, task in protocol.tasks.items()
        ),
    )


def _changed(pool: PoolProtocol) -> str:
    """Return the settings of a pool that are not the default."""
    values = {field.name: getattr(pool, field.name) for field in fields(PoolProtocol)}
    usual = PoolProtocol()
    return ", ".join(
        name if value is True else f"{name} {value}"
        for name, value in values.items()
        if value != getattr(usual, name)
    )


REFERENCES: dict[str, Callable[[], str]] = {
    "commands": commands,
    "first-lab": first_lab,
    "kernel-commands": kernel_commands,
    "measures": measures,
    "protocols": protocols,
    "run-formats": run_formats,
    "task-files": task_files,
    "run-problems": run_problems,
}
"""What a mark such as `<!-- reference: commands -->` becomes."""
