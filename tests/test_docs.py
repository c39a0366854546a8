"""The documents agree with the code: commands, options, settings, links, titles and versions."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from arqkit.protocols.overrides import OVERRIDABLE
from tests.paths import PACKAGES, ROOT

SETTINGS = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
ASVS = re.findall(
    r"^\| (\d.+?) \| ([^|]+) \| .+ \| ([^|]+) \|$",
    (ROOT / "docs/asvs.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
"""The requirements, whether they are met, and the tests, of each row."""
ASVS_SECTIONS = """
    1.1:7 1.2:4 1.4:5 1.5:4 1.6:4 1.7:2 1.8:2 1.9:2 1.10:1 1.11:2 1.12:2 1.14:6
    2.1:12 2.2:3 2.3:3 2.4:5 2.5:7 2.6:3 2.7:6 2.8:7 2.9:3 2.10:4
    3.1:1 3.2:4 3.3:4 3.4:5 3.5:3 3.7:1 4.1:5 4.2:2 4.3:3 5.1:5 5.2:8 5.3:10 5.4:3 5.5:4
    6.1:3 6.2:6 6.3:2 6.4:2 7.1:4 7.2:2 7.3:4 7.4:3 8.1:4 8.2:3 8.3:8 9.1:3 9.2:4 10.2:2 10.3:3
    11.1:8 12.1:3 12.2:1 12.3:6 12.4:2 12.5:2 12.6:1 13.1:5 13.2:6 13.3:2 13.4:2
    14.1:4 14.2:6 14.3:3 14.4:7 14.5:4
