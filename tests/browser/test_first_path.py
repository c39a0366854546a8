"""The first whole path, as people walk it: sign up, upload a broken run, repair it, find it on the
leaderboard.
"""

import pytest
from django.core.management import call_command
from django.utils import timezone
from playwright.sync_api import expect

from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import make_qrels
from tests.factories import PASSWORD, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

BROKEN = "".join(
    [
        "A.1\t101\t1\t9.5\tours\n",
        "A.1\t101\t1\t9.5\tours\n",  # the same line twice
        "A.1\t102\t2\t0,9\tours\n",  # a decimal comma
        "A.2\t201\t1\t7.25\tours\n",
        "\n",
    ]
)
DROP = """([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([text], name));
  document.querySelector("[data-drop-zone]").dispatchEvent(
    new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def sign_in(page, user):
    page.goto("/accounts/login/")
    page.get_by_label("Email address or user name").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()


def sign_up(page):
    page.goto("/accounts/signup/")
    page.get_by_label("Email address").fill("ada@example.org")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password", exact=True).fill("notes on an engine")
    page.get_by_role("main").get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("navigation").get_by_text("ada")).to_be_visible()


def make_team(page):
    page.goto("/labs/arqmath-x/teams/new/")
    page.get_by_label("Team name").fill("Analytical")
    page.get_by_role("button", name="Create team").click()
    expect(page.get_by_role("heading", name="Analytical")).to_be_visible()


def drop_a_broken_run(page):
    page.goto("/labs/arqmath-x/tasks/task1/runs/upload/")
    page.evaluate(DROP, ["Analytical-task1-engine-auto-both-P.tsv", BROKEN])
    expect(page.get_by_text("Analytical-task1-engine-auto-both-P.tsv").last).to_be_visible()


@pytest.mark.smoke
def test_a_team_goes_from_a_broken_run_to_the_leaderboard(page, look):
    scene = make_lab()
    make_qrels(scene.task, {"A.1": {"101": 3, "102": 1}, "A.2": {"201": 2}})
    sign_up(page)
    look("1-signed-up")
    call_command("confirm_address", "ada")
    make_team(page)
    look("2-team")
    drop_a_broken_run(page)
    look("3-dropped")
    page.get_by_role("button", name="Submit runs").click()
    expect(page.get_by_role("heading", name="A repaired file is ready")).to_be_visible()
    expect(page.get_by_text("0,9").first).to_be_visible()
    look("4-report")
    page.get_by_role("button", name="Submit repaired file").click()
    expect(page.get_by_text("Valid", exact=True).first).to_be_visible()
    look("5-valid")
    page.context.clear_cookies()
    release_as(page, scene.organizer, look)
    page.context.clear_cookies()
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    expect(page.get_by_role("row").filter(has_text="engine")).to_contain_text("1.0000")
    look("7-leaderboard")


def release_as(page, organizer, look):
    score_waiting(at=timezone.now())
    sign_in(page, organizer)
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    look("6-before-the-release")
    page.get_by_role("link", name="Release leaderboard").click()
    page.get_by_label("Continue although").check()
    page.get_by_role("button", name="Release leaderboard").click()
    expect(page.get_by_text("Released", exact=True).first).to_be_visible()
