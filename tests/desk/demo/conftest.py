"""Fixtures of the demo's tests: its lab file, its posts and its searchable collection."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from arqkit.formats.labs.folder import LabFile, TaskFile, read_lab
from arqkit.formats.runs.report import RunRules
from desk.demo import posts, systems
from desk.demo.posts import Post

TODAY = date(2027, 3, 10)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> LabFile:
    return read_lab(posts.write_lab(tmp_path_factory.mktemp("demo"), today=TODAY))


@pytest.fixture(scope="session")
def tasks(demo: LabFile) -> dict[str, TaskFile]:
    return {task.slug: task for task in demo.tasks}


@pytest.fixture(scope="session")
def read_posts() -> list[Post]:
    return posts.read_demo_posts()


@pytest.fixture(scope="session")
def library(read_posts: list[Post]) -> systems.Library:
    return systems.open_library(read_posts, posts.index_demo_formulas(read_posts))


@pytest.fixture(scope="session")
def rules(
    tasks: dict[str, TaskFile], read_posts: list[Post], library: systems.Library
) -> dict[str, RunRules]:
    known = pl.DataFrame(
        [post[:3] for post in read_posts], schema=["post_id", "type", "thread_id"], orient="row"
    )
    formulas = pl.DataFrame(
        [(formula.formula_id, formula.post_id, formula.visual_id) for formula in library.formulas],
        schema=["formula_id", "post_id", "visual_id"],
        orient="row",
    )
    return {
        slug: RunRules(
            kind=task.kind,
            topics=tuple(topic.query_id for topic in task.topics),
            limit=task.protocol.limit,
            max_characters=task.protocol.max_characters,
            order=task.protocol.order,
            items=task.protocol.items,
            posts=known,
            formulas=formulas,
            complete=True,
        )
        for slug, task in tasks.items()
    }


@pytest.fixture
def data() -> Path:
    """Return the folder of the demo's files."""
    return posts.FOLDER
