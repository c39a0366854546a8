"""Bags (BagIt 1.0, RFC 8493): a folder `data`, with the SHA-256 of each of its files beside it.

The Library of Congress's package does the same, but needs a module that setuptools has dropped, and
changes the folder of the process.
"""

import hashlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

MANIFEST = "manifest-sha256.txt"


def seal_bag(bag: Path, info: Mapping[str, str], *, on: date) -> None:
    """Write what makes a bag of a folder with `data`: declaration, manifests and information."""
    sizes = [path.stat().st_size for path in _payload(bag).values()]
    tags = {
        "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "bag-info.txt": "".join(
            f"{name}: {' '.join(value.split())}\n"
            for name, value in {
                "Bagging-Date": on.isoformat(),
                "Payload-Oxum": f"{sum(sizes)}.{len(sizes)}",
                **info,
            }.items()
        ),
        MANIFEST: _lines(_payload(bag)),
    }
    for name, text in tags.items():
        (bag / name).write_text(text, encoding="utf-8", newline="\n")
    own = {name: bag / name for name in sorted(tags)}
    (bag / "tagmanifest-sha256.txt").write_text(_lines(own), encoding="utf-8", newline="\n")


def bag_faults(bag: Path) -> list[str]:
    """Return what is wrong with the data of a bag: a sentence for each file."""
    try:
        lines = (bag / MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        return [f"{MANIFEST} cannot be read: {error}"]
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = _payload(bag)
    faults = [f"{name} is missing." for name in listed if name not in found]
    for name, path in found.items():
        if name not in listed:
            faults.append(f"{name} is not in {MANIFEST}.")
        elif _sha256(path) != listed[name]:
            faults.append(f"{name} is not as it was written.")
    return faults


def _payload(bag: Path) -> dict[str, Path]:
    """Return the files of a bag by their paths as manifests write them (RFC 8493, 2.1.3)."""
    files = (path for path in sorted((bag / "data").rglob("*")) if path.is_file())
    named = {path.relative_to(bag).as_posix().replace("%", "%25"): path for path in files}
    return {name.replace("\r", "%0D").replace("\n", "%0A"): path for name, path in named.items()}


def _lines(files: Mapping[str, Path]) -> str:
    return "".join(f"{_sha256(path)}  {name}\n" for name, path in files.items())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