"""
"""The last requirement of levels 1 and 2 of each section of ASVS 4.0.3."""
ASVS_DELETED = {"1.4.2", "1.4.3", "1.12.1", "4.1.4", "7.3.2", "13.1.2", "13.2.4", "14.3.1"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "arqkit/README.md")),
    *sorted((ROOT / "docs").glob("**/*.md")),
]
HOUSE = {*PACKAGES, "templates", "static", "tests", "docs", "bin", "benchmarks", "deploy"}
"""The folders of the repository."""
CODE_FILE = re.compile(r"(?!site/)[a-z_]+(/[\w.]+)+\.(py|js|css|tsv|toml|html)")
"""A file that a page names; `site/` is made by `bin/guides`."""


def is_in_the_code(parts: list[str]) -> bool:
    """Return whether the parts of a dotted name are packages, a module and a name in it."""
    at = ROOT
    for number, part in enumerate(parts):
        if (at / part).is_dir():
            at /= part
            continue
        module, rest = (at / f"{part}.py"), parts[number + 1 :]
        if not module.exists():
            module, rest = at / "__init__.py", parts[number:]
        source = module.read_text(encoding="utf-8")
        return all(re.search(rf"\b{name}\b", source) for name in rest)
    return True


def page_name(page: Path) -> str:
    """Return the path of a page below the repository, as the name of a test."""
    return str(page.relative_to(ROOT))


def test_every_environment_variable_of_the_settings_is_described():
    settings = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r'env(?:_bool|_list)?\("([A-Z_]+)"', settings))

    assert {name for name in names if f"`{name}`" not in SETTINGS} == set()


def test_every_variable_of_the_example_environment_is_known_and_described():
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    known = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8") + (
        ROOT / "docker-compose.yml"
    ).read_text()
    names = re.findall(r"^([A-Z_]+)=", example, re.MULTILINE)

    assert [name for name in names if name not in known or f"`{name}`" not in SETTINGS] == []


def test_every_described_variable_is_read():
    known = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8") + (
        ROOT / "docker-compose.yml"
    ).read_text()

    assert [
        name
        for name in re.findall(r"^\| `([A-Z_]+)` \|", SETTINGS, re.MULTILINE)
        if name not in known
    ] == []


def test_every_requirement_of_asvs_is_in_one_row():
    sections = [section.split(":") for section in ASVS_SECTIONS.split()]
    expected = {f"{name}.{it}" for name, last in sections for it in range(1, int(last) + 1)}
    numbers = [number for row, *_ in ASVS for number in re.findall(r"\b\d+\.\d+\.\d+\b", row)]

    assert sorted(numbers) == sorted(expected - ASVS_DELETED)
    assert {met for _, met, _ in ASVS} == {"yes", "in part", "no", "n/a"}


def test_every_test_and_setting_that_the_table_of_asvs_names_is_there():
    page = (ROOT / "docs/asvs.md").read_text(encoding="utf-8")
    settings = (ROOT / "arqlab/settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r"`([A-Z][A-Z\d]*_[A-Z\d_]+)[`/]", page)) - {"NAME_FILE"}

    assert [name for name in names if not re.search(rf"\b{name}\b", settings)] == []
    for row, _, tests in ASVS:
        paths = re.findall(r"`(tests/[\w./]+)`", tests)
        assert tests == (", ".join(f"`{path}`" for path in paths) or "none"), row
        assert [path for path in paths if not (ROOT / path).exists()] == [], row


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
def test_every_file_and_folder_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    words = re.findall(r"`([^`\s]+)`", text)
    files = [word for word in words if CODE_FILE.fullmatch(word)]
    folders = [word for word in words if "/" in word and word.split("/")[0] in HOUSE]
    prose = re.sub(r"`[^`]*`", "", text)  # code may have brackets before parentheses
    links = re.findall(r"\]\((?!\w+:|#|/)([^)#\s]+)", prose)

    assert [
        name
        for name in (*files, *folders)
        if not (ROOT / name).exists() and not (ROOT / "templates" / name).exists()
    ] == []
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_module_that_a_page_names_is_there(page):
    words = re.findall(
        r"`([a-z]+(?:\.[A-Za-z_]+)+)(?:\([^`]*\))?`", page.read_text(encoding="utf-8")
    )
    modules = [word.split(".") for word in words if word.split(".")[0] in PACKAGES]

    assert [".".join(parts) for parts in modules if not is_in_the_code(parts)] == []


def test_every_decision_is_numbered_and_listed_with_its_title_date_and_status():
    pages = sorted((ROOT / "docs/adr").glob("0*.md"))
    contents = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")

    assert [page.name[:4] for page in pages] == [
        f"{number:04}" for number in range(1, len(pages) + 1)
    ]
    for page in pages:
        title, _, line, *_ = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith(f"# {page.name[:4]} "), page.name
        dated = re.fullmatch(r"Date: (\d{4}-\d\d-\d\d)\. Status: (.+)\.", line)
        assert dated, f"{page.name}: the third line has no date and status"
        date, status = dated.groups()
        short = re.sub(r"\[(\d{4})\]\([^)]+\)(?: \([^)]+\))?", r"\1", status)
        row = f"| [{title.removeprefix('# ')}]({page.name}) | {date} | {short} |"
        assert row in contents, page.name


@pytest.mark.parametrize("page", sorted((ROOT / "docs/adr").glob("0*.md")), ids=page_name)
def test_a_decision_names_a_later_one_that_changed_it(page):
    line = page.read_text(encoding="utf-8").splitlines()[2]
    status = line.partition("Status: ")[2]
    later = re.findall(r"\[(\d{4})\]\((\d{4}-[^)]+\.md)\)", status)

    assert bool(later) == status.startswith(("amended by ", "superseded by ")), line
    assert later or status == "accepted.", line
    for number, name in later:
        assert number == name[:4] > page.name[:4], name
        assert (page.parent / name).exists(), name


def test_the_picture_of_the_house_is_what_the_imports_are():
    house = runpy.run_path(str(ROOT / "bin/house"))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert house["START"] + house["picture"]() + house["END"] in page, "Run bin/house --write."


def test_every_example_of_an_idiom_stands_in_the_file_that_it_names():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("## Seven idioms\n")[2].partition("\n## ")[0]
    examples = re.findall(r"`([\w/]+\.py)`\)[.,].*?```python\n(.+?)```", section, re.DOTALL)

    assert len(examples) == section.count("```python") == 7
    for path, code in examples:
        source = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert " ".join(code.split()) in source, path


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
