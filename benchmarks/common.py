"""What the benchmarks share: options, rounds, goals, processes, servers and a browser."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from tests.everywhere import free_port, postgresql_server, wait_for_port
from tests.paths import ROOT, SHARED_DATA

if TYPE_CHECKING:
    from playwright.sync_api import Page

T = TypeVar("T")
SIDE = "--side"
PASSWORD = "a quiet blackboard"


class Benchmark:
    """One run of a benchmark: its options, and whether its goals are met.

    At the smallest size every step runs, but the figures mean nothing: they are printed and not
    compared with their goals.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.is_smallest: bool = options.smallest
        self.rounds: int = 1 if options.smallest else options.rounds
        self.has_failed = False

    def sized(self, full: T, smallest: T) -> T:
        """Return the value for the size of this run."""
        return smallest if self.is_smallest else full

    def alternate(
        self, sides: Mapping[str, Callable[[], T]], *, unmeasured: int = 0
    ) -> dict[str, list[T]]:
        """Run each side once per round and return the results by side.

        The sides take turns, so that other work on the machine affects all of them. The results of
        the first `unmeasured` rounds are dropped.
        """
        rounds = [
            {name: side() for name, side in sides.items()} for _ in range(unmeasured + self.rounds)
        ]
        return {name: [each[name] for each in rounds[unmeasured:]] for name in sides}

    def ratio(
        self,
        name: str,
        value: float,
        *,
        at_least: float | None = None,
        at_most: float | None = None,
    ) -> None:
        """Print a ratio with its goal, and remember a missed goal."""
        if at_least is not None:
            goal, is_met = f"at least {at_least:g}", value >= at_least
        else:
            goal, is_met = f"at most {at_most:g}", at_most is not None and value <= at_most
        outcome = "met" if is_met else "MISSED"
        if self.is_smallest:
            outcome = "not compared at the smallest size"
        self.has_failed |= outcome == "MISSED"
        print(f"{name}: ratio {value:.2f}, goal {goal}: {outcome}", flush=True)

    def limit(self, name: str, value: float, limit: float, unit: str) -> None:
        """Print the ratio of a figure to the limit that the claim sets."""
        self.ratio(f"{name}: {value:,.3g} {unit} of {limit:g} {unit}", value / limit, at_most=1)

    def require(self, claim: str, is_true: bool) -> None:
        """Fail at any size if the result is wrong, however long it took."""
        if not is_true:
            print(f"WRONG: {claim}", flush=True)
            self.has_failed = True


def start(
    main: Callable[[Benchmark], None],
    *,
    rounds: int = 5,
    sides: Iterable[Callable[..., Any]] = (),
    add_options: Callable[[argparse.ArgumentParser], None] = lambda parser: None,
) -> NoReturn:
    """Run a benchmark and exit with 1 if it misses a goal; or run one side for `in_process`."""
    if sys.argv[1:2] == [SIDE]:
        [side] = [each for each in sides if each.__name__ == sys.argv[2]]
        print(json.dumps(side(**json.loads(sys.argv[3]))))
        sys.exit()
    program = sys.modules["__main__"]
    parser = argparse.ArgumentParser(
        prog=f"python -m {module()}",
        description=program.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=rounds, help="default: %(default)s")
    parser.add_argument(
        "--smallest", action="store_true", help="run every step once, at the smallest size"
    )
    add_options(parser)
    benchmark = Benchmark(parser.parse_args())
    main(benchmark)
    sys.exit(benchmark.has_failed)


def module() -> str:
    """Return the name of the program that runs, as `python -m` takes it."""
    return str(sys.modules["__main__"].__spec__.name)  # type: ignore[union-attr]


def in_process(
    side: Callable[..., Any], variables: Mapping[str, str] | None = None, /, **arguments: Any
) -> Any:
    """Run a side in a new process and return its result; both travel as JSON.

    No side warms or burdens another then, and its peak memory is its own.
    """
    command = [sys.executable, "-m", module(), SIDE, side.__name__, json.dumps(arguments)]
    finished = subprocess.run(
        command, cwd=ROOT, env=variables, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return json.loads(finished.stdout.splitlines()[-1])


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that the work takes."""
    started = clock()
    work()
    return clock() - started


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which a share of the values lies, in percent."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))]


def median_of(results: Iterable[Mapping[str, float]], name: str) -> float:
    """Return the median of one figure of some results."""
    return statistics.median(each[name] for each in results)


def peak_megabytes() -> float:
    """Return the peak memory of this process.

    The peak that `getrusage` reports includes the parent's memory from before the program started.
    """
    [peak] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    return int(peak) / 1024


def shared_data(name: str = "") -> Path:
    """Return a path below the labs' real data; exit if it does not exist."""
    path = SHARED_DATA / name
    if not path.exists():
        sys.exit(f"{path} not found. Put the labs' public data there.")
    return path


# --- ArqLab


def environment(folder: Path, database: str = "") -> dict[str, str]:
    """Return the variables of an ArqLab with its data in a folder, on SQLite unless told otherwise.

    Within the tests, SQLite's database is a copy of theirs, which is migrated.
    """
    from tests.databases import copy_embedded

    folder.mkdir(parents=True, exist_ok=True)
    if not database:
        copy_embedded(folder)
    own = {
        "ARQLAB_DATA": str(folder),
        "ARQLAB_SECRET_KEY": "only for benchmarks, " + "0123456789" * 4,
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    return {key: value for key, value in os.environ.items() if key != "REDIS_URL"} | own


def set_up_django() -> None:
    """Set Django up in the process of a side, and migrate its database."""
    import django
    from django.conf import settings

    django.setup()
    from django.core.management import call_command

    settings.ALLOWED_HOSTS = ["*"]  # those of Django's test client too
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}  # no server has collected them
    call_command("migrate", verbosity=0)


@contextlib.contextmanager
def postgresql() -> Iterator[str]:
    """Start PostgreSQL as operators run it, with fsync on; yield the address of a database.

    Within the tests, where figures mean nothing, it is a migrated database on their server.
    """
    from tests.databases import TEMPLATE, new_database

    if TEMPLATE in os.environ and os.environ.get("DATABASE_URL"):
        yield str(new_database(Path(f"benchmark {os.getpid()}")))
        return
    with postgresql_server(fsync=True) as address:
        if address is None:
            sys.exit("PostgreSQL not found. Install it: apt-get install postgresql")
        yield address


@contextlib.contextmanager
def serving(command: list[str], port: int, variables: Mapping[str, str]) -> Iterator[str]:
    """Run a server until the end of the block; yield its address once it answers."""
    process = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=variables)
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextlib.contextmanager
def page_of(username: str, variables: Mapping[str, str]) -> Iterator[Page]:
    """Serve ArqLab and open it in Chromium; yield a page after the user signed in."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import launch

    port = free_port()
    command = ["manage.py", "serve", "--bind", f"127.0.0.1:{port}"]
    with serving(command, port, variables) as address, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(base_url=address, viewport={"width": 1440, "height": 900})
        page.goto("/accounts/login/")
        page.locator("#id_login").fill(username)
        page.locator("#id_password").fill(PASSWORD)
        page.locator("#id_password").press("Enter")
        page.wait_for_url("**/")
        yield page
        browser.close()
