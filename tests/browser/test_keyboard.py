"""The way of a team with the keyboard alone: sign in, upload, read the report, sort the board, turn
the topics' pages.
"""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import PASSWORD, Scene, make_lab
from tests.submissions.factories import BAD_RUN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TASK = "/labs/arqmath-x/tasks/task1/"
MAX_TABS = 60
# The name of what has the focus, and whether a person sees that it has it.
FOCUS = """() => {
  const element = document.activeElement;
  const style = getComputedStyle(element);
  const box = element.getBoundingClientRect();
  const label = element.labels?.[0]?.textContent ?? "";
  const words = `${label} ${element.getAttribute("aria-label") ?? ""} ${element.textContent}`;
  const name = words.replace(/\\s+/g, " ").trim();
  const isRinged = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const isInside = box.width > 0 && box.bottom > 0 && box.top < innerHeight
    && box.right > 0 && box.left < innerWidth;
  return [name, isRinged && isInside];
}"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the thing of a name has the focus; whatever has it on the way shows it."""
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        found, is_seen = page.evaluate(FOCUS)
        assert is_seen, f"Nobody sees that {found!r} has the focus."
        if name in found:
            return
    pytest.fail(f"Tab never came to {name!r}.")


def sign_in_by_keys(page: Page, scene: Scene) -> None:
    page.goto("/accounts/login/")
    tab_to(page, "Email address or user name")
    page.keyboard.type(scene.member.username)
    tab_to(page, "Password")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Next steps")).to_be_visible()


def choose_by_keys(page: Page, name: str, content: bytes) -> None:
    # Playwright takes the chooser over a moment after somebody began to listen; the key may come
    # before that moment.
    page.on("filechooser", lambda chooser: None)
    tab_to(page, "Run files")
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": content})
    expect(page.get_by_role("heading", name="Run details")).to_be_visible()


def open_by_keys(page: Page, name: str) -> None:
    tab_to(page, name)
    page.keyboard.press("Enter")


def test_the_skip_link_is_the_first_stop_and_leads_into_the_content(page):
    make_lab()
    page.goto("/labs/arqmath-x/")

    open_by_keys(page, "Skip to content")

    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_a_team_signs_in_uploads_and_reads_its_report_with_the_keyboard(page):
    scene = make_lab()
    sign_in_by_keys(page, scene)
    page.goto(f"{TASK}runs/upload/")
    choose_by_keys(page, "Alpha-task1-bm25-auto-both-P.tsv", BAD_RUN)
    open_by_keys(page, "Submit runs")
    expect(page.get_by_role("heading", name="types of error")).to_be_visible()

    open_by_keys(page, "1 line repeats an item of the same topic")

    assert page.evaluate("location.hash") == "#duplicate-item"


@pytest.mark.smoke
def test_a_board_sorts_by_a_column_and_opens_a_run_with_the_keyboard(page):
    released_board()
    page.goto(f"{TASK}leaderboard/")

    open_by_keys(page, "MAP′")

    expect(page.get_by_role("columnheader", name="MAP′")).to_have_attribute(
        "aria-sort", "descending"
    )
    open_by_keys(page, "bm25")
    expect(page.get_by_role("heading", level=1, name="bm25")).to_be_visible()


def test_arrows_turn_the_pages_of_topics(page):
    make_lab()
    page.goto(f"{TASK}topics/A.1/")

    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1, name="A.2")).to_be_visible()

    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1, name="A.1")).to_be_visible()


def released_board() -> None:
    """Make a lab with a valid run on a released board."""
    at = datetime(2026, 11, 21, tzinfo=UTC)
    scene = make_lab()
    qrel_set = make_qrels(scene.task, {"A.1": {"10": 3}, "A.2": {"12": 2}})
    make_run(scene.team, scene.task, {"A.1": ["10"], "A.2": ["12"]}, tag="bm25")
    score_waiting(at=at)
    release_leaderboard(qrel_set=qrel_set, by=scene.organizer, at=at)
