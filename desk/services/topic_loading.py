"""Loading the topics of a task from uploaded files."""

from __future__ import annotations

from collections.abc import Mapping

from arqkit.formats.labs.folder import TaskFile
from arqkit.formats.topics.information import read_topic_info
from arqkit.formats.topics.read import read_topics
from arqkit.formats.topics.threads import read_topic_threads, threads_of
from arqkit.records import FileRefusedError, Problem, TaskKind, TopicRecord
from arqlab.core.models import Task, Topic
from arqlab.core.oddities import counted
from arqlab.core.services.topic_loading import load_topics
from assessment.models import QrelSet
from assessment.qrels.selectors.joining import join_warnings
from desk.services.loading import Loading, read_path, read_sent


def topics_from_files(one: Loading) -> list[str]:
    """Load the topics of a task, with their information and threads if those were sent."""
    task, load = one.task, one.load
    problems: list[Problem] = []
    formulas = task.kind == Task.Kind.FORMULAS
    topics = read_sent(
        problems, load, "topics", lambda data, path: read_topics(data, path=path, formulas=formulas)
    )
    info = read_sent(
        problems, load, "topic_info", lambda data, path: read_topic_info(data, path=path)
    )
    threads = read_path(problems, load, "topic_formulas", read_topic_threads)
    if problems or topics is None:
        raise FileRefusedError(problems)
    known = {topic.query_id: topic for topic in task.topics.order_by("position")}
    if not load.options.get("delete_others"):
        topics = _with_others(topics, known)
    ids = [topic.query_id for topic in topics]
    kept_info = {name: topic.info for name, topic in known.items()}
    kept_threads = {name: topic.thread_id for name, topic in known.items()}
    file = _task_file(
        task,
        topics,
        info={**kept_info, **(info or {})},
        threads={**kept_threads, **threads_of(ids, threads or {})},
    )
    changes = load_topics(task=task, file=file, by=one.by, choice=one.choice)
    for version in QrelSet.objects.filter(task=task).select_related("task__lab"):
        one.warnings.extend(join_warnings(version))
    return [f"{counted(len(ids), 'topic')}: {changes.line}"]


def _with_others(topics: list[TopicRecord], known: Mapping[str, Topic]) -> list[TopicRecord]:
    """Return the task's topics in their order, as in the file where it has them; then new ones."""
    sent = {topic.query_id: topic for topic in topics}
    kept = [sent.get(name) or _record(topic) for name, topic in known.items()]
    return [*kept, *(topic for topic in topics if topic.query_id not in known)]


def _record(topic: Topic) -> TopicRecord:
    return TopicRecord(
        topic.query_id,
        topic.title,
        topic.body,
        tuple(topic.tags),
        topic.formula_id or None,
        topic.latex or None,
    )


def _task_file(
    task: Task,
    topics: list[TopicRecord],
    *,
    info: dict[str, dict[str, str]],
    threads: dict[str, str],
) -> TaskFile:
    return TaskFile(
        slug=task.slug,
        name=task.name,
        kind=TaskKind(task.kind),
        topics=tuple(topics),
        topic_info=info,
        threads=threads,
        qrels=(),
        answer_ids=None,
        protocol=task.protocol,
        overrides=task.overrides,
        opens=task.opens_at,
        deadline=task.deadline,
        judging_deadline=task.judging_deadline,
    )
