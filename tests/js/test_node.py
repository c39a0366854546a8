"""The scripts' own tests, in Node's test runner: `node --test tests/js/*.test.mjs`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILES = sorted((ROOT / "tests" / "js").glob("*.test.mjs"))
OLDEST = 18  # Debian 12


@pytest.fixture(scope="module")
def node() -> str:
    """Return the path of a Node that has a test runner."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("Node was not found. Install it: apt-get install nodejs")
    version = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True
    ).stdout
    if int(version.lstrip("v").partition(".")[0]) < OLDEST:
        pytest.skip(f"Node {version.strip()} is too old. Install version {OLDEST} or later.")
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_scripts_pass_their_tests_in_node(node: str, file: Path) -> None:
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    passed = re.search(r"^(?:#|ℹ) pass (\d+)$", done.stdout, re.MULTILINE)

    assert done.returncode == 0, failures(done.stdout) + done.stderr
    assert passed
    assert int(passed[1]) > 0


def failures(report: str) -> str:
    """Return the part of a report that describes the failed tests."""
    return (
        "\n".join(re.findall(r"^not ok .*?^  \.\.\.$", report, re.DOTALL | re.MULTILINE)) or report
    )
