"""Two people open the same page and save, one after the other: neither undoes the other's change.

An address that takes POST requests and is in neither list fails.
"""

from typing import Any, NamedTuple

import pytest
from django.test import Client
from django.utils import timezone

from arqlab.core.models import Membership
from assessment.models import Ticket
from submissions.models import Run
from tests import test_access
from tests.factories import Scene
from tests.installed import installed_pages
from tests.page_forms import form_data
from tests.test_access import Filled, address, rows

pytestmark = pytest.mark.once

filled = test_access.filled


class Edit(NamedTuple):
    """A field of a page, two values for it, who edits, and what else the form is sent with."""

    field: str
    first: str
    second: str
    role: str = "organizer"
    page: str = ""
    sent: dict[str, str] = {}


EDITS = {
    "assessment:adjudication-detail": Edit(
        "reason", "One", "Two", sent={"action": "decide", "label": "3"}
    ),
    "assessment:assignment-roster-hours": Edit(
        "hours", "10.0", "20.0", page="assessment:assignment-roster"
    ),
    "assessment:bid-offer": Edit("note", "Away", "Here", "assessor", "assessment:bid-list"),
    "assessment:sample-rate": Edit("note", "Good", "Bad"),
    "assessment:ticket-advice": Edit("opinion", "Judge it.", "Skip it."),
    "assessment:ticket-detail": Edit("answer", "Judge it.", "Skip it.", sent={"corrects": "yes"}),
    "assessment:ticket-policy": Edit("label_", "another", "wait"),
    "assessment:ticket-repair": Edit("value", "<p>One</p>", "<p>Two</p>"),
    "timesheets:time-sheet": Edit("hourly_rate", "10.00", "20.00"),
    "accounts:account": Edit("first_name", "Ann", "Anna"),
    "labs:lab-edit": Edit("name", "One lab", "Two labs"),
    "labs:task-edit": Edit("quota", "3", "4"),
    "teams:team-edit": Edit("affiliation", "Prague", "Rochester", "member"),
    "notices:text-edit": Edit("subject", "Soon", "Now"),
    "submissions:run-edit": Edit("description", "Fast", "Slow", "member"),
    "submissions:run-publish": Edit("citation", "[1]", "[2]", "member"),
    "submissions:run-system": Edit("run-", "trained", "linked", "member"),
}
"""The pages that edit something stored, each with a field for the test."""

EXEMPT = {
    "creates something, and changes nothing that is stored": """
        assessment:round-create assessment:sample-join assessment:meeting
        assessment:assignment-share assessment:guideline-entry-add labs:lab-create labs:task-create
        teams:team-create teams:team-join accounts:token-list evaluation:erratum-create
        teams:people-list desk:lab-copy
        desk:topic-choose desk:visual-ids-make notices:message-create notices:invitation-list
        submissions:api-run-list submissions:run-upload submissions:run-repaired
        assessment:assignment-roster assessment:assignment-roster-invite
        papers:paper-kit-detail analyses:certificate-detail analyses:look-alike-list
        retrieval:baseline-list retrieval:run-combine retrieval:index-build""",
    "only reads: a preview, or a guess": """
        assessment:assignment-import labs:topic-information-upload submissions:run-guess""",
    "one act on one thing, which the database refuses or does once": """
        assessment:pool-close assessment:pool-discard assessment:pool-open assessment:qrels-current
        assessment:qrels-delete assessment:sample-change assessment:round-change assessment:trip-end
        assessment:assignment-roster-remove assessment:guideline-entry-list
        assessment:guideline-judgment-list radar:radar-detail assessment:correction-undo
        assessment:ticket-send desk:lab-delete desk:task-delete labs:lab-archive labs:lab-restore
        labs:task-archive labs:task-restore accounts:token-revoke accounts:account-delete
        teams:people-revoke teams:team-leave accounts:session-end accounts:session-end-others
        teams:team-remove teams:team-renew notices:invitation-resend notices:invitation-withdraw
        notices:invitation-accept notices:text-restore notices:mail-retry notices:notices-read
        notices:mail-preference desk:load-repeat evaluation:leaderboard-hide submissions:run-move
        submissions:run-primary submissions:run-submit submissions:task-reopen
        assessment:late-label-list assessment:ticket-list teams:people-allow-team desk:load-stop
        desk:load-retry submissions:run-retry submissions:run-withdraw submissions:run-recheck
        jobs:api-job-stop
        submissions:api-run-submit submissions:api-run-resubmit submissions:api-run-withdraw""",
    "carries the digest of the oddities that were shown": """
        assessment:pool-freeze assessment:qrels-freeze evaluation:leaderboard-release
        submissions:task-close""",
    "carries the version or the values that were shown, each compared when it is saved": """
        assessment:guideline-edit labs:topic-information labs:topic-information-apply
        assessment:assignment-apply assessment:assignment-plan assessment:assignment-list""",
    "labels and marks: each is stored at once and keeps the earlier one": """
        assessment:api-judging-judgments assessment:api-judging-skip assessment:api-judging-lease
        assessment:api-judging-trip assessment:api-judging-trip-end
        assessment:round-api-judging-judgments assessment:round-api-judging-skip
        assessment:round-api-judging-lease assessment:bid-list""",
    "loads files, or writes one": """
        desk:archive-write desk:lab-load desk:lab-restore desk:candidates-load desk:collection-load
        desk:runs-load desk:task-load""",
}
"""The addresses that take POST requests and have no form to become stale, by the reason."""


