"""The folders of indexes: built once for a collection and settings, and kept below the data folder.

A folder is there only when it is whole: it is built beside its place, and moved there when it is
done. A killed build leaves its lock free and its parts behind, which the next build deletes, or
goes on with.
"""

import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from contrib.retrieval.selectors import Sources

Progress = Callable[[int, int | None], None]
"""What is told how many rows of a step are done, and of how many if that is known."""

EQUATIONS_VERSION = 1
"""Increase it with every change of graphs or of the network of equation embeddings."""


def indexes_of(sources: Sources) -> Path:
    """Return the folder of all indexes of a collection in its present state."""
    slug = sources.collection.slug if sources.collection else ""
    return Path(settings.DATA_DIR, "retrieval", slug, sources.collection_sha256[:16])


def index_folder(sources: Sources, *, name: str, options: Mapping[str, object]) -> Path:
    """Return the folder of an index with some settings, which exists once it is built."""
    digest = hashlib.sha256(json.dumps(dict(options), sort_keys=True).encode()).hexdigest()
    return indexes_of(sources) / f"{name}-{digest[:12]}"


def has_earlier_version(sources: Sources, *, name: str, options: Mapping[str, object]) -> bool:
    """Return whether there is only an index of another version of ArqLab, which is not read."""
    if "version" not in options or index_folder(sources, name=name, options=options).exists():
        return False
    return any(
        place.is_dir() and not place.suffix for place in indexes_of(sources).glob(f"{name}-*")
    )


def built_index(
    sources: Sources,
    *,
    name: str,
    options: Mapping[str, object],
    build: Callable[[Path], None],
    resumes: bool = False,
) -> Path:
    """Return the folder of an index, which `build` fills unless it is there already.

    `options` are all settings that change what is in the index. Another process that builds the
    same index is waited for. If `build` resumes, it gets what a killed build left. The indexes of
    earlier states of the collection are deleted.
    """
    folder = index_folder(sources, name=name, options=options)
    parts = folder.with_suffix(".building")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _alone(folder.with_suffix(".lock")):
        if not folder.exists():
            if not resumes:
                shutil.rmtree(parts, ignore_errors=True)
            parts.mkdir(exist_ok=True)
            build(parts)
            parts.rename(folder)
            _delete_earlier(folder.parent)
    return folder


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Hold the lock of an index, which ends with its process."""
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _delete_earlier(current: Path) -> None:
    for other in current.parent.iterdir():
        if other != current:
            shutil.rmtree(other, ignore_errors=True)


def equations_index(settings: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    """Return the name and the options of the index of equation embeddings, without its packages.

    The options are all that changes what is in a network and in its index.
    """
    return "equations", {"version": EQUATIONS_VERSION, **settings}
