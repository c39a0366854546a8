"""Every refusal has its sentences, which the facts of each caller fill."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from tests.paths import ROOT

APPS = ("arqlab", "submissions", "assessment", "evaluation", "retrieval", "collection", "desk")
FILES = sorted(path for app in APPS for path in (ROOT / app).rglob("refusals.toml"))


def facts_by_code(app: Path) -> list[tuple[str, set[str]]]:
    found = []
    for path in app.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "user_error":
                facts = {str(keyword.arg) for keyword in node.keywords}
                found.append((ast.literal_eval(node.args[0]), facts))
    return found


def sentences(texts: dict[str, Any], code: str = "") -> Iterator[tuple[str, str]]:
    for name, text in texts.items():
        if isinstance(text, str):
            yield code + name, text
        else:
            yield from sentences(text, f"{code}{name}.")


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_callers_give_the_facts_of_every_refusal(file: Path):
    texts = tomllib.loads(file.read_text(encoding="utf-8"))
    wanted = {
        code: {name.partition(".")[0] for _, name, *_ in Formatter().parse(text) if name}
        for code, text in sentences(texts)
    }

    called = facts_by_code(ROOT / file.relative_to(ROOT).parts[0])

    assert {code for code, _ in called} == wanted.keys()
    assert [(code, facts) for code, facts in called if facts != wanted[code]] == []
