"""Approach0 for a lab: formulas for Task 2, and answers for Task 1 by a formula of the question."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from arqkit.records import TopicRecord
from arqkit.retrieval.approach0 import Approach0Index, EngineError
from arqlab.core.errors import UserError
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.formula_topics import rank_formulas
from contrib.retrieval.services.indexes import Progress, built_index
from contrib.retrieval.services.timing import Ranked


def by_approach0(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return the best formulas for each topic, or the answers with the best ones."""

    def build(folder: Path) -> None:
        Approach0Index.build(_latex(sources, progress), folder)

    try:
        index = Approach0Index(built_index(sources, name="approach0", options={}, build=build))
        with index.engine() as engine:

            def search(topic: TopicRecord, latex: str, depth: int) -> pl.DataFrame:
                return index.search(engine, topic.query_id, latex, depth)

            return rank_formulas(sources, progress, search)
    except EngineError as error:
        raise UserError(str(error), code="engine") from error


def _latex(sources: Sources, progress: Progress) -> Iterator[tuple[str, str]]:
    """Yield the id and the LaTeX of the formulas."""
    total, done = sources.count_formulas(), 0
    for some in sources.formulas():
        for row in some.drop_nulls("latex").select("formula_id", "latex").iter_rows():
            progress(done, total)
            yield row
            done += 1
