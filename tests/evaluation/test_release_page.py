"""The page and the command that release a leaderboard: oddities, confirmation, undo."""

from datetime import timedelta
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arqlab.core.models import AuditEvent, Task
from assessment.models import PoolInstance, QrelSet
from evaluation.models import Leaderboard
from evaluation.selectors.boards import released_leaderboard
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from tests.assessment.factories import judge, make_pool, raise_ticket
from tests.ceremonies import confirmed, seen, sentences
from tests.evaluation.factories import GOOD, NOW, POOR, make_qrels, make_run

BOARD = "/labs/arqmath-x/tasks/task1/leaderboard/"
RELEASE, HIDE = f"{BOARD}release/", f"{BOARD}hide/"


@pytest.fixture
def calm(scene):
    """Return the scene with a closed task and a primary run of each team: nothing is odd."""
    Task.objects.filter(pk=scene.task.pk).update(deadline=timezone.now() - timedelta(days=1))
    qrels = make_qrels(scene.task)
    make_run(scene.team, scene.task, GOOD, tag="good", is_primary=True, sha256="a")
    make_run(scene.other_team, scene.task, POOR, tag="poor", is_primary=True, sha256="b")
    score_waiting(at=NOW)
    return SimpleNamespace(**vars(scene), people=scene.people, qrels=qrels)


@pytest.fixture
def browser(calm, client_of):
    return client_of(calm.organizer)


def command(*arguments: str) -> tuple[str, str]:
    out, errors = StringIO(), StringIO()
    call_command("release_board", "arqmath-x/task1", *arguments, stdout=out, stderr=errors)
    return out.getvalue(), errors.getvalue()


def make_odd(scene: SimpleNamespace) -> None:
    """Add one oddity of each kind."""
    deadline = timezone.now() + timedelta(days=39, hours=1)
    Task.objects.filter(pk=scene.task.pk).update(deadline=deadline)
    QrelSet.objects.update(is_current=False)
    make_run(scene.team, scene.task, GOOD, tag="same", sha256="a")
    make_run(scene.other_team, scene.task, tag="stray", report={"items": "formula-ids"})
    make_run(scene.other_team, scene.task, GOOD, tag="new", status="uploaded")
    Run.objects.filter(tag="good").update(is_primary=False)
    make_pool(scene.task)
    first, second, *_ = PoolInstance.objects.order_by("pk")
    judge(scene.assessor, first, 3)
    raise_ticket(scene.assessor, second)


def odd_sentences(scene: SimpleNamespace) -> list[str]:
    deadline = Task.objects.get(pk=scene.task.pk).deadline
    until = f"{deadline.day} {deadline:%B %Y, %H:%M} UTC"
    return [
        f"Submission is open until {until}: 39 days left.",
        "The qrels v1 are not the current version.",
        "1 valid run cannot be scored against the qrels v1: Beta stray.",
        "1 run is still being checked: Beta new.",
        "1 group of runs is byte-identical: Alpha good = Alpha same.",
        "1 team has valid runs but no primary run: Alpha.",
        "2 topics are not fully judged: A.1 (2 of 3 labels), A.2 (0 of 1 labels).",
        "1 ticket is open.",
    ]


def test_the_page_lists_everything_odd_with_a_link_to_it(calm, browser):
    make_odd(calm)

    page = browser.get(RELEASE, {"qrels": "v1"})

    assert sentences(page) == odd_sentences(calm)
    for oddity in page.context["ceremony"].oddities:
        assert f'href="{oddity.url.replace("&", "&amp;")}"' in page.content.decode()
        assert browser.get(oddity.url).status_code == 200


def test_a_run_without_a_judged_item_is_odd(calm, browser):
    make_run(calm.team, calm.task, {"A.1": ['"p1"', "10"]}, tag="quoted")
    score_waiting(at=NOW)

    assert sentences(browser.get(RELEASE)) == [
        "1 run has no item that the qrels v1 judge: Alpha quoted."
    ]


def test_a_task_that_has_not_opened_is_odd(calm, browser):
    opens = timezone.now() + timedelta(days=2)
    Task.objects.filter(pk=calm.task.pk).update(opens_at=opens, deadline=None)

    [sentence] = sentences(browser.get(RELEASE))
    assert sentence == (
        f"Submission has not opened yet. It opens on {opens.day} {opens:%B %Y, %H:%M} UTC."
    )


def test_a_release_without_oddities_is_one_button_and_one_audit_entry(calm, browser):
    assert "Nothing unusual was found." in browser.get(RELEASE).content.decode()

    page = confirmed(browser, RELEASE, qrels="v1").content.decode()

    assert "Version 1 is released." in page
    event = AuditEvent.objects.get(verb="leaderboard.release")
    assert (event.actor, event.detail["qrels"]) == (calm.organizer, "v1")


