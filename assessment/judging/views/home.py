"""The assessor's overview of topics."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from arqlab.core.models import Task
from arqlab.core.permissions import lab_or_404, may_look_up, signed_in
from arqlab.core.selectors import roles_in
from assessment.assignments.selectors.roster import own_rosters
from assessment.guidelines.selectors.versions import changed_guidelines, current_versions
from assessment.judging.selectors.own_rounds import own_round_topics
from assessment.judging.selectors.own_work import own_work
from assessment.tickets.selectors import own_answered_tickets, sent_tickets, with_policies
from assessment.tickets.services.policies import policy_sentences

ANSWERS = 20


@require_safe
@login_required
def judging_home(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the assessor's topics with items left, answered tickets and changed guidelines."""
    found, user = lab_or_404(request.user, lab), signed_in(request)
    if not may_look_up(user, found):
        raise Http404
    shown = ("title_html", "formula_html")
    work = own_work(user, [found], at=timezone.now(), shown=shown).get(found.pk)
    rows = work.rows if work else ()
    rounds = own_round_topics(user, lab=found)
    earlier = [] if "earlier" in request.GET else [row for row in rounds if row.is_earlier]
    tasks = list({row.topic.task_id: row.topic.task for row in rows}.values())
    known = Task.objects.filter(pk__in=[task.pk for task in tasks])
    context = {
        "lab": found,
        "standing": roles_in(user, found),
        "work": work,
        "rows": [
            (row, row.shares[user.pk].judged) for row in sorted(rows, key=lambda row: not row.left)
        ],
        "own": {row.topic.pk for row in rows},
        "tasks": tasks,
        "changed": changed_guidelines(user, tasks),
        "versions": current_versions(tasks),
        "round_topics": [row for row in rounds if row not in earlier],
        "earlier": len(earlier),
        "rosters": own_rosters(user, found),
        "tickets": own_answered_tickets(found, user)[:ANSWERS],
        "sent": sent_tickets(found, user).filter(advised_at=None).count(),
        "policies": [(task, policy_sentences(task)) for task in with_policies(known)],
    }
    return render(request, "assessment/judging_home.html", context)
