"""The command `arqkit`: check a run by a task pack, without a server."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

import arqkit
from arqkit.formats.runs.packs import TaskPack, read_pack
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.results import CheckResult, check_files, report_text
from arqkit.records import FileRefusedError, ItemKind

VALID, INVALID, MISUSED = 0, 1, 2
"""What the command exits with: all runs are valid, a run has errors, or it was called wrongly."""
ONE_REPAIR = "--repair takes one run. Repair the runs one by one."


class MisuseError(Exception):
    """The command was called in a way that it cannot answer. The message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    action: Callable[[Namespace], int] = options.action
    try:
        code = action(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # such as `arqkit pool … | head`; Python flushes again when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (FileRefusedError, MisuseError) as error:
        sys.stderr.write(f"{error}\n")
    except OSError as error:
        sys.stderr.write(f"{error.filename}: {error.strerror}. Name another file.\n")
    return MISUSED


def _parser() -> ArgumentParser:
    parser = ArgumentParser("arqkit", description="Retrieval evaluation without a server.")
    parser.add_argument("--version", action="version", version=arqkit.__version__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser(
        "check",
        help="check runs by the rules of a task",
        description="Print the report that the task's page shows after an upload. Exit with 1 if a "
        "run has errors.",
    )
    check.set_defaults(action=_check)
    check.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN", help="run file: plain, gzip or zip"
    )
    check.add_argument(
        "--task", required=True, type=Path, metavar="PACK", help="task pack, from the task's page"
    )
    check.add_argument(
        "--items",
        type=ItemKind,
        choices=list(ItemKind),
        metavar="KIND",
        help=f"kind of the items in a TREC file: {', '.join(ItemKind)} (default: the task's)",
    )
    check.add_argument(
        "--repair", type=Path, metavar="OUT", help="write the run with all safe repairs to a file"
    )
    return parser


def _check(options: Namespace) -> int:
    if options.repair and len(options.runs) > 1:
        raise MisuseError(ONE_REPAIR)
    pack, is_valid = read_pack(options.task), True
    for path in options.runs:
        with path.open("rb") as file:
            results = check_files(file, pack, name=path.name, items=options.items)
        for name, result in results.items():
            _print(*report_text(name, result.report))
            is_valid &= result.is_valid
        if options.repair:
            _print("", _repair(path, pack, list(results.values()), out=options.repair))
    _print("", _limits_of(pack))
    return VALID if is_valid else INVALID


def _repair(path: Path, pack: TaskPack, results: list[CheckResult], *, out: Path) -> str:
    """Write the repaired run of a file, and return a sentence about it."""
    if len(results) > 1:
        raise MisuseError(ONE_REPAIR)
    if not any(problem.is_repairable for problem in results[0].problems):
        return f"There is nothing to repair, so {out} was not written."
    with path.open("rb") as file:
        [run] = pack.limits.unpack(file, name=path.name)
    repaired = repaired_run(run.data, pack.rules)
    if repaired is None:
        raise AssertionError("a problem that is called repairable is not repaired")
    with out.open("xb") as file:
        file.write(repaired)
    return f"{out} has the run with all safe repairs. Check it before you upload it."


def _limits_of(pack: TaskPack) -> str:
    """Return what a check without a server cannot know."""
    items = "" if pack.looks_up_items else " The pack has no ids, so no item was looked up."
    other = (
        ""
        if pack.version == arqkit.__version__
        else f" The pack is from arqkit {pack.version}, this is {arqkit.__version__}."
    )
    return (
        f"Checked by the task pack of {pack.task}. Only the server compares a run with other runs "
        f"and with judged items.{items}{other}"
    )


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
