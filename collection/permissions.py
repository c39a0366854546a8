"""Who may see which threads."""

from django.db.models import Exists, OuterRef

from arqlab.core.models import Task, Topic, Visitor
from arqlab.labs.permissions import labs_staffed_by
from collection.models import Collection


def closed_threads(user: Visitor, collection: Collection) -> frozenset[str]:
    """Return the ids of the threads in a collection that a user may not see.

    These are the threads of topics, until the organizers open them (`Task.threads`). Organizers and
    assessors see those of their own lab. Labs may share a collection, so the topics of all of them
    count: nobody opens the thread of another lab by making it a topic of their own later.
    """
    topics = Topic.objects.exclude(thread_id="").filter(
        task__lab__labcollection__collection=collection
    )
    staffed = labs_staffed_by(user)
    staffed_topics = topics.filter(
        task__lab__in=staffed,
        thread_id=OuterRef("thread_id"),
        thread_since__lte=OuterRef("thread_since"),
    )
    closed = topics.exclude(task__threads=Task.Threads.OPEN).exclude(task__lab__in=staffed)
    return frozenset(closed.exclude(Exists(staffed_topics)).values_list("thread_id", flat=True))
