"""A topic that the frozen pool left out is judged, planned, offered and counted nowhere."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.urls import reverse

from arqlab.core.models import Topic
from assessment.assignments.selectors.grid import assignment_grid
from assessment.assignments.selectors.left_out import left_out_topics
from assessment.models import RosterEntry, SetAsideTopic, TopicBid
from tests.assessment.factories import NOW, assign, make_pool
from tests.factories import Scene
from tests.paths import PACKAGES, ROOT

pytestmark = pytest.mark.django_db
TASK = ["arqmath-x", "task1"]


def freeze_without(topic: Topic) -> None:
    """Freeze a pool of the other topic, of 100 items."""
    make_pool(topic.task, {"A.1": [str(number) for number in range(100)]})


def set_aside(topic: Topic) -> None:
    """Freeze a pool of both topics, and set one aside."""
    both = {name: [str(number) for number in range(100)] for name in ("A.1", "A.2")}
    make_pool(topic.task, both)
    SetAsideTopic.objects.create(
        topic=topic, judged=50, relevant=0, probability=0.0, set_aside_at=NOW
    )


@pytest.fixture(params=[freeze_without, set_aside])
def place(request, scene) -> Scene:
    """A task that leaves A.2 out, of which an assessor has both topics and marked them."""
    topics = scene.task.topics.all()
    RosterEntry.objects.create(task=scene.task, user=scene.assessor, hours=10, added_at=NOW)
    for topic in topics:
        TopicBid.objects.create(topic=topic, user=scene.assessor, choice="no", changed_at=NOW)
    request.param(scene.task.topics.get(query_id="A.2"))
    return scene


@pytest.fixture
def page(place, client_of) -> Callable[[str], str]:
    """Return the text of a page of the organizer, or of the assessor."""

    def text(name: str, *, by: str = "organizer", data=None) -> str:
        client = client_of(place.people[by])
        arguments = TASK if name != "assessment:judging-home" else TASK[:1]
        path = reverse(name, args=arguments)
        html = (client.post(path, data) if data else client.get(path)).text
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())

    return text


def test_the_plan_needs_the_hours_of_the_others(page):
    shown = page("assessment:assignment-plan", data={"action": "propose", "overlap": "0"})

    # 100 answers at 44.1 seconds take 1.2 hours.
    assert "topics need about 1.2 hours" in shown
    assert "A.2" not in shown
    assert "Expected labels" not in shown


def test_the_plan_offers_second_judgments_for_the_others(page, place, client_of):
    html = client_of(place.organizer).get(reverse("assessment:assignment-plan", args=TASK)).text

    assert re.search(r'name="overlap" value="1"', html)


def test_assessors_mark_the_others(page):
    shown = page("assessment:bid-list", by="assessor")

    assert "The title of A.1" in shown
    assert "The title of A.2" not in shown


def test_the_roster_counts_the_others(page, place):
    assign(place.assessor, *place.task.topics.all())
    shown = page("assessment:assignment-roster")

    assert "Save 1 0 0 1 0" in shown


def test_the_judging_page_counts_the_marks_of_the_others(page):
    assert "1 of 1" in page("assessment:judging-home", by="assessor")


def test_the_grid_and_the_home_pages_say_it(page, place):
    assign(place.assessor, *place.task.topics.all())
    row = assignment_grid(place.task, at=NOW).rows[1]

    assert (row.left, row.is_left_out) == (0, True)
    assert row.state in ("left-out", "set-aside")
    assert row.state.replace("-", " ").capitalize() in page("assessment:assignment-list")
    assert "No need to judge it" in page("assessment:judging-home", by="assessor")


def test_before_a_pool_is_frozen_no_topic_is_left_out(scene):
    assert not left_out_topics([scene.task]).exists()


def test_a_supplement_brings_a_topic_back(scene):
    freeze_without(scene.task.topics.get(query_id="A.2"))
    assert [topic.query_id for topic in left_out_topics([scene.task])] == ["A.2"]
    make_pool(scene.task, {"A.2": ["7"]})

    assert not left_out_topics([scene.task]).exists()


def test_nobody_but_the_owner_asks_which_topics_are_set_aside():
    """The service sets them aside, and `left_out_topics` answers everyone else."""
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("*/**/*.py")
        if path.relative_to(ROOT).parts[0] in PACKAGES
        and "SetAsideTopic.objects" in path.read_text()
    ]
    assert sorted(asking) == [
        "assessment/assignments/selectors/left_out.py",
        "assessment/assignments/services/planning.py",
    ]
