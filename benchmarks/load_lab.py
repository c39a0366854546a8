"""Claim: `load_lab` loads a real lab with 6,164 posts and 62,131 formula instances in under 60
seconds, on both databases.

    python benchmarks/load_lab.py [--folder ../shared/data/arqmath-2]

Each database is new. The folder is loaded twice by the command itself, in a process of its own; the
second time must change nothing. Prints the seconds of both, with what the start of a process takes,
and the counts.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.everywhere import postgresql_server

ROOT = Path(__file__).parent.parent
SECONDS = 60


def main() -> None:
    """Print a line for each database; exits 1 where the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder", type=Path, default=ROOT.parent / "shared" / "data" / "arqmath-2"
    )
    folder = parser.parse_args().folder
    held = measure("SQLite", folder, "")
    with postgresql_server() as address:
        if address is None:
            print("PostgreSQL: no server was found here.")
        else:
            held &= measure("PostgreSQL", folder, address)
    sys.exit(0 if held else 1)


def measure(name: str, folder: Path, address: str) -> bool:
    """Load twice into a new database and say whether the claim held."""
    with tempfile.TemporaryDirectory() as data:
        key = (
            {"DATABASE_URL": address, "ARQLAB_SECRET_KEY": "only for a measurement"}
            if address
            else {}
        )
        variables = os.environ | {"ARQLAB_DATA": data} | key
        first, printed = loaded(folder, variables)
        second, again = loaded(folder, variables)
    held = first < SECONDS and again.startswith("Nothing to change.")
    print(f"{name}: {first:.1f} s, again {second:.1f} s; {'held' if held else 'NOT HELD'}")
    print(
        "\n".join(
            f"    {line}"
            for line in printed.splitlines()
            if "rows kept" in line or line.startswith("Visual")
        )
    )
    return held


def loaded(folder: Path, variables: dict[str, str]) -> tuple[float, str]:
    """Return the seconds that the command took, and what it printed."""
    start = time.perf_counter()
    command = [sys.executable, "manage.py", "load_lab", str(folder.resolve())]
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


if __name__ == "__main__":
    main()
