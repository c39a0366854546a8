"""The guides build without a warning, their commands work, and every page leads to a chapter."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import RequestFactory
from django.urls import ResolverMatch, get_resolver

from arqlab.labs.templatetags.tabs import guide_address
from arqlab.web.pages import Page
from tests.paths import ROOT
from tests.test_access import named_views

SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
MANAGE = ".venv/bin/python manage.py "


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the guides, built as `bin/guides` does: a warning, such as a lost link, fails."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {key: value for key, value in os.environ.items() if key != "ARQLAB_DATA"}
    done = subprocess.run(
        build,
        cwd=ROOT,
        env=environment | {"NO_MKDOCS_2_WARNING": "1", "DJANGO_SETTINGS_MODULE": "arqlab.settings"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder


def declared_pages() -> Iterator[tuple[str, Page]]:
    """Yield the name of each page that somebody reads, and its declaration."""
    for name, view in named_views(get_resolver().url_patterns):
        page = getattr(view, "page", None)
        if page and "GET" in page.methods and "api-" not in name:
            yield name, page


def test_every_page_leads_to_a_chapter_that_is_there(site):
    for name, page in declared_pages():
        request = RequestFactory().get("/")

        def view() -> None: ...

        view.page = page
        request.resolver_match = ResolverMatch(view, (), {})
        file, _, anchor = guide_address({"request": request}).removeprefix("/docs/").partition("#")
        text = (site / (file or "index.html")).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in text, (name, file, anchor)


def test_the_guides_run_no_inline_script_and_ask_nothing_of_another_host(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"<script>|<style>|\sstyle=|\son[a-z]+=\"|<base\b", text) == [], page
        loaded = re.findall(r"<(?:script|img|link|iframe)[^>]*(?:src|href)=\"?([^\" >]+)", text)
        assert [address for address in loaded if re.match(r"(?:https?:)?//", address)] == [], page


@pytest.mark.django_db
def test_the_server_has_the_guides_for_everyone(client, site, settings):
    settings.GUIDES = site

    page = client.get("/docs/")
    style = client.get("/docs/assets/site.css")

    assert b"Your first lab" in page.content
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert style.headers["Content-Type"] == "text/css"
    assert client.get("/docs/../manage.py").status_code == 400
    assert client.get("/docs/nothing.html").status_code == 404


@pytest.mark.django_db
def test_a_server_without_the_guides_tells_how_to_build_them(client, settings, tmp_path):
    settings.GUIDES = tmp_path / "site"

    page = client.get("/docs/organizer.html")

    assert page.status_code == 404
    assert "bin/guides" in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_the_commands_of_the_first_lab_end_in_its_leaderboard(monkeypatch, tmp_path, capsys):
    guide = (ROOT / "docs/organizer.md").read_text(encoding="utf-8")
    text = guide.partition("## Your first lab")[2].partition("\n## ")[0]
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    monkeypatch.chdir(tmp_path)  # where the archive is written
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "notes on an engine")

    for line in lines[1:]:
        name, *words = shlex.split(line.removeprefix(MANAGE))
        # A terminal asks for the password.
        call_command(name, *words, *(["--noinput"] if name == "createsuperuser" else []))

    assert lines[0] == "bin/setup"
    board = capsys.readouterr().out
    best = next(line for line in board.splitlines() if line.startswith("Beta\tformulas"))
    assert f"nDCG′ {best.split(chr(9))[9]}" in text
    assert (tmp_path / "first-lab.zip").stat().st_size > 0
