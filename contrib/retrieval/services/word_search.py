"""TF-IDF and BM25 for a lab: answers with their questions' titles, or documents."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from arqkit.retrieval.words import WordIndex, WordSettings
from contrib.retrieval.selectors import SearchedPost, Sources
from contrib.retrieval.services.indexes import Progress, built_index
from contrib.retrieval.services.timing import Ranked, ranked_by_topic


def by_words(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return the best posts for the words and the LaTeX of each topic.

    `settings` are fields of `WordSettings`.
    """
    index = WordIndex.open(build_words(sources, settings, progress))
    return ranked_by_topic(sources.topics, progress, lambda topic: index.search([topic]))


def build_words(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> Path:
    """Return the folder of the index for some settings, which is built if it is missing."""

    def build(folder: Path) -> None:
        posts = _counted(sources, progress)
        WordIndex.build(posts, WordSettings(**settings), folder=folder)

    name = words_name(sources)
    return built_index(sources, name=name, options=settings, build=build)


def words_name(sources: Sources) -> str:
    """Return the name of an index of words: answers or documents of one collection."""
    return f"words-{sources.task.kind}"


def _counted(sources: Sources, progress: Progress) -> Iterator[SearchedPost]:
    total = sources.count_posts()
    for done, post in enumerate(sources.posts()):
        progress(done, total)
        yield post
