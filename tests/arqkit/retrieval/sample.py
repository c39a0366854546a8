"""The real sample of answers, with the labs' topics and official judgments."""

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from arqkit.formats.dumps.blocks import rows
from arqkit.formats.dumps.records import PostRecord, read_post
from arqkit.formats.qrels.read import read_qrels
from arqkit.formats.topics.files import read_topics
from arqkit.records import TopicRecord
from arqkit.retrieval.words import BM25_SETTINGS, Passage, WordIndex, WordSettings
from tests.real_data import DATA

EDITIONS = (1, 2, 3)


@lru_cache
def sample_answers() -> list[Passage]:
    """Return id, title of the question and body of all answers in the sample."""
    read = (
        read_post(row, "Posts.xml").record
        for row in rows(DATA / "collection/Posts.xml.gz", "posts")
    )
    posts: dict[str, PostRecord] = {post.post_id: post for post in read if post}
    return [
        (post.post_id, posts[post.thread_id].title if post.thread_id in posts else "", post.body)
        for post in posts.values()
        if post.kind == "answer"
    ]


@lru_cache
def topics_of(edition: int) -> list[TopicRecord]:
    """Return the topics of Task 1."""
    path = f"arqmath-{edition}/topics.task1.xml"
    return read_topics((DATA / path).read_bytes(), path=path)


@lru_cache
def qrels_of(edition: int) -> pl.DataFrame:
    """Return the judgments of Task 1 whose answers are in the sample."""
    path = f"arqmath-{edition}/qrels.task1.tsv"
    qrels = read_qrels((DATA / path).read_bytes(), path=path)
    return qrels.filter(pl.col("item").is_in([item for item, _, _ in sample_answers()]))


@lru_cache
def word_index(settings: WordSettings = BM25_SETTINGS) -> WordIndex:
    """Return the index of the sample."""
    with TemporaryDirectory() as folder:  # what is opened can be read after it was deleted
        return WordIndex.build(sample_answers(), settings, folder=Path(folder))


def whole_ranking(edition: int, settings: WordSettings = BM25_SETTINGS) -> pl.DataFrame:
    """Return all answers with a term of a topic; 1,000 of 3,395 would lose judged ones."""
    return word_index(settings).search(topics_of(edition), limit=len(sample_answers()))
