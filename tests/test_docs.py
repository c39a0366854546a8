"""The documents match the code."""

import re

import pytest
from django.core.management import get_commands, load_command_class

from arqlab.ir.protocols.overrides import OVERRIDABLE
from arqlab.ir.protocols.presets import PROTOCOLS
from tests.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_environment_variable_of_the_settings_is_in_the_readme():
    settings = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r'env(?:_bool|_list)?\("([A-Z_]+)"', settings))

    assert {name for name in names if f"`{name}`" not in README} == set()


def test_every_variable_of_the_example_environment_is_known():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    known = (ROOT / "arqlab/settings.py").read_text() + (ROOT / "docker-compose.yml").read_text()

    assert {
        name for name in re.findall(r"^([A-Z_]+)=", example, re.MULTILINE) if name not in known
    } == set()


def test_every_command_of_the_readme_exists():
    for name in re.findall(r"`bin/([a-z]+)`", README):
        assert (ROOT / "bin" / name).exists(), name


def test_every_management_command_is_in_the_readme():
    paths = ROOT.glob("**/management/commands/[a-z]*.py")
    commands = {path.stem for path in paths if not {".venv", "tests"} & set(path.parts)}

    assert {name for name in commands if name not in README} == set()


@pytest.mark.parametrize("row", re.findall(r"^\| `manage\.py (.+?)` \|", README, re.MULTILINE))
def test_every_option_in_the_readme_belongs_to_its_command(row):
    name, *words = row.split()
    known = (
        load_command_class(get_commands()[name], name)
        .create_parser("manage.py", name)
        .format_help()
    )

    assert [
        option for option in re.findall(r"--[a-z-]+", " ".join(words)) if option not in known
    ] == []


def test_every_field_and_protocol_of_a_lab_file_is_described():
    text = (ROOT / "docs/lab-folder.md").read_text(encoding="utf-8")

    assert [name for name in OVERRIDABLE if f"`{name}`" not in text] == []
    assert [name for name in PROTOCOLS if name not in text] == []


@pytest.mark.parametrize(
    "path",
    ["README.md", "CONTRIBUTING.md", "docs/team.md", "docs/organizer.md", "docs/assessor.md"],
)
def test_every_link_of_a_document_exists(path):
    page = ROOT / path

    for place in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / place).exists(), place


def test_decisions_have_consistent_numbers_and_headings():
    pages = sorted((ROOT / "docs/adr").glob("0*.md"))

    assert [page.name[:4] for page in pages] == [
        f"{number:04}" for number in range(1, len(pages) + 1)
    ]
    for page in pages:
        assert page.read_text(encoding="utf-8").startswith(f"# {page.name[:4]} "), page.name


def test_no_file_names_the_host_of_a_registry():
    hosts = re.compile(
        r"registry\.npmjs|pypi\.org|pythonhosted|--(?:extra-)?index-url|deb\.debian\.org"
    )
    files = [
        "requirements.txt",
        "requirements-dev.txt",
        "pyproject.toml",
        "package-lock.json",
        "Dockerfile",
        "README.md",
    ]

    assert [name for name in files if hosts.search((ROOT / name).read_text(encoding="utf-8"))] == []
