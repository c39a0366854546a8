"""The kernel stands alone, and a command starts without what only some of them need."""

import ast
import os
import subprocess
import sys
import tomllib

from tests.offline import BLOCK, run_alone
from tests.paths import ROOT

KERNEL = ROOT / "arqkit"
PROJECT = tomllib.loads((KERNEL / "pyproject.toml").read_text(encoding="utf-8"))["project"]

NO_PACKAGE = (
    "The package {} is not installed. In a checkout of ArqLab, run: pip install './arqkit[{}]'"
)
NEED_EXTRAS = {  # modules that are imported when they are needed: their package, its extra
    "arqkit.client": ("httpx", "client"),
    "arqkit.retrieval.approach0_engine": ("_pya0", "approach0"),
    "arqkit.retrieval.equations": ("torch", "models"),
    "arqkit.retrieval.pairs": ("numba", "retrieval"),
    "arqkit.retrieval.walks": ("numba", "retrieval"),
}
APART = ("approach0", "cluster", "models")  # extras that are not in the lock of the server
OF_OTHERS = {"client"}  # extras that no server needs
# One process for all modules of a package: an import of Django fails in whichever module makes it.
IMPORT_EACH = f"""{BLOCK}
import importlib
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


def test_every_module_of_the_kernel_imports_without_the_server_and_the_extras(tmp_path):
    paths = sorted(KERNEL.rglob("[a-z]*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]

    ended = run_alone(tmp_path, IMPORT_EACH, "arqkit", *names)

    assert names
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        f"{name} {NO_PACKAGE.format(*extra)}" for name, extra in sorted(NEED_EXTRAS.items())
    ]


MODULES = {"quickjs_ng": "quickjs"}
"""The modules of packages with another name."""


def imported_by(nodes):
    """Return the packages that import statements name."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


def test_the_kernel_depends_on_what_its_modules_import_and_on_nothing_else():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in KERNEL.rglob("*.py")]
    at_the_top = {name for tree in trees for name in imported_by(tree.body)}
    anywhere = {name for tree in trees for name in imported_by(ast.walk(tree))}

    dependencies = {name.replace("-", "_") for name in PROJECT["dependencies"]}
    dependencies = {MODULES.get(name, name) for name in dependencies}
    assert at_the_top - set(sys.stdlib_module_names) - {"arqkit"} <= dependencies <= anywhere


def test_the_server_has_what_the_kernel_and_its_extras_depend_on():
    extras = PROJECT["optional-dependencies"]
    server = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = ("requirements-systems.in", "requirements-torch.txt")
    lines = [line for name in names for line in (ROOT / name).read_text("utf-8").splitlines()]
    apart = {line.partition("==")[0] for line in lines if not line.startswith("#")}

    assert apart == {name for extra in APART for name in extras[extra]}
    assert {
        *PROJECT["dependencies"],
        *(name for extra in extras.keys() - {*APART} - OF_OTHERS for name in extras[extra]),
    } <= {*server["dependencies"]}


HEAVY = {
    "bm25s",
    "boto3",
    "matplotlib",
    "numba",
    "pytrec_eval",
    "redis",
    "scipy",
    "sklearn",
    "torch",
}
CHECK = """
import sys
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "check"])
print(*sys.modules)
"""


def test_a_command_that_checks_all_pages_loads_no_package_that_only_some_jobs_need():
    command = [sys.executable, "-c", CHECK]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )

    assert "analyses.views.comparison" in ended.stdout
    assert HEAVY & {*ended.stdout.split()} == set()
