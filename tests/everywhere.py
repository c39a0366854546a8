"""Run the suite on SQLite, then on PostgreSQL and Redis servers started in a temporary folder.

Usage: `python -m tests.everywhere`. Tests that need no database run once; browser tests run on
PostgreSQL, a few of them on SQLite too. Of tests that run on both databases, those of the core run
on SQLite without the optional apps, and on PostgreSQL with them. The last lines report what ran
where, and what was skipped.
"""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg2
from lxml import etree

from tests.paths import OPTIONAL_APPS, ROOT, SHARED_DATA

MISSING = {
    "postgresql": "PostgreSQL not found; its tests did not run."
    " Install it: apt-get install postgresql",
    "redis": "redis-server not found; its tests did not run."
    " Install it: apt-get install redis-server",
}


ON_SQLITE = "not servers and (smoke or not browser) and (once or needs or smoke or not database)"
"""What runs on SQLite: also all that needs no database, which runs once."""
WITHOUT_APPS = "database and not (once or needs or servers or browser)"
"""What runs on SQLite as if no optional app were there: whatever else would run there again."""
ON_POSTGRESQL = "(database and not once) or servers"
NO_DATABASE = f"--ignore-glob={ROOT}/tests/arqkit/*/*"
"""Folders of tests that need no database, and import much that they compare with."""
WORKERS = {ON_POSTGRESQL: "3"}
"""How many processes run the tests, if not 2: on PostgreSQL they often wait for a server or a
browser, so a third keeps two cores busy.
"""


