"""The kernel stands alone."""

import subprocess
import sys

import pytest

from tests.paths import ROOT

MODULES = sorted(path.stem for path in (ROOT / "arqlab/ir").glob("[a-z]*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_a_kernel_module_imports_without_django_and_celery(module):
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['django', 'celery', 'rest_framework']));"
        f"import arqlab.ir.{module}"
    )

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
