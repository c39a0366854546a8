"""The known relevant answers that Task 3 runs are compared with (004 §6.3.2, §6.4.2).

They are the relevant answers of Task 3 runs, also of those withdrawn since, and the relevant posts
of Task 1 that are not longer than an answer may be.
"""

from collections import defaultdict
from hashlib import sha256

import polars as pl
from django.conf import settings

from arqkit.measures.contextual import model_content, model_problem
from arqkit.measures.names import CONTEXTUAL_SIMILARITY, LEXICAL_OVERLAP, Measure, parse_measures
from arqkit.measures.overlap import Reference
from arqkit.texts.posts.text import text_with_latex
from arqlab.core.models import Task
from arqlab.labs.selectors import corrections_of
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from collection.selectors.threads import corrected_post, posts_of
from submissions.models import Run, RunQuerySet
from submissions.selectors import run_index

_RULES = 1
"""The version of the rules. Increase it with every change, so that scores are recomputed."""


def text_measures(qrel_set: QrelSet) -> list[Measure]:
    """Return the measures that compare texts of generated answers and can be computed here."""
    if qrel_set.items != Task.Items.ANSWERS:
        return []
    parsed = parse_measures(qrel_set.task.protocol.measures, relevant_from=qrel_set.relevant_from)
    barred = [measure for measure in parsed if is_by_model(measure, qrel_set.task)]
    if barred and not model_problem(settings.ANSWER_MODEL):
        barred = []
    return [measure for measure in parsed if measure.needs_texts and measure not in barred]


def is_by_model(measure: Measure, task: Task) -> bool:
    """Return whether the server's model of answers computes a measure of a task."""
    return measure is CONTEXTUAL_SIMILARITY or (
        measure is LEXICAL_OVERLAP and task.protocol.tokenizer == "model"
    )


def missing_model(task: Task) -> str:
    """Return why measures of a Task 3 have no values for want of a model, or an empty string."""
    is_third = task.kind == Task.Kind.GENERATED_ANSWERS
    measures = parse_measures(task.protocol.measures) if is_third else ()
    names = [measure.heading for measure in measures if is_by_model(measure, task)]
    problem = model_problem(settings.ANSWER_MODEL) if names else ""
    return f"{' and '.join(names)} cannot be computed. {problem}" if problem else ""


def references_key(qrel_set: QrelSet) -> str:
    """Return a digest of everything that the references are from, or "" if none are needed."""
    measures = text_measures(qrel_set)
    if not measures:
        return ""
    has_model = any(is_by_model(measure, qrel_set.task) for measure in measures)
    first = answers_qrels(qrel_set.task)
    sources = [qrel_set, *([first] if first else [])]
    protocol = qrel_set.task.protocol
    parts: list[object] = [_RULES, protocol.tokenizer, protocol.max_characters]
    parts += [model_content(settings.ANSWER_MODEL)] if has_model else []
    for source in sources:
        columns = ("pk", "index", "team", "identifier", "answer_ids")
        parts += [
            source.sha256,
            source.relevant_from,
            list(runs_known(source.task).values_list(*columns)),
        ]
    return sha256(repr(parts).encode()).hexdigest()


def answers_task(task: Task) -> Task | None:
    """Return the answer retrieval task of a task's lab, or None."""
    tasks = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).order_by("position", "pk")
    return tasks.select_related("lab").first()


def answers_qrels(task: Task) -> QrelSet | None:
    """Return the current qrels of the lab's answer retrieval task, or None."""
    source = answers_task(task)
    return qrels_named(source) if source else None


def runs_known(task: Task) -> RunQuerySet:
    """Return the valid runs of a task, also those withdrawn since."""
    valid = Run.objects.submitted().filter(task=task, status=Run.Status.VALID).exclude(index="")
    return valid.select_related("task__lab").order_by("pk")


def written_answers(run: Run) -> pl.DataFrame:
    """Return topic, item and answer of a run (Task 3), without rows for a run of ids alone.

    Raises `OSError` if the index cannot be read: scores without its answers would be kept.
    """
    index = run_index(run)
    texts = index if "answer" in index.columns else index.clear().with_columns(answer=pl.lit(""))
    return texts.select("topic", "item", "answer")


def post_references(qrel_set: QrelSet, *, longest: int) -> dict[str, list[Reference]]:
    """Return the relevant posts of Task 1 by topic, with the teams whose runs retrieved them.

    `longest` is the number of characters of the longest answer, with LaTeX between dollars.
    """
    judged = judged_frame(qrel_set)
    relevant = judged.filter(pl.col("label") >= qrel_set.relevant_from).select("topic", "item")
    teams: dict[tuple[str, str], set[int]] = defaultdict(set)
    for run in runs_known(qrel_set.task):
        index = run_index(run, columns=["topic", "item"])
        for key in relevant.join(index, on=["topic", "item"], how="semi").iter_rows():
            teams[key].add(run.team_id)
    lab, items = qrel_set.task.lab, relevant["item"].unique()
    corrections, posts = corrections_of(lab), posts_of(lab, items)
    texts = {
        item: text_with_latex(post.safe_body)
        for item in items
        if (post := corrected_post(posts.get(item), item, corrections))
    }
    references: dict[str, list[Reference]] = defaultdict(list)
    for topic, item in relevant.iter_rows():
        text = texts.get(item, "")
        if 0 < len(text) <= longest:
            references[topic].append(Reference(text, frozenset(teams[topic, item])))
    return references


def named_answers(index: pl.DataFrame, run: Run, judged: pl.DataFrame) -> pl.DataFrame:
    """Return rows of a Task 3 run with the ids of its answers in the qrels.

    They are RUN:TOPIC, by the run's identifier and the topic, or the ids of published answers
    (`Run.answer_ids`) where the qrels have them.
    """
    rows = list(run.answer_ids.items())
    published = pl.DataFrame(rows, {"topic": pl.String, "item": pl.String}, orient="row")
    named = published.join(judged, on=["topic", "item"], how="semi").rename({"item": "published"})
    default_id = pl.format("{}:{}", pl.lit(run.identifier), "topic")
    joined = index.join(named, on="topic", how="left", maintain_order="left")
    return joined.with_columns(item=pl.coalesce("published", default_id)).drop("published")
