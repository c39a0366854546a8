"""Change one condition, number or statement of the code at a time, and see whether a test of the
same subject fails (docs/mutants.md).

Usage: `python -m tests.mutants [SUBJECT…] [--sample 36] [--seed 1] [--seconds 8]`. A subject is a
key of `SUBJECTS`; without one, all are tried. The tests are collected once. Each mutant is a fork
of that process, in which the code of one function is replaced: it loads nothing again and changes
no file. It runs the tests that reached the changed line, for at most `--seconds` of their time.
"""

import argparse
import ast
import contextlib
import gc
import importlib
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple, NoReturn

import coverage
import pytest

from tests.everywhere import sqlite_variables
from tests.paths import ROOT


class Subject(NamedTuple):
    """Modules and folders, and the tests where their rules are looked for."""

    code: tuple[str, ...]
    tests: tuple[str, ...]


SUBJECTS = {
    "pooling": Subject(("arqkit/pooling",), ("tests/arqkit/pooling",)),
    "judgments": Subject(("arqkit/judgments",), ("tests/arqkit/judgments",)),
    "ranking": Subject(("arqkit/ranking.py",), ("tests/arqkit/test_ranking.py",)),
    "measures": Subject(
        tuple(f"arqkit/measures/{name}.py" for name in ("names", "columns", "overlap", "scoring")),
        ("tests/arqkit/measures",),
    ),
    "qrels": Subject(
        ("assessment/qrels/selectors", "assessment/qrels/services"),
        ("tests/assessment/qrels", "tests/assessment/management/commands/test_export_qrels.py"),
    ),
    "pools": Subject(
        ("assessment/pools/selectors", "assessment/pools/services"),
        ("tests/assessment/pools", "tests/assessment/management/commands/test_build_pool.py"),
    ),
    "leases": Subject(
        ("assessment/judging/services/leases.py",), ("tests/assessment/judging/apis",)
    ),
    "tickets": Subject(("assessment/tickets/services",), ("tests/assessment/tickets",)),
    "rounds": Subject(("assessment/rounds/services",), ("tests/assessment/rounds",)),
    "releasing": Subject(
        ("evaluation/services/releasing.py",),
        (
            "tests/evaluation/services",
            "tests/evaluation/test_release_page.py",
            "tests/evaluation/test_board_versions.py",
        ),
    ),
    "submissions": Subject(("submissions/services",), ("tests/submissions",)),
}

# --- what is changed

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"min": "max", "any": "all", "first": "last", "asc": "desc"}
NAMES |= {other: name for name, other in NAMES.items()}
CONDITIONS = {"get", "update", "Q", "When"}
"""Calls of which each keyword is a rule: a condition, or a column that is written."""


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node: one rule is another in each."""
    for kind in (_operators, _values, _calls, _branches, _statements):
        yield from kind(node)


def _operators(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left, [operator], comparators):
            for other in COMPARED[type(operator)]:
                yield ast.Compare(left, [other()], comparators)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.Invert(), operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)


def _values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Name(name, context) if name in NAMES:
            yield ast.Name(NAMES[name], context)
        case ast.Attribute(value, name, context) if name in NAMES:
            yield ast.Attribute(value, NAMES[name], context)


def _calls(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Call(ast.Attribute(value, "filter" | "exclude")):
            yield value
            yield from _with_fewer_conditions(node)
        case ast.Call(ast.Attribute() | ast.Name() as function) if _name(function) in CONDITIONS:
            yield from _with_fewer_conditions(node)


def _branches(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(test, body, other) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.IfExp(test, body, other):
            yield ast.IfExp(test, other, body)
        case ast.comprehension(target, iterated, [_, *_] as conditions):
            for condition in conditions:
                fewer = [one for one in conditions if one is not condition]
                yield ast.comprehension(target, iterated, fewer, node.is_async)
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Return(value) if not isinstance(value, ast.Constant | None):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(ast.Call()) | ast.Raise() | ast.Delete() | ast.AugAssign():
            yield ast.Pass()
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def _with_fewer_conditions(call: ast.Call) -> Iterator[ast.Call]:
    for keyword in call.keywords if len(call.args) + len(call.keywords) > 1 else ():
        yield ast.Call(call.func, call.args, [one for one in call.keywords if one is not keyword])


def _name(function: ast.Attribute | ast.Name) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id


class Mutant(NamedTuple):
    """A function with one change, and where it is."""

    path: Path
    lines: tuple[int, int]
    """The line of the statement, and that of what is changed in it."""
    name: str
    number: int
    """The first line of the function, with its decorators."""
    code: CodeType
    what: str


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(path: Path) -> Iterator[Callable[[], Mutant]]:
    """Yield a function that makes each mutant of a module: only a sample of them is compiled."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function, name in _functions(tree, ""):
        for statement in function.body:
            for node, line in _nodes(statement, statement.lineno):
                for new in changes(node):
                    yield partial(_made, path, tree, function, name, (node, new, line))


