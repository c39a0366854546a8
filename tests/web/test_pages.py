"""A page asks for access by what its address names, whoever calls its view."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import resolve

from analyses.views.qrels import qrels_effect
from arqlab.core.models import Task
from arqlab.labs.permissions import task_or_404
from arqlab.web import Pages
from tests.factories import Scene


def test_a_view_that_is_called_directly_asks_for_access(scene: Scene) -> None:
    request = RequestFactory().get("/")
    for user, opens in ((scene.organizer, True), (scene.member, False), (AnonymousUser(), False)):
        request.user = user
        place = {"lab": scene.lab.slug, "task": scene.task.slug}
        if opens:
            assert qrels_effect(request, **place).status_code == 200
        else:
            with pytest.raises(Http404):
                qrels_effect(request, **place)


def test_access_gets_the_parts_of_the_address_by_their_names(scene: Scene) -> None:
    pages = Pages(access=task_or_404)

    @pages.read("<slug:task>/of/<slug:lab>/<number:version>/", "reversed")
    def view(request: HttpRequest, task: Task, version: int) -> HttpResponse:
        return HttpResponse(f"{task.name} {version}")

    request = RequestFactory().get("/")
    request.user = scene.organizer
    match = resolve("/task1/of/arqmath-x/3/", urlconf=tuple(pages.urls))

    assert match.func(request, **match.kwargs).content.decode() == f"{scene.task.name} 3"


def test_a_view_of_two_addresses_asks_for_the_access_of_the_one_that_was_opened(
    scene: Scene,
) -> None:
    pages = Pages()

    @pages.read("tasks/<slug:lab>/<slug:task>/", "one", access=task_or_404)
    @pages.read("labs/<slug:lab>/", "two", access=lambda user, lab_slug: f"{user} {lab_slug}")
    def page(request: HttpRequest, subject: object) -> HttpResponse:
        return HttpResponse(str(subject))

    request = RequestFactory().get("/")
    request.user = scene.organizer
    lab, task = scene.lab.slug, scene.task.slug
    shown = [
        pattern.resolve(address).func(request, **pattern.resolve(address).kwargs).text
        for pattern, address in zip(
            pages.urls, [f"labs/{lab}/", f"tasks/{lab}/{task}/"], strict=True
        )
    ]

    assert shown == [f"{scene.organizer} {lab}", str(scene.task)]


def test_a_page_whose_address_lacks_what_its_access_asks_for_is_refused_when_it_is_declared() -> (
    None
):
    pages = Pages("labs/<slug:lab>/", task_or_404)

    with pytest.raises(TypeError, match=r"The page lost needs \{'task'\} in its address"):

        @pages.read("lost/", "lost")
        def lost(request: HttpRequest, task: Task) -> HttpResponse:
            return HttpResponse()
