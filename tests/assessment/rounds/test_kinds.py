"""Kinds of rounds are data: every door asks them, and a new kind is found by all."""

import re

import pytest

from assessment.models import Round
from assessment.models.kinds import KINDS, kinds_that
from assessment.qrels.selectors.drafts import Level, draft_of
from tests.assessment.factories import judge, make_pool
from tests.assessment.rounds.factories import questions_of, round_of
from tests.factories import AssessorFactory
from tests.paths import ROOT
from tests.test_structure import PACKAGES

# A kind named by its key, as in kind == "second", kind__in=["second"] or RoundPlan("second", …).
KEYS = "|".join(KINDS)
NAMED = re.compile(
    rf"""(\bkind(__in)?\s*(==|!=|=|\bin\b)|RoundPlan\(|KINDS\[)\s*[(\[{{]?["']({KEYS})["']"""
    r"|Round\.Kind\b"
)
PAGE = "/labs/arqmath-x/tasks/task1/"


@pytest.fixture(params=KINDS)
def made(request, task, assessor, organizer) -> Round:
    """A round of each kind, in which an assessor has an item."""
    make_pool(task, {"A.1": ["10"]})
    kind = KINDS[request.param]
    if kind.asks:
        return questions_of(task, assessor)
    return round_of(task, kind.key, assessor, source={"expert": organizer.pk})


@pytest.fixture
def office(organizer, client_of):
    return client_of(organizer)


def test_kinds_are_named_in_at_most_three_modules():
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    files += (ROOT / "templates").rglob("*.html")
    naming = {
        str(path.relative_to(ROOT))
        for path in files
        if "migrations" not in path.parts and NAMED.search(path.read_text("utf-8"))
    }
    assert len(naming | {"assessment/models/kinds.py"}) <= 3, naming


def test_organizers_find_the_round_in_the_list_and_open_its_page(made, office):
    page = office.get(f"{PAGE}rounds/")

    assert f'href="{made.address}"' in page.text
    assert office.get(made.address).status_code == 200


def test_a_kind_with_a_form_is_offered_and_made(made, office):
    address = f"{PAGE}rounds/{made.kind}/new/"
    is_offered = f'href="{address}"' in office.get(f"{PAGE}rounds/").text

    assert is_offered == bool(made.rules.start)
    assert office.get(address).status_code == (200 if is_offered else 404)


def test_assessors_find_their_items_and_judge_them(made, assessor, client_of):
    client = client_of(assessor)
    [row] = client.get("/labs/arqmath-x/judging/").context["round_topics"].rows

    assert (row.round, row.items, row.done) == (made, 1, 0)
    assert client.get(row.address).status_code == 200


def test_assessors_open_the_page_of_a_round_only_if_its_kind_says_so(made, assessor, client_of):
    status = client_of(assessor).get(made.address).status_code

    assert status == (200 if made.rules.shows_page_to_judges else 404)


def test_no_other_assessor_opens_the_page(made, lab, client_of):
    stranger = AssessorFactory(lab=lab).user

    assert client_of(stranger).get(made.address).status_code == 404


def test_judging_is_closed_and_opened_where_the_round_has_a_page(made, office):
    for action, is_closed in (("close", bool(made.rules.parts)), ("open", False)):
        office.post(f"{PAGE}rounds/{made.key}/state/", {"action": action})
        made.pool.refresh_from_db()
        assert (made.pool.closed_at is not None) == is_closed


def test_the_progress_counts_labels(made, assessor, office):
    instance = made.pool.items.get().instances.get()
    judge(assessor, instance, made.pool.label_scale.values[0])
    [row] = office.get(f"{PAGE}rounds/").context["rounds"].rows

    assert (row.people, row.topics, row.items, row.done, row.state) == (1, 1, 1, 1, "done")


def test_labels_are_with_the_item_only_if_they_decide(made, assessor, office):
    judge(assessor, made.pool.items.get().instances.get(), 1, comment="Only for the round.")
    page = office.get(f"{PAGE}topics/A.1/judgments/10/").text

    assert ("Only for the round." in page) == made.rules.decides


@pytest.mark.parametrize("made", kinds_that(can_be_revealed=True), indirect=True)
def test_revealed_labels_are_with_the_item(made, assessor, office):
    judge(assessor, made.pool.items.get().instances.get(), 1, comment="Only for the round.")
    office.post(f"{made.address}state/", {"action": "reveal"})

    assert "Only for the round." in office.get(f"{PAGE}topics/A.1/judgments/10/").text


@pytest.mark.needs("timesheets")
def test_hours_are_on_the_usual_time_sheet_unless_applicants_work(made, assessor, office):
    judge(assessor, made.pool.items.get().instances.get(), 1)
    sheet = b"".join(office.get("/labs/arqmath-x/time-sheet/csv/")).decode()

    assert (made.key in sheet) != made.rules.is_for_applicants


def test_a_kind_with_a_file_has_it_among_the_downloads(made, office):
    names = {export.name for export in office.get(PAGE).context["downloads"]}

    wanted = {f"{made.rules.file}.tsv"} if made.rules.file else set()
    assert {f"{kind.file}.tsv" for kind in KINDS.values() if kind.file} & names == wanted


def test_only_decisions_enter_the_qrels(made, assessor):
    judge(assessor, made.pool.items.get().instances.get(), 1)
    draft = draft_of(made.task).qrels(Level.INSTANCES, complete=True, with_dropped=True)

    assert ("10" in draft["item"].to_list()) == made.rules.decides
