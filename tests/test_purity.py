"""The kernel stands alone."""

import subprocess
import sys

from tests.paths import ROOT

# One process for all modules of a package: an import of Django fails in whichever module makes it.
IMPORT_EACH = """
import importlib, sys
sys.modules.update(dict.fromkeys(["django", "celery", "rest_framework", "psycopg2", "redis"]))
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


def test_every_module_of_the_kernel_imports_without_django_and_celery():
    paths = sorted((ROOT / "arqkit").rglob("[a-z]*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    command = [sys.executable, "-c", IMPORT_EACH, *names]

    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert names
    assert printed == ""
