"""Oddities of a pool, which organizers check before they freeze it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import polars as pl
from django.urls import reverse

from arqkit.formats.batches import in_slices
from arqkit.records import ItemKind
from arqlab.core.models import Lab, Task
from arqlab.labs.oddities import Oddity, named_oddity, submission_oddities
from arqlab.labs.selectors import corrections_of
from arqlab.web import counted, task_url
from assessment.pools.selectors.audit import AUDITED_DEPTH, NOT_POOLED, audit_pool
from assessment.pools.selectors.choices import PoolChoice, mixed_tasks, poolable_runs
from assessment.qrels.selectors.versions import qrels_named
from collection.models import Post
from collection.selectors.threads import corrected_post, posts_of
from submissions.oddities import run_oddities

POSTS_AT_ONCE = 500
PARTS = ("a text", "a thread", "the formula to judge")
"""What assessors need of an item."""
Item = tuple[str, str]
"""The topic and the id of an item."""


def pool_oddities(
    task: Task,
    choice: PoolChoice,
    *,
    labels: pl.DataFrame | None,
    texts: Mapping[Item, str],
    at: datetime,
    query: str = "",
) -> list[Oddity]:
    """Return the checks before a pool of a task is frozen.

    `labels` and `texts` are those of `ComputedPool`; without labels, there is nothing to freeze.
    `query` has the settings of the plan, for the page of the audit. A
    pool with answers of Task 3 depends on their task too: each oddity then names its task.
    """
    by_task = {task: [*_task_oddities(task, choice, at=at), *_without_qrels(task, choice)]}
    if labels is not None:
        by_task[task] += _unreadable(task.lab, labels, texts)
        by_task[task] += _missed_by_pool(task, choice, labels, query)
    others = mixed_tasks(task, choice.protocol)
    by_task |= {other: _task_oddities(other, choice, at=at) for other in others}
    if len(by_task) == 1:
        return by_task[task]
    return [
        replace(
            oddity, sentence=f"{owner.name}: {oddity.sentence}", fine=f"{owner.name}: {oddity.fine}"
        )
        for owner, oddities in by_task.items()
        for oddity in oddities
    ]


def _task_oddities(task: Task, choice: PoolChoice, *, at: datetime) -> list[Oddity]:
    """Return the checks of the submission and of the runs of one task."""
    _, barred = poolable_runs(task, offers_controls=True)
    names = [str(run) for run, _ in barred if run.pk not in choice.without_runs]
    what = "with visual ids" if task.kind == Task.Kind.FORMULAS else "without texts"
    return [
        *submission_oddities(task, at=at),
        named_oddity(
            names,
            (f"valid run {what} cannot be pooled", f"valid runs {what} cannot be pooled"),
            task_url("submissions:run-list", task),
            "All valid runs can be pooled.",
            is_red=True,
            leave_out={f"runs-{run.pk}": "It cannot be pooled." for run, _ in barred},
        ),
        *run_oddities(task),
    ]


def _without_qrels(task: Task, choice: PoolChoice) -> list[Oddity]:
    """Return the check for current qrels of the task whose relevant posts the pool extends."""
    if task.kind != Task.Kind.FORMULAS or not choice.protocol.extra_depth:
        return []
    answers = Task.objects.filter(lab=task.lab_id, kind=Task.Kind.ANSWERS).select_related("lab")
    first = answers.first()
    if first is None or not first.qrel_sets.exists():
        return []
    sentence = (
        f"No version of the qrels of {first.name} is current, so its relevant posts are those of "
        "the judgments."
    )
    url, fine = task_url("assessment:qrels-list", first), f"{first.name} has current qrels."
    return [Oddity(sentence, int(qrels_named(first) is None), url, fine)]


def _missed_by_pool(
    task: Task, choice: PoolChoice, labels: pl.DataFrame, query: str
) -> list[Oddity]:
    """Return the check for items that baselines rank high and that are in no pool, nor planned."""
    pooled, _ = poolable_runs(task, choice)
    baselines = [run for run in pooled if run.is_baseline]
    if not baselines:
        return []
    count = audit_pool(task, choice, baselines, planned=labels).count(NOT_POOLED)
    top = f"in the top {AUDITED_DEPTH} of baselines"
    sentence = f"{counted(count, f'item {top} is', f'items {top} are')} neither pooled nor judged."
    url = task_url("assessment:pool-audit", task) + (f"?{query}" if query else "")
    return [Oddity(sentence, count, url, f"All items {top} are pooled or judged.")]


def _unreadable(lab: Lab, labels: pl.DataFrame, texts: Mapping[Item, str]) -> Iterator[Oddity]:
    """Yield the counts of items whose assessors would miss a text, a thread or a formula.

    A formula's item counts if one of its instances lacks something.
    """
    items, kinds = labels.n_unique(["topic", "item"]), set(labels["kind"])
    url = reverse("collection:collection-detail", args=[lab.slug])
    needed = {
        "a thread": kinds - {ItemKind.DOCUMENTS},
        "the formula to judge": kinds & {ItemKind.VISUAL_IDS},
    }
    for part, (missing, lacking) in zip(PARTS, _missing(lab, labels, texts).items(), strict=True):
        verb = "has" if len(lacking) == 1 else "have"
        sentence = f"{len(lacking):,} of {counted(items, 'item')} {verb} {missing}"
        if needed.get(part, True):
            yield Oddity(
                sentence, len(lacking), url, f"All items have {part}.", is_red=part == "a text"
            )


def _missing(lab: Lab, labels: pl.DataFrame, texts: Mapping[Item, str]) -> dict[str, set[Item]]:
    """Return the items that lack something, by the end of the sentence about them."""
    no_text, no_thread, no_formula = set[Item](), set[Item](), set[Item]()
    columns = labels.select("post_id", "kind", "topic", "item", "doc_id").rows()
    written = {(topic, item) for _, kind, topic, item, _ in columns if kind == ItemKind.ANSWERS}
    no_text |= {item for item in written if not texts.get(item, "").strip()}
    rows = [row for row in sorted(columns) if row[1] != ItemKind.ANSWERS]
    for part in in_slices(rows, size=POSTS_AT_ONCE):
        posts = _readable_posts(lab, {row[0] for row in part})
        threads = _known_threads(lab, posts.values())
        for post_id, kind, topic, item, doc_id in part:
            post = posts.get(post_id)
            if post is None:
                no_text.add((topic, item))
                continue
            if post.kind != Post.Kind.DOCUMENT and post.thread_id not in threads:
                no_thread.add((topic, item))
            if (
                kind == ItemKind.VISUAL_IDS
                and f'id="{doc_id}"' not in post.safe_title + post.safe_body
            ):
                no_formula.add((topic, item))
    return {
        "no text. Assessors can only report them.": no_text,
        "no thread: the question is not in the collection.": no_thread,
        "a text without the formula to judge, so none is typeset and highlighted.": no_formula,
    }


def _readable_posts(lab: Lab, post_ids: Collection[str]) -> dict[str, Post]:
    """Return the posts that have a text, in the collection or from a correction of the lab."""
    posts, corrections = posts_of(lab, post_ids), corrections_of(lab)
    corrected = {
        post_id: corrected_post(posts.get(post_id), post_id, corrections) for post_id in post_ids
    }
    return {post_id: post for post_id, post in corrected.items() if post and post.safe_body.strip()}


def _known_threads(lab: Lab, posts: Collection[Post]) -> set[str]:
    """Return the ids of the threads of posts whose question is in the collection."""
    thread_ids = {post.thread_id for post in posts} - {""}
    questions = Post.objects.filter(
        collection__labs=lab, kind=Post.Kind.QUESTION, post_id__in=thread_ids
    )
    return set(questions.values_list("post_id", flat=True))
