"""Background tasks of pools. Each calls one service and is safe to run twice."""

from arqlab.celery import scheduled
from arqlab.labs.services.formulas import typeset_old_formulas
from arqlab.labs.services.topic_pages import typeset_old_topics
from assessment.pools.services import texts


@scheduled(every=10)
def typeset_pools(seconds: float = 5.0) -> None:
    """Typeset formulas of frozen pools for a few seconds, so that other tasks get their turn.

    Then what an older version of the typesetter stored is typeset again: topics, formulas.
    """
    texts.typeset_waiting_pools(seconds=seconds)
    typeset_old_topics(seconds=seconds)
    typeset_old_formulas(seconds=seconds)
