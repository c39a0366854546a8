"""Every refusal has its sentences, which the facts of each caller fill."""

import ast
import tomllib
from string import Formatter

from tests.paths import ROOT

APPS = ("arqlab", "submissions", "assessment", "evaluation", "retrieval")
FILES = {
    "user_error": "arqlab/core/refusals.toml",
    "assessment_error": "assessment/refusals.toml",
    "judging_error": "assessment/refusals.toml",
    "submission_error": "submissions/refusals.toml",
    "release_error": "evaluation/refusals.toml",
    "baseline_error": "retrieval/refusals.toml",
}


def called_refusals() -> list[tuple[str, str, set[str]]]:
    found = []
    for path in (path for app in APPS for path in (ROOT / app).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in FILES:
                facts = {str(keyword.arg) for keyword in node.keywords}
                found.append((FILES[node.func.id], ast.literal_eval(node.args[0]), facts))
    return found


def test_the_callers_give_the_facts_of_every_refusal():
    wanted = {
        (file, key): {name.partition(".")[0] for _, name, *_ in Formatter().parse(text) if name}
        for file in set(FILES.values())
        for key, text in tomllib.loads((ROOT / file).read_text(encoding="utf-8")).items()
    }

    called = called_refusals()

    assert {(file, key) for file, key, _ in called} == wanted.keys()
    assert [one for one in called if one[2] != wanted[one[:2]]] == []