@pytest.mark.parametrize("seen", [{}, {"seen": "stale"}])
def test_nothing_is_released_by_somebody_who_has_not_seen_the_list(calm, browser, seen):
    answer = browser.post(RELEASE, {"qrels": "v1", **seen})

    assert answer.status_code == 422
    assert "This list has changed" in answer.content.decode()
    assert released_leaderboard(calm.task) is None


def test_an_oddity_that_appears_after_the_page_was_opened_is_shown_first(calm, browser):
    shown = seen(browser.get(RELEASE))
    make_run(calm.team, calm.task, GOOD, tag="same", sha256="a")

    answer = browser.post(RELEASE, {"qrels": "v1", **shown})

    assert "Alpha good = Alpha same" in answer.content.decode()
    assert released_leaderboard(calm.task) is None


def test_a_second_click_releases_nothing(calm, browser):
    shown = seen(browser.get(RELEASE))
    for _ in range(2):
        answer = browser.post(RELEASE, {"qrels": "v1", **shown}, follow=True)

    assert "nothing has changed since" in answer.content.decode()
    assert Leaderboard.objects.count() == 1
    assert AuditEvent.objects.filter(verb="leaderboard.release").count() == 1


def test_a_release_is_undone_and_the_threads_that_people_may_have_read_stay_open(calm, browser):
    assert "threads of the topics open" in browser.get(RELEASE).content.decode()
    confirmed(browser, RELEASE, qrels="v1")

    page = browser.post(HIDE, follow=True).content.decode()

    assert "The threads of the topics stay open" in page
    assert released_leaderboard(calm.task) is None
    assert Task.objects.get(pk=calm.task.pk).threads == Task.Threads.OPEN
    assert AuditEvent.objects.filter(verb="leaderboard.hide").count() == 1


def test_the_page_of_unknown_qrels_is_not_found(browser):
    assert browser.get(RELEASE, {"qrels": "v9"}).status_code == 404


def test_the_command_releases_at_once_if_nothing_is_odd_and_hides_again(calm):
    printed, errors = command("--by", calm.organizer.username)

    assert printed.startswith("Version 1 of the leaderboard of arqmath-x/task1 is released, with 2")
    assert errors == ""
    assert AuditEvent.objects.get(verb="leaderboard.release").actor == calm.organizer
    assert "is hidden" in command("--hide")[0]
    assert released_leaderboard(calm.task) is None


def test_the_command_prints_the_same_list_and_refuses_if_nobody_can_be_asked(calm):
    make_odd(calm)
    errors = StringIO()

    with pytest.raises(CommandError, match="add --yes"):
        call_command("release_board", "arqmath-x/task1", "--qrels", "v1", stderr=errors)

    assert errors.getvalue().replace("Red: ", "").splitlines() == odd_sentences(calm)
    assert released_leaderboard(calm.task) is None


def test_the_command_releases_only_if_what_is_red_is_acknowledged(calm):
    Task.objects.filter(pk=calm.task.pk).update(deadline=None)

    with pytest.raises(CommandError, match="Some checks are red"):
        command("--yes")
    assert released_leaderboard(calm.task) is None
    assert "is released" in command("--yes", "--acknowledge")[0]


def test_the_page_releases_only_if_what_is_red_is_acknowledged(calm, browser):
    Task.objects.filter(pk=calm.task.pk).update(deadline=None)

    page = confirmed(browser, RELEASE, acknowledged="")

    assert page.status_code == 422
    assert "Some checks are red." in page.content.decode()
    assert released_leaderboard(calm.task) is None


@pytest.fixture
def type_answer(monkeypatch):
    """Return a function that types an answer at a terminal."""

    def type_answer(text: str) -> None:
        terminal = StringIO(text)
        terminal.isatty = lambda: True
        monkeypatch.setattr("sys.stdin", terminal)

    return type_answer


def test_the_command_asks_at_a_terminal(calm, type_answer):
    Task.objects.filter(pk=calm.task.pk).update(deadline=None)
    type_answer("y\n")

    assert "is released" in command()[0]


@pytest.mark.parametrize("typed", ["\n", "no\n", ""])
def test_the_command_releases_nothing_without_a_yes(calm, type_answer, typed):
    Task.objects.filter(pk=calm.task.pk).update(deadline=None)
    type_answer(typed)

    with pytest.raises(CommandError, match="Nothing was changed"):
        command()
    assert released_leaderboard(calm.task) is None


def test_the_command_needs_current_qrels_or_a_name(calm):
    QrelSet.objects.update(is_current=False)

    with pytest.raises(CommandError, match="has no current qrels"):
        command()


def test_a_new_version_has_a_reason(calm, browser):
    release_leaderboard(qrel_set=calm.qrels, by=None, at=NOW)
    make_run(calm.team, calm.task, GOOD, tag="more")
    score_waiting(at=NOW)
    confirmed(browser, RELEASE, reason="A run was missing.")

    assert released_leaderboard(calm.task).reason == "A run was missing."
