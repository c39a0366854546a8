"""What tells people to install something names a command that works: PyPI's arqkit is not ours."""

import re
import subprocess

import pytest

from arqkit.__main__ import main
from arqkit.extras import SYSTEMS, how_to_install, lacks_package
from tests.paths import ROOT

READ = {".py", ".md", ".html", ".toml", ".txt", ".js", ".yml", ".yaml", ".sh", ".json", ".tex", ""}
# `pip install`, with options and quotation marks, and then the name without a path before it.
FROM_PYPI = re.compile(
    r"(?:pip3?|pipx|uv(?:\s+pip)?)\s+(?:install|add|run)\s+(?:[^\n`|]*\s)?['\"]?arqkit\b(?![./])",
    re.IGNORECASE,
)
PARTS = sorted(
    set(
        re.findall(
            r"^(\w+) = \[",
            (ROOT / "arqkit/pyproject.toml").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    - {"dependencies", "dynamic", "only", "exclude"}
)


def texts():
    """Yield the name and the text of each file of the project that people write."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.splitlines():
        path = ROOT / name
        if path.suffix in READ and path.is_file() and not name.startswith("static/"):
            yield name, path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize(
    ("text", "is_from_pypi"),
    [
        ("pip install arqkit", True),
        ("pip install 'arqkit[client]'", True),
        ("python -m pip install --upgrade arqkit", True),
        ("pipx install arqkit", True),
        ("pip install ./arqkit", False),
        ("pip install './arqkit[client]'", False),
        ("pip install -r requirements.txt, then arqkit.py", False),
    ],
)
def test_the_name_alone_is_recognized(text, is_from_pypi):
    assert bool(FROM_PYPI.search(text)) is is_from_pypi


def test_no_text_of_the_project_names_the_package_of_pypi():
    allowed = {"tests/test_extras.py"}
    found = {name: hit[0] for name, text in texts() if (hit := FROM_PYPI.search(text))}

    assert {name: hit for name, hit in found.items() if name not in allowed} == {}


@pytest.mark.parametrize("words", [[], ["check"], ["score"], ["pool"], ["login"], ["submit"]])
def test_no_help_of_the_command_names_the_package_of_pypi(words, capsys):
    with pytest.raises(SystemExit):
        main([*words, "--help"])

    shown = capsys.readouterr().out
    assert "usage" in shown
    assert not FROM_PYPI.search(shown)
    assert "arqkit[" not in shown.replace("./arqkit[", "")


@pytest.mark.parametrize("extra", PARTS)
@pytest.mark.parametrize("on_server", [True, False])
def test_each_extra_has_a_command_that_starts_in_a_checkout(extra, on_server):
    command = how_to_install(extra, on_server=on_server)

    assert not FROM_PYPI.search(lacks_package("package", extra, on_server=on_server))
    if on_server:
        program, *options = command.split()
        script = (ROOT / program).read_text(encoding="utf-8")
        assert all(f"= {option} ]" in script for option in options)
        assert bool(options) is (extra in SYSTEMS)
    else:
        assert (ROOT / command.split("'")[1].partition("[")[0] / "pyproject.toml").is_file()
