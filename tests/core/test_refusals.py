"""Every refusal has its sentences, which the facts of each caller fill."""

import ast
import tomllib
from string import Formatter

from tests.paths import ROOT


def facts_by_code() -> list[tuple[str, set[str]]]:
    found = []
    for path in ROOT.glob("arqlab/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "user_error":
                facts = {str(keyword.arg) for keyword in node.keywords}
                found.append((ast.literal_eval(node.args[0]), facts))
    return found


def test_the_callers_give_the_facts_of_every_refusal():
    texts = tomllib.loads((ROOT / "arqlab/core/refusals.toml").read_text(encoding="utf-8"))
    wanted = {
        code: {name.partition(".")[0] for _, name, *_ in Formatter().parse(text) if name}
        for code, text in texts.items()
    }

    called = facts_by_code()

    assert {code for code, _ in called} == wanted.keys()
    assert [(code, facts) for code, facts in called if facts != wanted[code]] == []
