"""One person with two tabs of a topic: they show different items and share what they say."""

import pytest
from playwright.sync_api import expect

from assessment.models import Judgment, PoolInstance
from tests.assessment.factories import judge
from tests.browser.conftest import enter
from tests.browser.judging import TASK1, Assessor, counting

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NOTICES = ".judge-notices"


@pytest.fixture
def tabs(real_scene, page) -> tuple[Assessor, Assessor]:
    """The assessor at A.282 in two tabs."""
    page.goto("/health/live")
    enter(page, real_scene.assessor)
    one, other = Assessor(page), Assessor(page.context.new_page())
    one.open(TASK1)
    other.open(TASK1)
    return one, other


def test_two_tabs_show_different_items_and_every_label_counts(tabs):
    one, other = tabs
    for label in (3, 0, 1):
        one.judge(label)
        other.judge(label)
    one.expect_saved()
    other.expect_saved()

    assert Judgment.objects.count() == 6
    assert counting() == {item: label for tab in tabs for item, (label, _) in tab.said.items()}


def test_a_reloaded_tab_keeps_its_item(tabs):
    one, other = tabs
    before = one.active
    one.reload()

    assert one.active == before != other.active


def test_a_notice_is_shown_in_both_tabs_until_one_dismisses_it(real_scene, tabs):
    one, other = tabs
    judge(real_scene.organizer, PoolInstance.objects.get(pk=one.active), 2)
    one.judge(3)
    for tab in tabs:
        expect(tab.page.locator(NOTICES)).to_contain_text("yours is kept beside it")
    other.page.get_by_role("button", name="Dismiss").click()

    for tab in tabs:
        expect(tab.page.locator(NOTICES)).to_be_hidden()
