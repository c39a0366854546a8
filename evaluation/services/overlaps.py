"""Scores of generated answers by their texts (004 §6.3.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import polars as pl
from django.conf import settings
from django.utils.module_loading import import_string

from arqkit.measures.names import Measure
from arqkit.measures.overlap import LexicalOverlap, Reference
from assessment.models import QrelSet
from evaluation.selectors.references import (
    answers_qrels,
    named_answers,
    post_references,
    readable_index,
    runs_known,
    text_measures,
)
from submissions.models import Run
from submissions.selectors import run_index

SCORES = {"topic": pl.String, "measure": pl.String, "value": pl.Float64}


class TextScorer:
    """The measures of a task that compare texts, with their references, for many runs."""

    def __init__(self, qrel_set: QrelSet, judged: pl.DataFrame) -> None:
        self.measures: Sequence[Measure] = text_measures(qrel_set)
        self._topics = judged["topic"].unique()
        references = _references(qrel_set, judged) if self.measures else {}
        self._overlap = LexicalOverlap(references, import_string(settings.LO_TOKENIZER))

    def score(self, run: Run) -> pl.DataFrame:
        """Return topic, measure and value; topics without a reference have no rows."""
        if not self.measures:
            return pl.DataFrame(schema=SCORES)
        answers = run_index(run, columns=["topic", "answer"])
        texts = dict(answers.filter(pl.col("topic").is_in(self._topics.to_list())).iter_rows())
        values = self._overlap.values(texts, team=run.team_id)
        rows = [
            (topic, one.name, value) for one in self.measures for topic, value in values.items()
        ]
        return pl.DataFrame(rows, schema=SCORES, orient="row")


def _references(qrel_set: QrelSet, judged: pl.DataFrame) -> dict[str, list[Reference]]:
    found: dict[str, list[Reference]] = defaultdict(list)
    relevant = judged.filter(pl.col("label") >= qrel_set.relevant_from)
    for run in runs_known(qrel_set.task):
        named = named_answers(readable_index(run, "answer"), run, judged)
        answers = named.join(relevant, on=["topic", "item"], how="semi")
        for topic, text in answers.select("topic", "answer").iter_rows():
            found[topic].append(Reference(text, frozenset([run.team_id])))
    first = answers_qrels(qrel_set.task)
    longest = qrel_set.task.protocol.max_characters
    for topic, posts in (post_references(first, longest=longest) if first else {}).items():
        found[topic] += posts
    return found
