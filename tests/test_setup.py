"""`bin/setup` installs the locks as they are, whatever was released since."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT

LOCKED = {"a": "1.0", "b": "1.0", "c": "1.0"}
"""As pytest-cov, coverage and tomli: c requires a with its extra x, which requires b."""
REQUIRES = {"a": ["Provides-Extra: x", "Requires-Dist: b; extra == 'x'"], "b": [], "c": []}
REQUIRES["c"] = ["Requires-Dist: a[x]"]


def build_wheel(folder: Path, name: str, version: str) -> Path:
    """Write a wheel without any modules and return its path."""
    info = f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *REQUIRES[name]]
    files = {
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    digests = {path: hashlib.sha256(text.encode()).digest() for path, text in files.items()}
    record = [f"{path},sha256={in_record(digests[path])},{len(files[path])}" for path in files]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,"]) + "\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, text in files.items():
            wheel.writestr(inside, text)
    return path


def in_record(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with `bin/setup`, its locks, and wheels that are newer than these."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    lines = []
    for name, version in LOCKED.items():
        digest = hashlib.sha256(build_wheel(wheels, name, version).read_bytes()).hexdigest()
        lines.append(f"{name}=={version} --hash=sha256:{digest}\n")
        build_wheel(wheels, name, "1.1")
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "bin/setup", tmp_path / "bin/setup")
    (tmp_path / "requirements.txt").write_text("".join(lines[:2]))
    (tmp_path / "requirements-demo.txt").write_text("")
    (tmp_path / "requirements-dev.txt").write_text("".join(lines))
    return tmp_path


def run_setup(checkout: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `bin/setup` with the folder of wheels as the only source of packages."""
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(checkout / "wheels")}
    environment = {"PATH": os.environ["PATH"], "HOME": str(checkout / "home"), **offline}
    command = [checkout / "bin/setup", *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_newer_releases_change_nothing(checkout: Path) -> None:
    finished = run_setup(checkout, "--dev")

    assert finished.returncode == 0, finished.stderr
    pip = [checkout / ".venv/bin/python", "-m", "pip", "freeze"]
    installed = subprocess.run(pip, capture_output=True, text=True, check=True).stdout.split()
    assert installed == [f"{name}=={version}" for name, version in LOCKED.items()]
    assert run_setup(checkout).stderr == ""  # the requirements of the tests include all others


def test_an_incomplete_lock_is_refused_by_name(checkout: Path) -> None:
    lock = checkout / "requirements-dev.txt"
    lock.write_text("".join(lock.read_text(encoding="utf-8").splitlines(keepends=True)[1:]))

    finished = run_setup(checkout, "--dev")

    assert finished.returncode != 0
    assert "c 1.0 requires a, which is not installed." in finished.stderr
    assert not (checkout / ".venv/installed-requirements-dev.txt").exists()


def test_the_image_installs_like_bin_setup() -> None:
    image, script = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", "bin/setup")
    )

    for option in ("--no-deps", "--require-hashes", "--only-binary :all:", "pip check"):
        assert option in image
        assert option in script


def test_the_packages_of_systems_are_locked_with_hashes_but_for_torch() -> None:
    lock = (ROOT / "requirements-systems.txt").read_text(encoding="utf-8")
    wanted = (ROOT / "requirements-systems.in").read_text(encoding="utf-8").splitlines()
    names = [line.partition("==")[0].partition("[")[0] for line in wanted if line[0] != "#"]
    blocks = re.split(r"\n(?=\S)", lock)

    assert all("--hash=sha256:" in block for block in blocks)
    assert set(names) <= {block.partition("==")[0] for block in blocks}
    assert (
        "--require-hashes" in (ROOT / "bin/setup").read_text(encoding="utf-8").partition("lock=")[0]
    )
