"""Bags (BagIt 1.0, RFC 8493): a folder `data`, with the SHA-256 of each of its files beside it.

The Library of Congress's package does the same, but needs a module that setuptools has dropped, and
changes the folder of the process.
"""

import hashlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from arqkit.formats.archives.folders import SourceFolder, SourcePath
from arqkit.records import FileRefusedError

MANIFEST = "manifest-sha256.txt"


def seal_bag(bag: Path, info: Mapping[str, str], *, on: date) -> None:
    """Write what makes a bag of a folder with `data`: declaration, manifests and information."""
    payload = _payload(SourceFolder(bag))
    sizes = [file.path.stat().st_size for file in payload.values()]
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
        MANIFEST: _lines({name: _sha256(file) for name, file in payload.items()}),
    }
    for name, text in tags.items():
        (bag / name).write_text(text, encoding="utf-8", newline="\n")
    digests = {name: _sha256(SourceFolder(bag) / name) for name in sorted(tags)}
    (bag / "tagmanifest-sha256.txt").write_text(_lines(digests), encoding="utf-8", newline="\n")


def bag_faults(bag: SourceFolder) -> list[str]:
    """Return what is wrong with the data of a bag: a sentence for each file."""
    try:
        lines = (bag / MANIFEST).content().decode().splitlines()
    except (OSError, UnicodeDecodeError, FileRefusedError) as error:
        return [f"{MANIFEST} cannot be read: {error}"]
    listed = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    payload = _payload(bag)
    faults = [f"{name} is missing." for name in listed if name not in payload]
    for name, file in payload.items():
        if name not in listed:
            faults.append(f"{name} is not in {MANIFEST}.")
        elif _sha256(file) != listed[name]:
            faults.append(f"{name} is not as it was written.")
    return faults


def _payload(bag: SourceFolder) -> dict[str, SourcePath]:
    """Return the files of a bag by their paths as manifests write them (RFC 8493, 2.1.3)."""
    files = bag.files()
    named = {name.replace("%", "%25"): files[name] for name in files if name.startswith("data/")}
    return {name.replace("\r", "%0D").replace("\n", "%0A"): file for name, file in named.items()}


def _lines(digests: Mapping[str, str]) -> str:
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items())


def _sha256(path: SourcePath) -> str:
    with path.stream() as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
