"""Run the suite on SQLite, then on PostgreSQL and Redis servers started in a temporary folder.

Usage: `python -m tests.everywhere`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MISSING = {
    "postgresql": "PostgreSQL not found; its tests did not run."
    " Install it: apt-get install postgresql",
    "redis": "redis-server not found; its tests did not run."
    " Install it: apt-get install redis-server",
}


def main(arguments: list[str]) -> int:
    """Run both variants and return the exit status: 0 only if all tests that could run passed."""
    options = ["-q", "-n", "2", "-rs", *arguments]
    print("== SQLite", flush=True)  # noqa: T201
    failed = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-m", "not servers"], check=False
    ).returncode
    with contextlib.ExitStack() as stack:
        postgresql = stack.enter_context(postgresql_server())
        redis = stack.enter_context(redis_server())
        if postgresql:
            print("== PostgreSQL", "and Redis" if redis else "", flush=True)  # noqa: T201
            variables = {"DATABASE_URL": postgresql, "ARQLAB_TEST_REDIS_URL": redis or ""}
            failed |= subprocess.run(
                [sys.executable, "-m", "pytest", *options], env=os.environ | variables, check=False
            ).returncode
    for name, found in (("postgresql", postgresql), ("redis", redis)):
        if not found:
            print(f"SKIPPED: {MISSING[name]}")  # noqa: T201
    return failed


@contextlib.contextmanager
def postgresql_server() -> Iterator[str | None]:
    """Start a PostgreSQL server on a free port; yield its DATABASE_URL, or None if missing."""
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
    flags = (
        f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=50"
    )
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
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(timeout=20)


def postgresql_binaries() -> Path | None:
    """Return the folder of the newest Debian server, or that of `initdb` on the path."""
    for initdb in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True):
        return initdb.parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def free_port() -> int:
    """Return a free port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, *, seconds: float = 20) -> None:
    """Wait until the port accepts connections; raise `TimeoutError` after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"Nobody listens on port {port} after {seconds} s.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
