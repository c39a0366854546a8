"""The command `arqkit`: check, score and pool runs without a server, and ask one."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import polars as pl

import arqkit
from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.formats import read_rows
from arqkit.formats.runs.lines import decode_run
from arqkit.formats.runs.packs import FileLimits, TaskPack, read_pack
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.formats.runs.results import ReportData, check_files, report_of, report_text
from arqkit.formulas.visual_ids import distinct_visual
from arqkit.lab_commands import (
    INVALID,
    MISUSED,
    REFUSED,
    UNREACHABLE,
    VALID,
    MisuseError,
    add_lab_commands,
    aligned,
    downloaded,
    logged_in,
    print_json,
)
from arqkit.measures.names import MeasureRefusedError
from arqkit.measures.scoring import Scorer, means
from arqkit.pooling.pools import DEEPEST, PooledRun, PoolSources, make_pool
from arqkit.protocols.presets import PoolProtocol, TaskProtocol
from arqkit.ranking import OrderBy
from arqkit.records import (
    FileRefusedError,
    ItemKind,
    ServerRefusedError,
    TaskKind,
    UnreachableError,
)
from arqkit.streams import ending_when_unread

LARGEST = 2**31 - 1
"""Without a server nobody else waits for memory, so a check by command has no limits."""
ONE_REPAIR = "--repair takes one run. Repair the runs one by one."


NO_LIMITS = FileLimits(LARGEST, max_lines=LARGEST, max_run_bytes=LARGEST)
"""A run that is only read here may be as large as the memory."""
NOTHING_JUDGED = (
    "{run}: none of its items is judged in {qrels}. Its items are read as {items}; formulas need "
    "--visual-ids where the qrels have visual ids.\n"
)


class UnreadableRunError(Exception):
    """A run has errors, so it has no order. The message is its report."""


CODES: dict[type[Exception], int] = {
    UnreadableRunError: INVALID,
    FileRefusedError: MISUSED,
    MeasureRefusedError: MISUSED,
    MisuseError: MISUSED,
    ModuleNotFoundError: MISUSED,
    ServerRefusedError: REFUSED,
    UnreachableError: UNREACHABLE,
}
"""What the command exits with after an error whose message is for people."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    with ending_when_unread():
        return _run(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments, Namespace(parser=parser))
    action: Callable[[Namespace], int] = options.action
    try:
        return action(options)
    except BrokenPipeError:  # an OSError, but of no file that the user named
        raise
    except tuple(CODES) as error:
        sys.stderr.write(f"{error}\n")
        return CODES[type(error)]
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
    score = commands.add_parser(
        "score",
        help="score runs",
        description="Print the means of each run over the topics of the qrels.",
    )
    pool = commands.add_parser(
        "pool",
        help="pool the tops of runs",
        description="Print the pool of the runs in judging order, one topic and item per line.",
    )
    add_lab_commands(commands)
    for command in (check, score, pool):
        command.add_argument(
            "runs", nargs="+", type=Path, metavar="RUN", help="run file: plain, gzip or zip"
        )
    _add_check_options(check)
    _add_score_options(score)
    _add_pool_options(pool)
    return parser


def _add_check_options(check: ArgumentParser) -> None:
    check.set_defaults(action=_check)
    check.add_argument(
        "--task",
        required=True,
        type=Path,
        metavar="PACK",
        help="task pack, from the task's page; or LAB/TASK, whose pack your server sends",
    )
    check.add_argument("--json", action="store_true", help="print the reports as JSON")
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


def _add_score_options(score: ArgumentParser) -> None:
    score.set_defaults(action=_score)
    score.add_argument("qrels", type=Path, metavar="QRELS", help="lines of topic, 0, item, label")
    score.add_argument(
        "--measures",
        nargs="+",
        default=TaskProtocol().measures,
        metavar="MEASURE",
        help="measures as ir_measures writes them (default: those of the ARQMath labs)",
    )
    score.add_argument(
        "--relevant-from",
        type=int,
        default=TaskProtocol().relevant_from,
        metavar="LABEL",
        help="lowest relevant label (default: %(default)s)",
    )
    score.add_argument("--topics", action="store_true", help="print the scores of each topic too")
    _add_order(score, "order of the items")
    _add_visual_ids(score)


def _add_pool_options(pool: ArgumentParser) -> None:
    pool.set_defaults(action=_pool)
    pool.add_argument(
        "--depth", required=True, type=_depth, metavar="K", help="pool the top K items of each run"
    )
    pool.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of the random order (default: 0)"
    )
    _add_order(pool, "what the top of a run is")
    _add_visual_ids(pool)


def _add_order(command: ArgumentParser, what: str) -> None:
    command.add_argument(
        "--by", choices=get_args(OrderBy), default="score", help=f"{what} (default: score)"
    )


def _add_visual_ids(command: ArgumentParser) -> None:
    command.add_argument(
        "--visual-ids",
        type=Path,
        metavar="FILE",
        help="TSV with the columns formula_id and visual_id: count visually distinct formulas",
    )


def _depth(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= DEEPEST):
        raise ArgumentTypeError(f"{text} is not a depth. Use a whole number from 1 to {DEEPEST}.")
    return int(text)


