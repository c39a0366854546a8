"""The documents agree with the code: commands, options, settings, links, titles and versions."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from arqkit.protocols.presets import OVERRIDABLE
from tests.paths import ROOT

SETTINGS = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "arqkit/README.md")),
    *sorted((ROOT / "docs").glob("**/*.md")),
]


def page_name(page: Path) -> str:
    """Return the path of a page below the repository, as the name of a test."""
    return str(page.relative_to(ROOT))


def test_every_environment_variable_of_the_settings_is_described():
    settings = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r'env(?:_bool|_list)?\("([A-Z_]+)"', settings))

    assert {name for name in names if f"`{name}`" not in SETTINGS} == set()


def test_every_variable_of_the_example_environment_is_known_and_described():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    known = (ROOT / "arqlab/settings.py").read_text() + (ROOT / "docker-compose.yml").read_text()
    names = re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)

    assert [name for name in names if name not in known or f"`{name}`" not in SETTINGS] == []


def test_every_described_variable_is_read():
    known = (ROOT / "arqlab/settings.py").read_text() + (ROOT / "docker-compose.yml").read_text()

    assert [
        name
        for name in re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, re.MULTILINE)
        if name not in known
    ] == []


def test_every_script_that_a_page_names_is_there():
    for page in PAGES:
        for name in re.findall(r"(?<![/\w])bin/([a-z-]+)", page.read_text(encoding="utf-8")):
            assert (ROOT / "bin" / name).exists(), f"{page.name}: bin/{name}"


def test_every_script_is_described():
    assert [
        path.name for path in (ROOT / "bin").iterdir() if f"| `bin/{path.name}" not in COMMANDS
    ] == []


def test_every_benchmark_is_listed_and_no_other():
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    modules = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")} - {"common"}

    assert sorted(re.findall(r"`python -m benchmarks\.(\w+)` \|", page)) == sorted(modules)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_command_that_a_page_shows_can_be_given(page):
    calls = re.findall(r"manage\.py ([a-z_]+)\b([^`\n]*)", page.read_text(encoding="utf-8"))

    for name, words in calls:
        assert name in get_commands(), name
        options = (
            load_command_class(get_commands()[name], name)
            .create_parser("manage.py", name)
            ._option_string_actions
        )
        assert [
            option for option in re.findall(r"--[a-z-]+", words) if option not in options
        ] == [], name


def test_every_protocol_field_of_a_lab_file_is_described():
    text = (ROOT / "docs/lab-folder.md").read_text(encoding="utf-8")

    assert [name for name in OVERRIDABLE if f"`{name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_file_and_module_that_a_page_names_is_there(page):
    words = re.findall(r"`([^`\s]+)`", page.read_text(encoding="utf-8"))
    files = [word for word in words if re.fullmatch(r"[a-z_]+(/[\w.]+)+\.(py|js|css|tsv)", word)]
    modules = [word for word in words if re.fullmatch(r"arqlab(\.[a-z_]+)+", word)]
    paths = [ROOT / file for file in files] + [ROOT / name.replace(".", "/") for name in modules]

    assert [
        path for path in paths if not path.exists() and not path.with_suffix(".py").exists()
    ] == []


def test_every_decision_is_numbered_and_listed_with_its_title():
    pages = sorted((ROOT / "docs/adr").glob("0*.md"))
    contents = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")

    assert [page.name[:4] for page in pages] == [
        f"{number:04}" for number in range(1, len(pages) + 1)
    ]
    for page in pages:
        title, *_ = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith(f"# {page.name[:4]} "), page.name
        assert f"[{title.removeprefix('# ')}]({page.name})" in contents, page.name


def test_the_pictures_are_few_small_and_shown():
    pictures = list((ROOT / "docs/pictures").iterdir())
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)

    assert len(pictures) <= 12
    assert [picture.name for picture in pictures if f"pictures/{picture.name})" not in text] == []
    assert sum(picture.stat().st_size for picture in pictures) <= 600_000


def test_the_license_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

    assert (citation["cff-version"], citation["license"]) == ("1.2.0", project["license"])
    assert f'"license": "{project["license"]}"' in (ROOT / "package.json").read_text(
        encoding="utf-8"
    )
    assert (
        (ROOT / "LICENSE").read_text(encoding="utf-8").startswith(f"{project['license']} License")
    )


def test_no_file_names_the_host_of_a_registry():
    hosts = re.compile(
        r"registry\.npmjs|pypi\.org|pythonhosted|--(?:extra-)?index-url|deb\.debian\.org"
    )
    files = [
        "requirements.txt",
        "requirements-extras.txt",
        "requirements-dev.txt",
        "pyproject.toml",
        "package-lock.json",
        "Dockerfile",
        "README.md",
        "CITATION.cff",
    ]

    assert [name for name in files if hosts.search((ROOT / name).read_text(encoding="utf-8"))] == []
