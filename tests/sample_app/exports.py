"""A download."""

from collections.abc import Iterable

from arqlab.core.exports import Audience, Export, declare_exports
from arqlab.core.models import Task


def _greetings(task: Task) -> Iterable[bytes]:
    yield "".join(f"hello\t{topic.query_id}\n" for topic in task.topics.all()).encode()


declare_exports(
    tasks=[Export("greetings.tsv", "A greeting of each topic.", Audience.EVERYONE, _greetings)]
)
