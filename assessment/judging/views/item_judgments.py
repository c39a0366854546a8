"""The organizers' page of all judgments of an item."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from arqlab.core.permissions import organized_task_or_404
from assessment.judging.selectors.item_judgments import judgments_of_item, pooled_items
from assessment.pools.services.threads import thread_url
from collection.selectors.threads import posts_of


@require_safe
def item_judgments(
    request: HttpRequest, lab: str, task: str, query_id: str, doc_id: str
) -> HttpResponse:
    """Show the judgments of an item with their comments and history, for organizers."""
    found = organized_task_or_404(request.user, lab, task)
    topic = get_object_or_404(found.topics, query_id=query_id)
    if not pooled_items(found, query_id, doc_id).exists():
        raise Http404
    judgments = list(judgments_of_item(found, query_id, doc_id))
    held = posts_of(found.lab, {one.instance.post_id for one in judgments})
    rows = []
    for one in judgments:
        instance, post_id = one.instance, one.instance.post_id
        address = thread_url(instance.item, instance.doc_id, post_id, lab)
        rows.append((one, address if post_id in held else ""))
    context = {
        "lab": found.lab,
        "task": found,
        "topic": topic,
        "doc_id": doc_id,
        "rows": rows,
        "people": len({one.assessor_id for one in judgments if one.assessor_id}),
    }
    return render(request, "assessment/item_judgments.html", context)
