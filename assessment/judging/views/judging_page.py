"""The judging page, and the list of what a person judges in a lab."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Lab, Task, User
from arqlab.core.views import signed_in
from arqlab.labs.permissions import looked_up_lab_or_404, may_see_thread
from arqlab.labs.selectors import roles_in
from arqlab.web import LAB, TASK, Pages, Tab, answer, judges, number_of, only_assessors, url_of
from assessment.assignments.selectors.roster import own_rosters
from assessment.guidelines.selectors.versions import (
    changed_guidelines,
    current_guideline,
    current_versions,
    followed_version,
    guideline_source,
)
from assessment.guidelines.services.rendering import ShownGuideline, guideline_html, show_guideline
from assessment.judging.permissions import official_place_or_404, round_place_or_404
from assessment.judging.selectors.own_work import own_round_topics, own_work
from assessment.judging.selectors.places import Place, judging_address
from assessment.judging.selectors.progress import open_items
from assessment.judging.selectors.topic_work import next_topic
from assessment.judging.services.judging_page import AT_ONCE, Sitting, open_sitting
from assessment.judging.services.leases import DEFAULT_HOURS, TRIP_HOURS
from assessment.judging.views.own_work import own_tickets_table, round_topics_table
from assessment.models import Guideline
from assessment.pools.selectors.choices import hides_threads
from assessment.tickets.selectors import own_answered_tickets, sent_tickets
from assessment.tickets.services.policies import policy_sentences

pages = Pages(section="judging", sign_in=True)


@pages.read("labs/offline-judging.js", "offline-worker", section="", sign_in=False)
@login_not_required
def offline_worker(request: HttpRequest) -> HttpResponse:
    """Return the service worker. Its address, not that of static files, lets it serve labs."""
    script = settings.BASE_DIR / "static" / "js" / "judge" / "trips" / "worker.js"
    return HttpResponse(script.read_bytes(), content_type="text/javascript")


@pages.read(
    f"{LAB}judging/",
    "judging-home",
    tabs=(
        Tab("lab", "Judging", 20, judges, "assessor.html"),
        Tab("task", "Judging", 75, only_assessors),
    ),
    access=looked_up_lab_or_404,
)
def judging_home(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the assessor's topics with items left, answered tickets and changed guidelines."""
    user = signed_in(request)
    work = own_work(user, [lab], texts=("title_html", "formula_html"))
    rows = work[lab.pk].rows if lab.pk in work else ()
    rounds = own_round_topics(user, lab=lab)
    earlier = [row for row in rounds if row.is_earlier and "earlier" not in request.GET]
    tasks = list({row.topic.task_id: row.topic.task for row in rows}.values())
    context = {
        "standing": roles_in(user, lab),
        "work": work.get(lab.pk),
        "rows": [
            (row, row.shares[user.pk].judged) for row in sorted(rows, key=lambda row: not row.left)
        ],
        "tasks": tasks,
        "changed": changed_guidelines(user, tasks),
        "versions": current_versions(tasks),
        "earlier": len(earlier),
        "rosters": own_rosters(user, lab),
        "sent": sent_tickets(lab, user).filter(advised_at=None).count(),
        "policies": policy_sentences(Task.objects.filter(pk__in=[task.pk for task in tasks])),
    }
    topic_keys = {row.topic.pk for row in rows}
    tickets = own_tickets_table(lab, topic_keys, own_answered_tickets(lab, user)[:20])
    later = [row for row in rounds if row not in earlier]
    tables = tickets, round_topics_table(later, with_rounds=True)
    return answer(request, "assessment/judging_home.html", context, *tables)


@pages.read(f"{TASK}judge/<str:query_id>/", "judge", access=official_place_or_404)
@pages.read(
    f"{TASK}rounds/<slug:round>/judge/<str:query_id>/",
    "round-judge",
    access=round_place_or_404,
    section="rounds",
)
def judge(request: HttpRequest, place: Place) -> HttpResponse:
    """Show the judging page of a topic; `item=ID` opens one of the assessor's own items.

    A GET request leases items. HEAD requests lease none, and browsers that prefetch the page are
    refused; they send the request again when the user opens the page. With `offline`, return the
    page that the browser stores for an offline trip, without items.
    """
    user = signed_in(request)
    if request.method == "HEAD":
        return HttpResponse()
    if "prefetch" in request.headers.get("Sec-Purpose", ""):
        return HttpResponse(status=503)
    is_offline = "offline" in request.GET
    sitting = open_sitting(
        place=place,
        user=user,
        item_id=number_of(request.GET.get("item", "")),
        at=timezone.now(),
        count=0 if is_offline else AT_ONCE,
    )
    context = place_context(place) | _judge_context(place, user, sitting, is_offline=is_offline)
    return render(request, "assessment/judge.html", context)