def test_every_form_that_edits_is_tested_or_exempt():
    exempt = [name for names in EXEMPT.values() for name in names.split()]

    listed = set(installed_pages([*EDITS, *exempt]))
    pages = {name for method, name, _ in rows() if method == "POST"}
    assert pages - listed == set(), "Add them to EDITS, or to EXEMPT with the reason."
    assert listed - pages == set(), "Take out pages that no longer take POST requests."


def prepare(name: str, scene: Scene, run: Run) -> None:
    """Make what a page needs beyond the filled lab."""
    if name == "assessment:ticket-detail":
        Ticket.objects.update(answer="Wait.", answered_at=timezone.now())
    if name == "submissions:run-system":
        team = Run.objects.exclude(pk=run.pk).get().team
        Membership.objects.create(lab=team.lab, team=team, user=scene.member, role="member")


class Tab:
    """A page of the filled lab in the browser of a user."""

    def __init__(self, name: str, filled: Filled) -> None:
        prepare(name, filled.public, filled.run)
        self.edit, self.client = EDITS[name], Client()
        self.client.force_login(filled.public.people[self.edit.role])
        self.path = address(name, filled.public, filled.run.pk)
        self.page = address(self.edit.page or name, filled.public, filled.run.pk)

    def open(self) -> dict[str, Any]:
        return form_data(self.client.get(self.page).text, self.path)

    def send(self, data: dict[str, Any], **changes: str) -> Any:
        return self.client.post(self.path, data | self.edit.sent | changes)

    def field(self, data: dict[str, Any]) -> str:
        """Return the name of the field, that of the first run or label if each has one."""
        return next(key for key in data if key.startswith(self.edit.field))


@pytest.mark.parametrize("kept", ["mine", "theirs"])
@pytest.mark.parametrize("name", installed_pages(EDITS))
def test_the_second_of_two_people_chooses(name, kept, filled, db):
    tab = Tab(name, filled)
    seen = tab.open()
    field, first, second = tab.field(seen), tab.edit.first, tab.edit.second

    saved = tab.send(seen, **{field: first})
    stale = tab.send(seen, **{field: second})
    unchanged = tab.open()[field]
    chosen = form_data(stale.text, tab.path, **{f"keep-{field}": kept})

    assert (saved.status_code, stale.status_code, unchanged) == (302, 409, first)
    assert tab.send(chosen).status_code == 302
    assert tab.open()[field] == {"mine": second, "theirs": first}[kept]


def test_changes_of_different_fields_are_both_kept_by_default(filled, db):
    tab = Tab("labs:task-edit", filled)
    seen = tab.open()

    tab.send(seen, deadline="2031-01-01T12:00:00", name="First")
    stale = tab.send(seen, quota="4")
    tab.send(form_data(stale.text, tab.path))

    now = tab.open()
    assert (now["name"], now["quota"]) == ("First", "4")
    assert now["deadline"] == "2031-01-01T12:00:00"
