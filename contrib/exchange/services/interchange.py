"""Runs and collections as other tools of the field read them: TREC, ir_datasets, TIRA."""

import re
from collections.abc import Iterator

import polars as pl
from django.template.loader import render_to_string

from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.runs.writing import run_of_ranking
from arqlab.core.models import Task
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_frame, qrels_named
from collection.selectors.collections import collection_of
from evaluation.selectors.boards import released_leaderboard
from evaluation.selectors.records import recorded_qrels, recorded_topics
from evaluation.services.scoring import comparable_indexes
from submissions.models import Run
from submissions.services.ir_metadata import write_ir_metadata, yaml_of

DEEPEST_RANK = 10**6


def trec_runs(task: Task, qrels: QrelSet | None) -> Iterator[tuple[str, bytes]]:
    """Yield the valid runs of a task as trec_eval, ir_measures, trectools and TIRA read them.

    Each has a folder with run.txt in six columns and ir-metadata.yml. Items and order are those
    that the qrels score: formulas have visual ids where these have them. Runs that cannot be scored
    are left out.
    """
    if qrels is None:
        return
    runs = Run.objects.valid().filter(task=task).select_related("team", "task__lab").order_by("pk")
    for run, index in comparable_indexes(runs, qrels, qrels_frame(qrels)):
        # Of every order, also that of ranks, the scores are what trec_eval sorts by.
        ranking = index.select(
            "topic", "item", score=DEEPEST_RANK - pl.col("order").cast(pl.Float64)
        )
        folder = re.sub(r"[^\w.-]+", "-", run.identifier)
        yield f"{folder}/run.txt", run_of_ranking(ranking, tag=run.identifier, limit=DEEPEST_RANK)
        yield f"{folder}/ir-metadata.yml", write_ir_metadata(run)


def trec_files(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the runs of a task and its qrels, released or current, for the tools of TREC."""
    released = released_leaderboard(task)
    qrels = recorded_qrels(released) if released else qrels_named(task)
    yield from trec_runs(task, qrels)
    if qrels is not None:
        yield "qrels.tsv", write_qrels(qrels_frame(qrels))


def ir_dataset_files(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the definition of a released task for ir_datasets: a module and its documentation.

    They stand beside topics.xml and qrels.tsv.
    """
    released = released_leaderboard(task)
    if released is None:
        return
    collection, task = collection_of(task.lab), recorded_qrels(released).task
    lab = task.lab
    facts = {
        "id": str(task),
        "pretty_name": f"{lab.name}: {task.name}",
        "desc": task.description or lab.description or f"{task.name} of {lab.name}.",
        "collection": collection.slug if collection else "",
        "licence": collection.licence if collection else "",
        "qrels": released.qrel_set.name,
        "labels": {label["value"]: label["word"] for label in released.qrel_set.scale},
    }
    yield "ir_dataset.py", render_to_string("exchange/ir_dataset.py.txt").encode()
    yield "ir_dataset.yaml", yaml_of(facts)


def ir_dataset_zip(task: Task) -> Iterator[tuple[str, bytes]]:
    """Yield the definition of a released task for ir_datasets with its topics and qrels."""
    yield from ir_dataset_files(task)
    if released := released_leaderboard(task):
        yield "topics.xml", recorded_topics(released)
        yield "qrels.tsv", write_qrels(qrels_frame(released.qrel_set))