def _judge_context(
    place: Place, user: User, sitting: Sitting, *, is_offline: bool
) -> dict[str, object]:
    task = place.task
    guideline, following, next_url = current_guideline(task), next_topic(place, user), ""
    if following:
        next_task = place.path.task if place.round else following.task.slug
        path = place.path._replace(task=next_task, query_id=following.query_id)
        next_url = judging_address(path)
    config = _config(sitting, place, user, guideline) | {"is_offline": is_offline}
    if guideline is None or is_offline or not config["guideline_url"]:
        shown_guideline = show_guideline(task, guideline)
    else:  # only the text: the page loads the rest when needed
        html = guideline_html(guideline_source(task, guideline, sitting.work.scale))
        shown_guideline = ShownGuideline(html, False, [], [])
    # With nothing left to take, what the user reported waits for other assessors.
    waiting = open_items(place.stack, user.pk).filter(done_at=None)
    reported = 0 if sitting.items else waiting.filter(kept_from=user).count()
    # Topics of a round may be of another lab. Answers to special questions have no definitions.
    has_thread = task.words.has_threads and place.path.opens_lab
    definitions = guideline.definitions if guideline and not place.path.asks_questions else {}
    return {
        "hides_threads": hides_threads(place.topic.pk),
        "has_thread": has_thread
        and place.topic.is_question
        and (not place.round or may_see_thread(user, place.topic)),
        "scale": sitting.work.scale,
        "question_html": sitting.question_html,
        "guideline": guideline,
        "shown_guideline": shown_guideline,
        "definitions": definitions,
        "followed": _followed(guideline, user, sitting) if guideline else None,
        "work": sitting.work,
        "reported": reported,
        "others": sitting.work.total - sitting.work.done - reported,
        "next_topic": following,
        "next_url": next_url,
        "config": config,
        "trip_hours": TRIP_HOURS,
        "default_hours": DEFAULT_HOURS,
    }


def place_context(place: Place) -> dict[str, object]:
    home_url = reverse("assessment:judging-home", args=[place.path.lab])
    if place.round and not place.path.opens_lab:
        home_url = place.round.address
    return {
        "lab": place.task.lab,
        "task": place.task,
        "topic": place.topic,
        "round": place.round,
        "judge_url": place.address(),
        "list_url": place.address("judgment-list"),
        "home_url": home_url,
        "opens_lab": place.path.opens_lab,
    }


def _followed(guideline: Guideline, user: User, sitting: Sitting) -> int | None:
    """Return the version that the user judged with, if it is earlier than the current one."""
    followed = followed_version(user, guideline.task)
    if followed is None and sitting.work.judged:
        followed = 0
    return followed if followed is not None and followed < guideline.version else None


def _config(
    sitting: Sitting, place: Place, user: User, guideline: Guideline | None
) -> dict[str, object]:
    work, lab, guideline_url = sitting.work, place.path.lab, ""
    # The default text comes with the page, and applicants may not open other pages of the lab.
    if guideline and place.path.opens_lab:
        address = [lab, place.path.task, guideline.version]
        guideline_url = reverse("assessment:guideline-panel", args=address)
    return {
        "user": user.pk,
        "topic": place.path.query_id,
        "api": place.address("api-judging-next").removesuffix("next/"),
        "page_url": place.address(),
        "worker": {"url": reverse("assessment:offline-worker"), "scope": url_of("lab", lab)},
        "judgments_url": place.address("judgment-list"),
        "search_url": reverse("collection:post-list", args=[lab]),
        "guideline": guideline.version if guideline else None,
        "guideline_url": guideline_url,
        "items": sitting.items,
        "shown": sitting.asked_for,
        "refusal": sitting.refusal,
        "progress": {"total": work.total, "done": work.done},
        "pace": {"items": work.timed_items, "active_ms": work.active_ms},
    }
