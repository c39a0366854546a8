"""Compile the LaTeX of a paper kit."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

needs_pdflatex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="pdflatex is not installed; apt-get install texlive-latex-recommended.",
)


def pages_of(files: Mapping[str, str | bytes], folder: Path) -> int:
    """Compile a kit and return the number of its pages."""
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "main.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout  # Nothing reaches into the margin.
    [pages] = [line for line in done.stdout.splitlines() if line.startswith("Output written")]
    return int(pages.split("(")[1].split()[0])