def _nodes(node: ast.AST, line: int) -> Iterator[tuple[ast.AST, int]]:
    """Yield all that is evaluated in a statement, with the line of its innermost statement."""
    line = node.lineno if isinstance(node, ast.stmt) else line
    yield node, line
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child, line)


def _functions(tree: ast.AST, within: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.FunctionDef):
            yield node, within + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{within}{node.name}.")


def _made(
    path: Path,
    tree: ast.Module,
    function: ast.FunctionDef,
    name: str,
    change: tuple[ast.AST, ast.AST, int],
) -> Mutant:
    old, new, line = change
    what = f"{_short(old)}  →  {_short(new)}"
    ast.fix_missing_locations(ast.copy_location(new, old))
    _Replace(old, new).visit(tree)
    try:
        codes = _codes(compile(tree, str(path), "exec", dont_inherit=True))
    finally:
        _Replace(new, old).visit(tree)
    number = min([function.lineno, *(one.lineno for one in function.decorator_list)])
    lines = line, getattr(old, "lineno", line)
    return Mutant(path, lines, name, number, codes[name, number], what)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 100 else f"{text[:60]} … {text[-35:]}"


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    result = {(code.co_qualname, code.co_firstlineno): code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            result |= _codes(constant)
    return result


# --- how it is tried

ENDS = ("killed", "survived", "not reached", "out of time", "broken")


@dataclass
class Counts:
    """How many mutants there are, were tried, and ended how."""

    all: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def row(self, name: str) -> str:
        """Return a row of the table in docs/mutants.md."""
        tried = self.ends.total()
        ends = (self.ends[end] for end in ENDS)
        return " | ".join(map(str, (f"| {name}", self.all, tried, *ends))) + " |"


class Trial:
    """A plugin of pytest: in place of the tests, it tries mutants with them."""

    def __init__(self, code: Iterable[str], options: argparse.Namespace) -> None:
        self.paths = [
            path
            for name in code
            for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
        ]
        self.options, self.counts = options, Counts()
        self.failed = False
        self.seconds: dict[str, float] = defaultdict(float)
        self.cover: coverage.Coverage | None = None
        self.items: list[pytest.Item] = []
        self.reached: dict[tuple[str, int], list[pytest.Item]] = {}

    def pytest_collection(self) -> None:
        """Let hypothesis stop at the first example that fails, instead of looking for a smaller
        one for half a minute.
        """
        import hypothesis  # which pytest rewrites first

        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        hypothesis.settings.register_profile(
            "mutants", hypothesis.settings.get_profile("suite"), phases=phases
        )
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure and the time of a test."""
        self.failed |= report.failed
        self.seconds[report.nodeid] += report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note the lines that the test and its fixtures reach."""
        if self.cover:
            self.cover.switch_context(item.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try a sample of the mutants with the collected tests."""
        self.items = session.items
        for path in self.paths:
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        functions = _live_functions(self.paths)
        self._measure()
        offered = [made for path in sorted(self.paths) for made in mutants(path)]
        self.counts.all = len(offered)
        chances = random.Random(self.options.seed)
        for made in chances.sample(offered, min(self.options.sample, len(offered))):
            mutant = made()
            end = self._try(mutant, functions[str(mutant.path), mutant.name, mutant.number])
            self.counts.ends[end] += 1
            if end != "killed":
                place = f"{mutant.path.relative_to(ROOT)}:{mutant.lines[1]}"
                print(f"{end}: {place} {mutant.name}: {mutant.what}", flush=True)  # noqa: T201
        return True

    def _measure(self) -> None:
        """Run all tests in a fork, and read which lines each reaches, and how long it takes."""
        with tempfile.TemporaryDirectory() as folder:
            data = coverage.CoverageData(f"{folder}/lines")
            times = Path(folder) / "times"

            def measure() -> int:
                include = [str(path) for path in self.paths]
                self.cover = coverage.Coverage(
                    data.data_filename(), config_file=False, include=include
                )
                self.cover.start()
                self._run(self.items)
                self.cover.stop()
                self.cover.save()
                lines = (f"{seconds}\t{test}" for test, seconds in self.seconds.items())
                times.write_text("\n".join(lines), encoding="utf-8")
                return int(self.failed)

            if _forked(measure, seconds=1200) != 0:
                raise SystemExit("A test fails without a mutant.")
            data.read()
            rows = (line.split("\t") for line in times.read_text(encoding="utf-8").splitlines())
            self.seconds.update((test, float(seconds)) for seconds, test in rows)
            self._read(data)

    def _read(self, data: coverage.CoverageData) -> None:
        by_id = {item.nodeid: [item] for item in self.items}
        for item in self.items:
            if "kept_db" in item.fixturenames:  # what it tests may have been made for another
                by_id[item.nodeid] = [one for one in self.items if one.path == item.path]
        for path in map(str, self.paths):
            for line, tests in data.contexts_by_lineno(path).items():
                self.reached[path, line] = [one for test in tests if test for one in by_id[test]]

    def _try(self, mutant: Mutant, functions: Iterable[FunctionType]) -> str:
        tests = self._tests(mutant)
        if not tests:
            return "not reached"

        def test() -> int:
            for function in functions:
                function.__code__ = mutant.code
            return self._run(tests)

        expected = sum(self.seconds[item.nodeid] for item in tests)
        status = _forked(test, seconds=30 + 5 * expected)
        return {0: "survived", 1: "killed", -signal.SIGALRM: "out of time"}.get(status, "broken")

    def _tests(self, mutant: Mutant) -> list[pytest.Item]:
        """Return tests that reach a mutant, of different functions before others of the same, the
        quick ones first, until their time is up.
        """
        reaching = {
            item for line in mutant.lines for item in self.reached.get((str(mutant.path), line), ())
        }
        tests = sorted(reaching, key=lambda item: (self.seconds[item.nodeid], item.nodeid))
        counted = Counter[str]()
        turns = {}
        for item in tests:
            turns[item] = counted[name := item.nodeid.partition("[")[0]]
            counted[name] += 1
        result, left = [], self.options.seconds
        for item in sorted(tests, key=lambda item: turns[item]):
            if left > 0:
                result.append(item)
                left -= self.seconds[item.nodeid]
        return result

    def _run(self, items: list[pytest.Item]) -> int:
        """Run tests until one fails; return 1 if one does."""
        items = sorted(items, key=self.items.index)
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return 1
        return 0


def _live_functions(paths: Iterable[Path]) -> dict[tuple[str, str, int], list[FunctionType]]:
    """Return the functions of modules by module, name and line, whatever decorates them."""
    files, result = {str(path) for path in paths}, defaultdict(list)
    gc.unfreeze()  # the collector lists no frozen function
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename in files:
            code = one.__code__
            result[code.co_filename, code.co_qualname, code.co_firstlineno].append(one)
    gc.freeze()
    return result


def _forked(work: Callable[[], int], *, seconds: float, is_quiet: bool = True) -> int:
    """Return the status with which work ends in a fork: -14 if its time is up."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        _end_with(work, seconds, is_quiet=is_quiet)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _end_with(work: Callable[[], int], seconds: float, *, is_quiet: bool) -> NoReturn:
    status, errors = 3, os.fdopen(os.dup(2), "w", encoding="utf-8")
    try:
        signal.alarm(int(seconds))  # which ends the process: a mutant may loop in C
        if is_quiet:
            for stream in (1, 2):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        status = work()
    except BaseException:  # noqa: BLE001 - whatever it is, the parent's stack is not the fork's
        traceback.print_exc(file=errors)
        errors.flush()
    os._exit(status)


def main(arguments: list[str]) -> None:
    """Try the mutants of subjects, and print the survivors and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", choices=[[], *SUBJECTS], metavar="SUBJECT")
    parser.add_argument("--sample", type=int, default=36)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args(arguments)
    print("| subject | mutants | tried |", *(f"{end} |" for end in ENDS), flush=True)  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="arqlab-mutants-") as folder:
        os.environ |= sqlite_variables(Path(folder))
        for name in options.subjects or SUBJECTS:
            # A process has one session of pytest.
            _forked(partial(try_subject, name, options), seconds=3600, is_quiet=False)


def try_subject(name: str, options: argparse.Namespace) -> int:
    """Try the mutants of a subject, and print the survivors and its row of the table."""
    begin, trial = time.monotonic(), Trial(SUBJECTS[name].code, options)
    chosen = ["-m", "not servers and not browser", "-p", "no:randomly", "-p", "no:cacheprovider"]
    with contextlib.chdir(ROOT):
        pytest.main([*chosen, "-q", "-s", *SUBJECTS[name].tests], plugins=[trial])
    print(trial.counts.row(name), f"{time.monotonic() - begin:.0f} s", flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    main(sys.argv[1:])
