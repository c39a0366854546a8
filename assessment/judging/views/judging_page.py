"""The judging page, and the list of what a person judges in a lab."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Lab, User
from arqlab.core.views import signed_in
from arqlab.labs.permissions import looked_up_lab_or_404
from arqlab.web import (
    LAB,
    TASK,
    Pages,
    Tab,
    answer,
    context_of,
    judges,
    number_of,
    only_assessors,
    url_of,
)
from assessment.judging.permissions import official_place_or_404, round_place_or_404
from assessment.judging.selectors.judging_home import judging_home_of
from assessment.judging.selectors.places import Place, page_of_place
from assessment.judging.services.judging_page import JudgingPage, open_judging_page
from assessment.judging.views.own_work import own_tickets_table, round_topics_table

pages = Pages(section="judging", sign_in=True)


@dataclass(frozen=True)
class JudgingScript:
    """What the script of the judging page reads: addresses, the first items and the progress."""

    config: dict[str, object]


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
    home = judging_home_of(signed_in(request), lab, with_earlier="earlier" in request.GET)
    tables = (
        own_tickets_table(lab, home.topic_keys, home.answered),
        round_topics_table(home.round_topics, with_rounds=True),
    )
    return answer(request, "assessment/judging_home.html", context_of(home), *tables)


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
    page = open_judging_page(
        place=place,
        user=user,
        item_id=number_of(request.GET.get("item", "")),
        at=timezone.now(),
        is_offline="offline" in request.GET,
    )
    script = JudgingScript(_config(page, place, user))
    context = context_of(page_of_place(place), page, script)
    return render(request, "assessment/judge.html", context)


def _config(page: JudgingPage, place: Place, user: User) -> dict[str, object]:
    sitting, work, guideline = page.sitting, page.work, page.guideline
    lab, guideline_url = place.path.lab, ""
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
        "is_offline": page.is_offline,
    }
