"""What the documents promise is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_environment_variable_of_the_settings_is_in_the_readme():
    settings = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r'env(?:_bool|_list)?\("([A-Z_]+)"', settings))

    assert {name for name in names if f"`{name}`" not in README} == set()


def test_every_variable_of_the_example_environment_is_known():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    known = (ROOT / "arqlab/settings.py").read_text() + (ROOT / "docker-compose.yml").read_text()

    assert {name for name in re.findall(r"^([A-Z_]+)=", example, re.MULTILINE) if name not in known} == set()


def test_every_command_of_the_readme_is_there():
    for name in re.findall(r"`bin/([a-z]+)`", README):
        assert (ROOT / "bin" / name).exists(), name


def test_every_management_command_is_in_the_readme():
    commands = {path.stem for path in ROOT.glob("**/management/commands/[a-z]*.py") if ".venv" not in path.parts}

    assert {name for name in commands if name not in README} == set()


def test_no_file_names_the_host_of_a_registry():
    hosts = re.compile(r"registry\.npmjs|pypi\.org|pythonhosted|--(?:extra-)?index-url|deb\.debian\.org")
    files = [
        "requirements.txt",
        "requirements-dev.txt",
        "pyproject.toml",
        "package-lock.json",
        "Dockerfile",
        "README.md",
    ]

    assert [name for name in files if hosts.search((ROOT / name).read_text(encoding="utf-8"))] == []
