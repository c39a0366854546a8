"""The pure packages stand alone."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

# One process for all modules of a package: an import of Django fails in whichever module makes it.
IMPORT_EACH = """
import importlib, sys
sys.modules.update(dict.fromkeys(["django", "celery", "rest_framework"]))
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


@pytest.mark.parametrize("package", ["arqlab/ir", "arqlab/formats", "arqlab/texts"])
def test_every_pure_module_imports_without_django_and_celery(package):
    paths = sorted((ROOT / package).rglob("[a-z]*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    command = [sys.executable, "-c", IMPORT_EACH, *names]

    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    assert names
    assert printed == ""
