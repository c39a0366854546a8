"""Who sees topics, threads and links to threads, when: objects, roles and phases of a lab."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.utils import timezone

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqkit.loads import LoadChoice
from arqlab.core.models import Lab, Task
from arqlab.labs.services.loading import load_lab_file
from collection.models import Collection, LabCollection
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.collection.threads import (
    SITE,
    add_answer,
    add_comment,
    add_question,
    link,
    make_collection,
)
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import (
    AssessorFactory,
    LabFactory,
    OrganizerFactory,
    Scene,
    TaskFactory,
    TopicFactory,
    make_lab,
)
from tests.labs.services.test_loading import write as write_lab

pytestmark = pytest.mark.django_db
SignIn = Callable[[object], Client]
AT = datetime(2026, 11, 23, tzinfo=UTC)
PHASES = ("upcoming", "open", "judging", "released")
ROLES = ("visitor", "outsider", "member", "assessor", "organizer", "superuser")
STAFF = {"assessor", "organizer", "superuser"}
STAFF_FACTORIES = (AssessorFactory, OrganizerFactory)
TOPIC = ("/labs/{lab}/tasks/{task}/topics/A.1/", "/labs/{lab}/tasks/{task}/topics/")
TASK = ("/labs/{lab}/tasks/{task}/", "/api/v1/labs/{lab}/tasks/{task}/")
THREAD = ("/labs/{lab}/tasks/{task}/topics/A.1/thread/", "/labs/{lab}/posts/1/")
ANSWER = ("/labs/{lab}/posts/11/", "/labs/{lab}/posts/11/?comment=5")
OTHER = ("/labs/{lab}/posts/2/", "/labs/{lab}/posts/21/")
SECRET = "the secret answer"


def make_scene(phase: str) -> Scene:
    """Make a lab whose topic A.1 is question 1; question 2 is its duplicate, 3 is related to it."""
    scene = make_lab()
    collection = make_collection(scene.lab)
    add_question(collection, "1", accepted_id="11")
    add_answer(collection, "11", to="1", body=f"<p>{SECRET}</p>")
    duplicate = f'<p>Possible Duplicate: <a href="{SITE}/questions/1/the-topic">The topic</a></p>'
    add_question(collection, "2", body=duplicate)
    add_answer(collection, "21", to="2", body=f'<p>See <a href="{SITE}/a/11">this one</a>.</p>')
    add_question(collection, "3")
    add_comment(collection, "5", on="11", text=SECRET)
    add_comment(collection, "6", on="2", text=f"possible duplicate of {SITE}/questions/1/the-topic")
    add_comment(collection, "7", on="2", text="A harmless comment")
    link(collection, "2", "1", kind="duplicate")
    link(collection, "1", "3")
    scene.task.topics.filter(query_id="A.1").update(thread_id="1")
    make_qrels(scene.task, {"A.1": {"11": 3}}, name="official")
    make_run(scene.team, scene.task, {"A.1": ["11"]}, tag="first")
    day, now = timedelta(days=1), timezone.now()
    opens, closes = {"upcoming": (now + day, now + 2 * day), "open": (now - day, now + day)}.get(
        phase, (now - 2 * day, now - day)
    )
    Task.objects.filter(pk=scene.task.pk).update(opens_at=opens, deadline=closes)
    if phase == "released":
        score_waiting(at=AT)
        release_leaderboard(qrel_set=scene.task.qrel_sets.get(), by=scene.organizer, at=AT)
    return scene


def signed_in(scene: Scene, role: str, client_of: SignIn) -> Client:
    return client_of(AnonymousUser() if role == "visitor" else scene.people[role])


def address(template: str, scene: Scene) -> str:
    return template.format(lab=scene.lab.slug, task=scene.task.slug)


@pytest.mark.parametrize("phase", PHASES)
def test_each_object_is_visible_to_the_roles_of_the_protocol_in_each_phase(phase, client_of):
    scene = make_scene(phase)
    for role in ROLES:
        client = signed_in(scene, role, client_of)
        has_opened = role in STAFF or phase != "upcoming"
        sees_threads = role in STAFF or phase == "released"
        wanted = dict.fromkeys((*TOPIC, *TASK), has_opened)
        wanted |= dict.fromkeys((*THREAD, *ANSWER), sees_threads)
        wanted |= dict.fromkeys(OTHER, True)
        found = {path: client.get(address(path, scene)).status_code for path in wanted}
        assert found == {path: 200 if visible else 404 for path, visible in wanted.items()}, role
        # What the judging page asks for is visible to the same people.
        reader = client.session.get("_auth_user_id")
        panels = (*THREAD, *ANSWER, *OTHER)
        headers = {"X-Judging-User": str(reader)}
        found = {
            path: client.get(address(path, scene), headers=headers).status_code for path in panels
        }
        assert found == {path: 200 if wanted[path] else 404 for path in panels}, role


class Crawler(HTMLParser):
    """Collects the addresses of a page's links."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value for name, value in attrs if name == "href" and value]


def pages_of(client: Client, starts: list[str]) -> dict[str, str]:
    """Return all pages of ours that are reached from some, by their addresses."""
    todo, found = starts, {}
    while todo:
        path = todo.pop().partition("#")[0]
        if path.startswith("/") and path not in found and not path.startswith("/static"):
            response = client.get(path)
            found[path] = "" if response.streaming else response.text
            crawler = Crawler()
            crawler.feed(found[path])
            todo += crawler.addresses
    return found