def _check(options: Namespace) -> int:
    if options.repair and len(options.runs) > 1:
        raise MisuseError(ONE_REPAIR)
    pack = _pack_of(options.task)
    reports: dict[str, ReportData] = {}
    for path in options.runs:
        with path.open("rb") as file:
            results = check_files(file, pack, name=path.name, items=options.items)
        file_reports = {name: report_of(result) for name, result in results.items()}
        reports |= file_reports
        report_lines = [
            line for name, report in file_reports.items() for line in report_text(name, report)
        ]
        if options.repair:
            report_lines += ["", _repair(path, pack, list(results.values()), out=options.repair)]
        _print(*(() if options.json else report_lines))
    if options.json:
        print_json(reports)
    else:
        _print("", _limits_of(pack))
    return VALID if all(report["valid"] for report in reports.values()) else INVALID


def _pack_of(path: Path) -> TaskPack:
    """Return the pack of a file, or of the task LAB/TASK of the server."""
    if path.exists() or len(path.parts) != 2 or path.suffix:
        return read_pack(path)
    with logged_in() as lab, TemporaryDirectory() as folder:
        pack = Path(folder, "task-pack.zip")
        pack.write_bytes(downloaded(lab, path.as_posix(), pack.name))
        return read_pack(pack)


def _repair(path: Path, pack: TaskPack, results: list[RunReport], *, out: Path) -> str:
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
    items = "" if pack.looks_up_items else " The pack has no ids, so the items were not looked up."
    other = (
        ""
        if pack.version == arqkit.__version__
        else f" The pack is from arqkit {pack.version}, this is {arqkit.__version__}."
    )
    return (
        f"Checked against the task pack of {pack.task}. Only the server compares a run with other "
        f"runs and with judged items.{items}{other}"
    )


def _score(options: Namespace) -> int:
    qrels = read_qrels(options.qrels.read_bytes(), path=str(options.qrels), scale=None)
    scorer = Scorer(qrels, options.measures, relevant_from=options.relevant_from)
    mapping = _visual_ids(options)
    rows = []
    for name, run in _read_runs(options).items():
        index = distinct_visual(run.index, mapping, by=options.by)
        if index.join(qrels, on=["topic", "item"], how="semi").is_empty():
            sys.stderr.write(NOTHING_JUDGED.format(run=name, items=run.items, qrels=options.qrels))
        scores = scorer.score(index)
        if options.topics:
            for (topic,), topic_scores in scores.group_by("topic", maintain_order=True):
                rows.append([name, str(topic), *map(_figure, topic_scores["value"])])
        total = means(scores)
        all_topics = ["all"] if options.topics else []
        rows.append(
            [name, *all_topics, *(_figure(total[measure.name]) for measure in scorer.measures)]
        )
    heads = ["run", "topic"] if options.topics else ["run"]
    _print(*aligned([[*heads, *(measure.label for measure in scorer.measures)], *rows]))
    return VALID


def _pool(options: Namespace) -> int:
    mapping = _visual_ids(options)
    runs = _read_runs(options)
    protocol = PoolProtocol(
        primary=options.depth, alternate=options.depth, visually_distinct=mapping is not None
    )
    pooled = [PooledRun(name, "", "primary", run.index) for name, run in runs.items()]
    kind = ItemKind.POSTS if mapping is None else ItemKind.VISUAL_IDS
    pool = make_pool(PoolSources(pooled, visual=mapping), protocol, kind=kind, seed=options.seed)
    items = pool.select("topic", "item").unique(maintain_order=True)
    _print(*("\t".join(row) for row in items.iter_rows()))
    return VALID


@dataclass(frozen=True, eq=False)
class ReadRun:
    """A run that was read without a task: its index, and the kind of its items."""

    index: pl.DataFrame
    items: ItemKind


def _read_runs(options: Namespace) -> dict[str, ReadRun]:
    runs: dict[str, ReadRun] = {}
    for path in options.runs:
        with path.open("rb") as file:
            members = NO_LIMITS.unpack_by_name(file, name=path.name)
        for name, data in members.items():
            if name in runs:
                raise MisuseError(f"Two runs have the name {name}. Rename one of them.")
            runs[name] = _read_run(name, data, order=options.by)
    return runs


def _read_run(name: str, data: bytes, *, order: OrderBy) -> ReadRun:
    """Read a run in any format of ranked lists, which its lines show."""
    rules = RunRules(TaskKind.FORMULAS, limit=LARGEST, order=order, pooling_order=order)
    kinds = read_rows(decode_run(data).data, rules).layout.kinds
    if not kinds:  # a list of documents may have no scores
        rules = replace(rules, kind=TaskKind.DOCUMENTS)
        kinds = read_rows(decode_run(data).data, rules).layout.kinds
    if TaskKind.GENERATED_ANSWERS in kinds:
        raise MisuseError(f"{name} has generated answers, which have ids only on the server.")
    rules = replace(rules, kind=kinds[0] if kinds else rules.kind)
    report = check_run(data, rules)
    if report.index is None:
        raise UnreadableRunError("\n".join(report_text(name, report_of(report))))
    return ReadRun(report.index, report.items)


def _visual_ids(options: Namespace) -> pl.DataFrame | None:
    """Return the visual ids of formulas, or None if the command names no file."""
    if options.visual_ids is None:
        return None
    try:
        table = pl.read_csv(options.visual_ids, separator="\t", infer_schema=False, quote_char=None)
        return table.select("formula_id", "visual_id").drop_nulls()
    except pl.exceptions.PolarsError as error:
        raise MisuseError(
            f"{options.visual_ids}: {error}. Name a TSV with the columns formula_id and visual_id."
        ) from error


def _figure(value: float) -> str:
    return f"{value:.4f}"


def _print(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":  # pragma: no cover  # tested in a process of its own
    sys.exit(main())
