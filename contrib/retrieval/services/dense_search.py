"""Dense text for a lab: answers with their questions' titles, or documents, as vectors."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import polars as pl

from arqkit.records import TopicRecord
from arqkit.retrieval import dense
from arqkit.retrieval.dense import DenseIndex, WrongModelError
from arqlab.core.errors import UserError
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.indexes import Progress, built_index
from contrib.retrieval.services.timing import Ranked, ranked_by_topic

OPTIONS = {"model": dense.MODEL_SHA256}


def dense_text_facts(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
    """Return the hash of the model's weights."""
    return {"model_sha256": dense.MODEL_SHA256}


def by_dense_text(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return the posts whose vectors are nearest to each topic's (004 §6)."""
    folder = build_vectors(sources, progress)
    return ranked_by_topic(sources.topics, progress, lambda topic: nearest_posts(folder, [topic]))


def nearest_posts(folder: Path, topics: Iterable[TopicRecord], **limit: int) -> pl.DataFrame:
    """Return the ranking of topics by the index in a folder; refuse other weights of the model."""
    with _right_model():
        return opened_vectors(folder).search(topics, **limit)


@contextmanager
def _right_model() -> Iterator[None]:
    try:
        yield
    except WrongModelError as error:
        raise UserError(str(error), code="wrong-model") from error


@lru_cache(maxsize=2)
def opened_vectors(folder: Path) -> DenseIndex:
    """Return the index in a folder, opened once in a process: a finished folder never changes."""
    return DenseIndex.open(folder)


def build_vectors(sources: Sources, progress: Progress) -> Path:
    """Return the folder of the vectors of a collection's posts, which is built if it is missing.

    A killed build is resumed: the posts come in the same order as long as the collection is the
    same.
    """
    total = sources.count_posts()

    def build(folder: Path) -> None:
        progress(0, total)
        with _right_model():
            DenseIndex.build(sources.posts(), folder, lambda done: progress(done, total))

    name = vectors_name(sources)
    return built_index(sources, name=name, options=OPTIONS, build=build, resumes=True)


def vectors_name(sources: Sources) -> str:
    """Return the name of an index of vectors: answers or documents of one collection."""
    return f"dense-{sources.task.kind}"