@pytest.mark.parametrize("role", ["visitor", "outsider", "member"])
def test_an_outsider_finds_neither_an_answer_nor_a_duplicate_of_an_open_topic(role, client_of):
    scene = make_scene("open")
    posts = [f"/labs/{scene.lab.slug}/posts/{number}/" for number in range(1, 30)]
    search = [f"/labs/{scene.lab.slug}/posts/?q=secret", f"/labs/{scene.lab.slug}/formulas/1/"]
    others = [
        f"/api/v1/labs/{scene.lab.slug}/",
        f"/labs/{scene.lab.slug}/tasks/",
        "/api/v1/schema/",
    ]

    pages = pages_of(signed_in(scene, role, client_of), ["/", *posts, *search, *others])

    assert "A harmless comment" in pages[posts[1]]
    for path, page in pages.items():
        assert SECRET not in page, path
        if path in posts:
            assert "questions/1/" not in page, path
            assert "The topic" not in page, path
            assert not {"/posts/1/", "#post-1", "#post-11"} & set(page.split('"')), path
            assert "Linked" not in page, path
            assert "Marked as a duplicate of" not in page, path


def other_lab() -> Lab:
    """Make another lab that searches the same collection."""
    lab: Lab = LabFactory()
    LabCollection.objects.create(lab=lab, collection=Collection.objects.get())
    return lab


def test_a_lab_with_the_same_collection_does_not_open_the_threads_of_another(client_of):
    scene = make_scene("open")
    lab = other_lab()
    path = f"/labs/{lab.slug}/posts/1/"
    assert Client().get(path).status_code == 404
    assert client_of(OrganizerFactory(lab=lab).user).get(path).status_code == 404
    assert client_of(scene.organizer).get(path).status_code == 200


@pytest.mark.parametrize("threads", ["at-release", "open"])
def test_nobody_opens_a_thread_of_another_lab_by_making_it_a_topic(threads, client_of):
    scene = make_scene("open")
    topic = TopicFactory(task=TaskFactory(lab=other_lab(), threads=threads), thread_id="1")
    lab, people = topic.task.lab, [make(lab=topic.task.lab) for make in STAFF_FACTORIES]
    paths = [f"/labs/{lab.slug}/tasks/{topic.task.slug}/topics/{topic}/thread/"]
    paths += [path.format(lab=lab.slug) for path in (*ANSWER, THREAD[1])]

    assert {client_of(one.user).get(path).status_code for one in people for path in paths} == {404}
    # Those of the lab that closed it first still judge with it.
    for role in STAFF:
        assert signed_in(scene, role, client_of).get(address(THREAD[0], scene)).status_code == 200


def test_an_organizer_of_both_labs_sees_a_thread_that_both_closed(client_of):
    scene = make_scene("open")
    topic = TopicFactory(task=TaskFactory(lab=other_lab()), thread_id="1")
    OrganizerFactory(lab=topic.task.lab, user=scene.organizer)
    path = f"/labs/{topic.task.lab.slug}/posts/1/"

    assert client_of(scene.organizer).get(path).status_code == 200


def test_a_topic_that_gets_another_thread_opens_none_that_was_closed_before(client_of, tmp_path):
    lab = load_lab_file(read_lab(SourceFolder(write_lab(tmp_path))), by=None)
    make_scene("open")
    LabCollection.objects.create(lab=lab, collection=Collection.objects.get())
    (tmp_path / "f.tsv").write_text(
        "id\ttopic_id\tthread_id\ttype\tformula\nq_1\tA.1\t1\ttitle\tx\n"
    )
    file = tmp_path / "lab.toml"
    file.write_text(file.read_text() + 'topic_formulas = "f.tsv"\n')
    load_lab_file(read_lab(SourceFolder(tmp_path)), by=None, choice=LoadChoice(confirmed=True))

    assert lab.tasks.get().topics.get(query_id="A.1").thread_id == "1"
    organizer = client_of(OrganizerFactory(lab=lab).user)
    assert organizer.get(f"/labs/{lab.slug}/posts/1/").status_code == 404


def test_the_threads_of_a_progress_test_close_them_for_the_released_task_too(client_of):
    scene = make_scene("released")
    [topic, page] = (address(path, scene) for path in (TOPIC[0], THREAD[0]))
    TopicFactory(task=TaskFactory(lab=scene.lab), thread_id="1")
    assert client_of(scene.member).get(page).status_code == 404
    assert page not in client_of(scene.member).get(topic).text
    assert page in client_of(scene.organizer).get(topic).text


def test_organizers_open_and_close_threads_on_the_page_of_the_task(client_of):
    scene = make_scene("released")
    edit, thread = (address(path, scene) for path in ("/labs/{lab}/tasks/{task}/edit/", THREAD[0]))
    organizer, visitor = signed_in(scene, "organizer", client_of), Client()
    form = organizer.get(edit).context["form"]
    left_out = ("shows_own_scores", "version")
    values = {name: form[name].value() or "" for name in form.fields if name not in left_out}

    for threads, status in (("closed", 404), ("open", 200), ("at-release", 404)):
        sent = organizer.post(edit, values | {"opens_at": "", "deadline": "", "threads": threads})
        assert sent.status_code == 302
        assert visitor.get(thread).status_code == status