def main(arguments: list[str]) -> int:
    """Run both variants and return the exit status: 0 only when all that could run passed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # stops the servers too
    with (
        tempfile.TemporaryDirectory(prefix="arqlab-tests-") as folder,
        contextlib.ExitStack() as stack,
    ):
        postgresql = stack.enter_context(postgresql_server())
        redis = stack.enter_context(redis_server())
        chosen = ON_SQLITE if postgresql else "not servers"
        with ThreadPoolExecutor() as pool:  # each database is migrated by a process of its own
            migrated = postgresql and pool.submit(postgresql_variables, postgresql)
            embedded = sqlite_variables(Path(folder))
        variants = [tested("SQLite", chosen, embedded, arguments)]
        if migrated:
            bare = sqlite_variables(Path(folder) / "bare", without=",".join(OPTIONAL_APPS))
            options = [NO_DATABASE, *arguments]
            variants.append(tested("SQLite without optional apps", WITHOUT_APPS, bare, options))
            name = "PostgreSQL and Redis" if redis else "PostgreSQL"
            variables = embedded | migrated.result()
            variables |= {"ARQLAB_TEST_REDIS_URL": redis or "", "ARQLAB_DATA": f"{folder}/pg"}
            variants.append(tested(name, ON_POSTGRESQL, variables, options))
    print("== Summary")  # noqa: T201
    print(*(line for variant in variants for line in variant.summary), sep="\n")  # noqa: T201
    for name, url in (("postgresql", postgresql), ("redis", redis)):
        if not url:
            print(f"SKIPPED: {MISSING[name]}")  # noqa: T201
    print(f"Real data: {'read' if SHARED_DATA.is_dir() else 'missing,'} at {SHARED_DATA}")  # noqa: T201
    codes = {variant.code for variant in variants}
    # 5 says that nothing was chosen, which is no failure where the other variant ran.
    return max(codes if codes == {5} else codes - {5})


@dataclass(frozen=True)
class Variant:
    """One run of pytest on one kind of database."""

    code: int
    """The exit status of pytest."""
    summary: list[str]


def summary_of(name: str, report: Path) -> list[str]:
    """Return a line of counts from a report in JUnit's format, and one for each reason for which
    tests were skipped.
    """
    if not report.exists():
        return [f"{name}: pytest ended before it ran a test."]
    suite = etree.parse(report).find("testsuite")
    counts = {kind: int(suite.get(kind)) for kind in ("tests", "failures", "errors", "skipped")}
    passed = counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]
    line = f"{name}: {passed} passed, {counts['failures']} failed, {counts['errors']} errors, "
    line += f"{counts['skipped']} skipped in {float(suite.get('time')) / 60:.0f} minutes"
    reasons = Counter(skipped.get("message") for skipped in suite.iter("skipped"))
    return [line, *(f"  {count} skipped: {reason}" for reason, count in reasons.most_common())]


def tested(name: str, chosen: str, variables: dict[str, str], arguments: list[str]) -> Variant:
    """Run the tests that a marker expression chooses."""
    print("==", name, flush=True)  # noqa: T201
    report = Path(variables["ARQLAB_DATA"]) / "report.xml"
    options = [
        "-q",
        "-n",
        WORKERS.get(chosen, "2"),
        "--dist",
        "worksteal",
        "-rs",
        "--durations=10",
        f"--junitxml={report}",
        "-m",
        chosen,
        *arguments,
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options], env=os.environ | variables, check=False
    )
    return Variant(ended.returncode, summary_of(name, report))


def sqlite_variables(folder: Path, *, without: str = "") -> dict[str, str]:
    """Migrate an SQLite database and return the variables by which tests start with a copy, and
    leave out some optional apps.
    """
    folder.mkdir(exist_ok=True)
    template = folder / "template.sqlite3"
    own = {"ARQLAB_DATA": str(folder), "ARQLAB_WITHOUT": without}
    migrate(own | {"DATABASE_URL": f"sqlite:///{template}"})
    return own | {"ARQLAB_TEST_TEMPLATE": str(template), "ARQLAB_TEST_SQLITE": str(template)}


def postgresql_variables(server: str) -> dict[str, str]:
    """Migrate a database of PostgreSQL and return the variables by which tests begin with a copy of
    it.
    """
    template = f"{server.rpartition('/')[0]}/template_arqlab"
    with contextlib.closing(psycopg2.connect(server)) as connection:
        connection.autocommit = True
        connection.cursor().execute("CREATE DATABASE template_arqlab")
    with tempfile.TemporaryDirectory() as folder:
        migrate({"DATABASE_URL": template, "ARQLAB_DATA": folder})
    return {"DATABASE_URL": server, "ARQLAB_TEST_TEMPLATE": "template_arqlab"}


def migrate(variables: dict[str, str]) -> None:
    """Migrate the database that the variables name."""
    own = {"DJANGO_SETTINGS_MODULE": "tests.settings", **variables}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, env=os.environ | own, check=True, cwd=ROOT)


@contextlib.contextmanager
def postgresql_server(*, fsync: bool = False) -> Iterator[str | None]:
    """Start a PostgreSQL server on a free port; yield its DATABASE_URL, or None if missing.

    Tests are faster without fsync. Benchmarks turn it on, as it is in production.
    """
    binaries = postgresql_binaries()
    if binaries is None:
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="arqlab-pg-"))
    # PostgreSQL refuses to run as root; Debian's package made a user for it.
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres")
    port = free_port()
    control = [*user, str(binaries / "pg_ctl"), "-D", str(folder / "data"), "-w", "-s"]
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder}
    subprocess.run(
        [
            *user,
            str(binaries / "initdb"),
            "-D",
            str(folder / "data"),
            "-U",
            "arqlab",
            "-A",
            "trust",
            "-N",
        ],
        **quiet,
    )
    flags = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=100"
    flags += f" -c fsync={'on' if fsync else 'off'}"
    subprocess.run([*control, "-o", flags, "-l", str(folder / "log"), "start"], **quiet)
    try:
        yield f"postgresql://arqlab@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], **quiet)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def redis_server() -> Iterator[str | None]:
    """Start a Redis server on a free port; yield its URL, or None if it is missing."""
    binary = shutil.which("redis-server")
    if binary is None:
        yield None
        return
    port = free_port()
    process = subprocess.Popen(
        [
            binary,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            tempfile.gettempdir(),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for_line(process.stdout, "Ready to accept connections")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.communicate()


def postgresql_binaries() -> Path | None:
    """Return the folder of the newest Debian server, or that of `initdb` on the path."""
    for initdb in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True):
        return initdb.parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def free_port() -> int:
    """Return a free port of 127.0.0.1 below the ephemeral range.

    The system could give a port of that range to a connection before a slow server listens on it.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def wait_for_line(output: IO[str] | None, part: str) -> None:
    """Read the output of a process up to a line that contains `part`; raise `EOFError` if the
    process ends before.
    """
    assert output
    printed = []
    for line in output:
        if part in line:
            return
        printed.append(line)
    raise EOFError(f"The process ended before it printed {part!r}: {''.join(printed)}")


def wait_for_port(port: int, *, seconds: float = 300) -> None:
    """Wait until the port accepts connections; raise `TimeoutError` after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"Nobody listens on port {port} after {seconds} s.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
