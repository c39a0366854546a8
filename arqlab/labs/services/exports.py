"""The files of topics that tasks hand out."""

from collections.abc import Iterable, Iterator, Mapping

from arqkit.formats.labs.files import TOPIC_FORMULAS, TOPIC_INFO, TOPICS
from arqkit.formats.topics.files import TopicFormula, write_topic_formulas
from arqkit.formats.topics.information import write_topic_info
from arqlab.core.exports import (
    Audience,
    Document,
    Export,
    declare_documents,
    declare_exports,
    task_document,
)
from arqlab.core.models import Task
from arqlab.labs.selectors import topics_xml


def topic_info_csv(facts: Mapping[str, Mapping[str, str]]) -> bytes:
    """Return information about topics as CSV, with all fields that any topic has."""
    return write_topic_info(
        facts, dict.fromkeys(name for topic_facts in facts.values() for name in topic_facts)
    )


def _topics(task: Task) -> Iterable[bytes]:
    yield topics_xml(task)


def _has_topics(task: Task) -> bool:
    return task.topics.exists()


def _topic_info(task: Task) -> Iterable[bytes]:
    topics = task.topics.order_by("position")
    yield topic_info_csv({topic.query_id: topic.facts for topic in topics})


def _topic_formulas(task: Task) -> Iterable[bytes]:
    """Yield the query formulas of topics with the threads from which the topics were made."""
    topics = task.topics.exclude(thread_id="").order_by("position")
    yield write_topic_formulas(
        TopicFormula(
            topic.formula_id or f"q_{topic.position}",
            topic.query_id,
            topic.thread_id,
            "title",
            topic.latex,
        )
        for topic in topics
    )


def _documents(task: Task, *, published: bool) -> Iterator[Document]:
    """Yield the threads of topics, which published archives leave closed."""
    if not published and task.topics.exclude(thread_id="").exists():
        yield task_document(TOPIC_THREADS, task)


TOPIC_THREADS = Export(
    TOPIC_FORMULAS.name,
    "The threads of the topics.",
    Audience.ORGANIZERS,
    _topic_formulas,
    kind=TOPIC_FORMULAS,
)
declare_documents(of_task=_documents)
declare_exports(
    tasks=[
        Export(
            TOPICS.name,
            "The topics, in the labs' XML.",
            Audience.EVERYONE,
            _topics,
            kind=TOPICS,
            exists=_has_topics,  # a file without topics could not be loaded
        ),
        Export(
            TOPIC_INFO.name,
            "The information about each topic.",
            Audience.ORGANIZERS,
            _topic_info,
            kind=TOPIC_INFO,
            published=_topic_info,
        ),
    ]
)
