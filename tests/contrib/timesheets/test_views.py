"""Organizers see and download the hours of the assessors, by person, task, topic and day."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arqkit.loads import LoadChoice
from arqlab.core.models import AuditEvent, Task
from assessment.judging.services.importing import import_judgments
from assessment.models import Judgment, PayRule, PoolInstance, PoolItem, Round
from assessment.rounds.selectors.rounds import copied_items
from assessment.rounds.services.adjudication import Ruling, ask_third_opinion, decide_label
from assessment.rounds.services.rounds import RoundPlan, make_round
from tests.assessment.factories import NOW, judge, make_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, TaskFactory, TopicFactory, make_lab

pytestmark = pytest.mark.django_db
SHEET = "/labs/arqmath-x/time-sheet/"
HOUR = 3_600_000


@pytest.fixture
def pool(task):
    return make_pool(task, {"A.1": ["10", "11", "12"], "A.2": ["13", "14"]})


def instance(doc_id: str) -> PoolInstance:
    return PoolInstance.official.get(doc_id=doc_id)


def change(judgment: Judgment, label: int, **fields) -> Judgment:
    """Change a label as the judging page does."""
    Judgment.objects.filter(pk=judgment.pk).update(is_current=False)
    return judge(judgment.assessor, judgment.instance, label, **{"supersedes": judgment, **fields})


def lines(client, query: str = "") -> list[dict[str, str]]:
    """Return the rows of the file."""
    response = client.get(f"{SHEET}csv/{query}")
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(response).decode("utf-8-sig"))))


def hours(rows, **wanted: str) -> float:
    """Add up the hours of the rows with these values."""
    return sum(
        float(row["active_hours"]) + float(row["estimated_hours"])
        for row in rows
        if all(row[name] == value for name, value in wanted.items())
    )


def table(page: str, name: str) -> dict[str, list[str]]:
    """Return the cells of a table of the page by the first cell of their row."""
    [found] = re.findall(rf'<table[^>]*id="{name}".*?</table>', page, re.DOTALL)
    rows = {}
    for row in re.findall(r"<tr>.*?</tr>", found, re.DOTALL):
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        first, *others = (" ".join(re.sub("<[^>]+>", "", cell).split()) for cell in cells)
        rows[first] = others
    return rows


def test_the_file_adds_up_to_the_page(client_of, organizer, assessor, task, lab, pool):
    other = AssessorFactory(lab=lab, user__first_name="Ada", user__last_name="Lee").user
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    judge(assessor, instance("11"), 2, active_ms=HOUR // 2, judged_at=NOW + timedelta(days=1))
    judge(other, instance("13"), 2, active_ms=HOUR // 4)
    client = client_of(organizer)
    page, rows = client.get(SHEET).text, lines(client)

    assert "1.75 hours of 2 assessors for 3 labels." in " ".join(page.split())
    people = table(page, "people")
    assert people["Ada Lee"][0] == f"{hours(rows, username=other.username):.2f}" == "0.25"
    assert people[assessor.username][0] == f"{hours(rows, username=assessor.username):.2f}"
    assert table(page, "days") == {
        "Day": ["All", "Ada Lee", assessor.username],
        "21 Nov 2026": ["1.25", "0.25", "1.00"],
        "22 Nov 2026": ["0.50", "–", "0.50"],
        "All": ["1.75", "0.25", "1.50"],
    }
    topics = table(page, "topics")
    assert topics["A.1 Answer retrieval"] == ["1.50", "–", "1.50"]
    assert hours(rows, topic="A.1") == 1.5
    assert hours(rows) == 1.75
    assert {row["round"] for row in rows} == {"official"}


def test_the_page_and_the_file_show_where_times_were_capped(
    client_of, organizer, assessor, lab, pool
):
    other = AssessorFactory(lab=lab).user
    judge(assessor, instance("10"), 3, active_ms=HOUR // 2, reported_ms=3 * HOUR)
    judge(assessor, instance("11"), 3, active_ms=60_000, reported_ms=60_500)  # the network's
    judge(other, instance("13"), 3, active_ms=HOUR, reported_ms=HOUR)
    client = client_of(organizer)
    page, rows = client.get(SHEET).text, lines(client)

    people = table(page, "people")
    assert people["Assessor"][3:5] == ["Labels capped", "Hours not seen"]
    assert [people[name][3:5] for name in (assessor.username, other.username, "All")] == [
        ["1", "2.50"],
        ["0", "0.00"],
        ["1", "2.50"],
    ]
    seen = {row["username"]: (row["labels_capped"], row["hours_not_seen"]) for row in rows}
    assert seen == {assessor.username: ("1", "2.500000"), other.username: ("0", "0.000000")}


def test_hours_that_were_not_seen_cost_nothing_and_their_assessor_is_shown_them(
    client_of, organizer, assessor, lab, pool
):
    judge(assessor, instance("10"), 3, active_ms=HOUR // 2, reported_ms=3 * HOUR)
    rate = {"hourly_rate": "10.00", "currency": "EUR", "time_zone": "UTC"}
    page = client_of(organizer).post(SHEET, rate, follow=True).text
    own = " ".join(client_of(assessor).get("/labs/arqmath-x/judging/work/").text.split())

    assert "Cost: 5.00 EUR." in " ".join(page.split())
    assert (
        "0.50 active hours for 1 item. 2.50 more hours that 1 label reported were not seen" in own
    )


def test_a_sheet_without_capped_times_does_not_mention_them(client_of, organizer, assessor, pool):
    judge(assessor, instance("10"), 3, active_ms=HOUR, reported_ms=HOUR)

    assert "Labels capped" not in client_of(organizer).get(SHEET).text


def test_labels_that_were_changed_or_do_not_count_are_paid(
    client_of, organizer, assessor, lab, pool
):
    other = AssessorFactory(lab=lab).user
    first = judge(assessor, instance("10"), 3, active_ms=60_000)
    change(first, 2, active_ms=30_000)
    judge(other, instance("10"), 1, active_ms=90_000, is_current=False)
    rows = lines(client_of(organizer))

    assert hours(rows, username=assessor.username) == pytest.approx(90 / 3600)
    assert hours(rows, username=other.username) == pytest.approx(90 / 3600)
    assert [(row["items"], row["labels"]) for row in rows] == [("1", "2"), ("1", "1")]


def test_an_import_that_repeats_a_label_does_not_count_its_time_twice(
    client_of, organizer, assessor, task, pool
):
    judge(assessor, instance("10"), 3, active_ms=60_000)
    judge(assessor, instance("11"), 3, active_ms=60_000)
    for comment in ("Checked.", "Checked again."):
        file = f"topic\titem\tlabel\tcomment\nA.1\t10\t3\t{comment}\nA.1\t11\t1\t{comment}\n"
        confirmed = LoadChoice(confirmed=True)
        import_judgments(
            task=task, data=file.encode(), path="x.tsv", at=NOW, by=organizer, choice=confirmed
        )
    rows = lines(client_of(organizer))

    # 11 was judged here with 3, which is paid, and elsewhere with 1, whose time is not known.
    assert hours(rows) == pytest.approx(120 / 3600, abs=1e-6)
    assert Judgment.objects.count() == 6


def test_labels_without_time_are_counted_and_estimated_only_on_request(
    client_of, organizer, assessor, lab, task
):
    documents = [str(number) for number in range(12)]
    make_pool(task, {"A.1": documents})
    for doc_id in documents[:10]:
        judge(assessor, instance(doc_id), 1, active_ms=36_000)
    for doc_id in documents[10:]:
        judge(assessor, instance(doc_id), 1, active_ms=None, is_imported=True)
    client = client_of(organizer)

    assert hours(lines(client)) == pytest.approx(0.1)
    assert table(client.get(SHEET).text, "people")["All"][:4] == ["0.10", "12", "12", "2"]
    [row] = lines(client, "?estimates=on")
    assert (row["active_hours"], row["estimated_hours"]) == ("0.100000", "0.020000")
    page = client.get(f"{SHEET}?estimates=on").text
    assert table(page, "people")["All"][:3] == ["0.10", "0.02", "0.12"]


def test_an_estimate_is_the_same_in_each_part_of_the_sheet(
    client_of, organizer, assessor, lab, task
):
    make_pool(task, {"A.1": [str(number) for number in range(11)]})
    for number in range(10):
        judge(assessor, instance(str(number)), 1, active_ms=72_000)
    late = NOW + timedelta(days=3)
    judge(assessor, instance("10"), 1, active_ms=None, is_imported=True, judged_at=late)

    rows = lines(client_of(organizer), "?estimates=on&first=2026-11-24")
    assert [(row["day"], row["estimated_hours"]) for row in rows] == [("2026-11-24", "0.020000")]


def test_labels_without_an_assessor_are_on_no_sheet(client_of, organizer, task, pool):
    judge(None, instance("10"), 3, active_ms=None, is_imported=True)
    client = client_of(organizer)

    assert lines(client) == []
    judge(organizer, instance("11"), 3)
    assert "1 imported label names no assessor and is on no time sheet." in " ".join(
        client.get(SHEET).text.split()
    )


def test_a_label_counts_for_the_day_on_which_it_was_made(client_of, organizer, assessor, pool):
    judge(assessor, instance("10"), 3, given_at=NOW - timedelta(days=5))

    assert [row["day"] for row in lines(client_of(organizer))] == ["2026-11-16"]


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-11-21"), ("aoe", "2026-11-20"), ("Asia/Tokyo", "2026-11-22")]
)
def test_days_begin_in_the_time_zone_of_the_lab(
    client_of, organizer, assessor, lab, pool, zone, day
):
    """At 16:00 UTC it is the next day in Japan; before 12:00 UTC it is the last day AoE."""
    hour = 16 if zone == "Asia/Tokyo" else 11
    judge(assessor, instance("10"), 3, judged_at=datetime(2026, 11, 21, hour, tzinfo=UTC))
    client = client_of(organizer)
    client.post(SHEET, {"hourly_rate": "", "currency": "", "time_zone": zone})

    assert [row["day"] for row in lines(client)] == [day]
    shown = {"aoe": "anywhere on earth (AoE)"}.get(zone, zone)
    assert f"Days are in the time zone {shown}." in client.get(SHEET).text


def test_the_cost_is_the_sum_of_what_each_assessor_gets(client_of, organizer, assessor, lab, pool):
    other = AssessorFactory(lab=lab).user
    judge(assessor, instance("10"), 3, active_ms=HOUR // 3)
    judge(other, instance("11"), 3, active_ms=HOUR // 3)
    client = client_of(organizer)
    assert "Cost" not in client.get(SHEET).text
    rate = {"hourly_rate": "10.00", "currency": "EUR", "time_zone": "UTC"}
    page = client.post(SHEET, rate, follow=True).text

    assert "Cost: 6.66 EUR." in " ".join(page.split())  # twice 3.33, not 6.67
    assert table(page, "people")["Assessor"][-1] == "Cost, EUR"
    assert table(page, "people")[other.username][-1] == "3.33"
    assert PayRule.objects.get().hourly_rate == Decimal("10.00")
    assert AuditEvent.objects.get(verb="pay.change").detail["changes"] == {
        "hourly_rate": [None, "10.00"],
        "currency": ["", "EUR"],
    }


def test_saving_the_same_rate_again_records_nothing(client_of, organizer, lab):
    rate = {"hourly_rate": "10", "currency": "EUR", "time_zone": "UTC"}
    for _ in range(2):
        client_of(organizer).post(SHEET, rate)

    assert AuditEvent.objects.filter(verb="pay.change").count() == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hourly_rate": "-1"}, "greater than or equal to 0"),
        ({"time_zone": "Mars/Olympus"}, "Unknown time zone Mars/Olympus."),
        ({"time_zone": "../etc/passwd"}, "Unknown time zone ../etc/passwd."),
    ],
)
def test_a_wrong_rate_is_not_stored(client_of, organizer, lab, changes, message):
    rate = {"hourly_rate": "10", "currency": "EUR", "time_zone": "UTC"} | changes
    response = client_of(organizer).post(SHEET, rate)

    assert response.status_code == 422
    assert message in response.text
    assert not PayRule.objects.exists()


def test_the_sheet_of_some_days_and_one_task(client_of, organizer, assessor, lab, task, pool):
    other = TaskFactory(lab=lab, slug="task2", position=2, kind=Task.Kind.FORMULAS)
    TopicFactory(task=other, query_id="B.1")
    make_pool(other, {"B.1": ["20"]})
    for day, doc_id in enumerate(["10", "11", "20"]):
        judge(assessor, instance(doc_id), 1, judged_at=NOW + timedelta(days=day))
    client = client_of(organizer)

    days = "?first=2026-11-22&last=2026-11-23"
    assert [row["topic"] for row in lines(client, days)] == ["A.1", "B.1"]
    assert [row["task"] for row in lines(client, f"{days}&task=task2")] == ["task2"]
    assert f"{SHEET}csv/{days}" in client.get(SHEET + days).text.replace("&amp;", "&")


def test_work_in_rounds_is_paid_and_sample_tasks_only_on_request(
    client_of, organizer, assessor, outsider, task, pool
):
    judge(assessor, instance("10"), 3, active_ms=HOUR)
    training = round_of(task, "training", assessor, title="First training")
    sample = round_of(task, "sample", outsider)
    vote(training, assessor, "10", 2, active_ms=HOUR // 2)
    vote(sample, outsider, "10", 2, active_ms=HOUR // 4)
    client = client_of(organizer)

    rows = [(row["round"], row["active_hours"]) for row in lines(client)]
    assert rows == [("official", "1.000000"), ("training-1", "0.500000")]
    page = client.get(SHEET).text
    assert table(page, "rounds")["Answer retrieval First training"] == ["0.50", "0.50"]
    assert table(page, "topics")["A.1 Answer retrieval, First training"] == ["0.50", "0.50"]
    assert [row["username"] for row in lines(client, "?rounds=sample")] == [outsider.username]
    assert hours(lines(client, "?rounds=all")) == 1.75
    assert hours(lines(client, "?rounds=official")) == 1


def test_third_opinions_are_paid_and_decisions_of_a_meeting_are_not(
    client_of, organizer, assessor, pool
):
    at, by = timezone.now(), organizer
    decide_label(task=pool.task, instance=instance("10"), ruling=Ruling(2, "Agreed."), by=by, at=at)
    asked = {"task": pool.task, "instances": [instance("11")], "by": by, "at": at}
    ask_third_opinion(**asked, person=assessor)
    vote(Round.objects.get(), assessor, "11", 2, active_ms=HOUR)

    rows = lines(client_of(organizer), "?estimates=on")
    assert [(row["username"], row["labels"]) for row in rows] == [(assessor.username, "1")]
    assert hours(rows) == 1


def test_a_round_with_topics_of_an_earlier_lab_is_on_the_sheet_of_its_own_lab(
    client_of, organizer, assessor, task
):
    earlier = make_lab("arqmath-w")
    make_pool(earlier.task, {"A.1": ["10"]})
    copies = copied_items(PoolItem.official.filter(pool__task=earlier.task))
    plan = RoundPlan("training", {assessor.pk: copies})
    made = make_round(task=task, plan=plan, by=None, at=NOW)
    vote(made, assessor, "10", 2, active_ms=HOUR)

    [row] = lines(client_of(organizer))
    assert (row["task"], row["round"], row["topic"]) == ("task1", "training-1", "A.1")
    there = client_of(earlier.organizer).get("/labs/arqmath-w/time-sheet/csv/")
    assert len(b"".join(there).splitlines()) == 1


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?first=2026-11-23&last=2026-11-22", "The last day is before the first."),
        ("?first=yesterday", "Enter a date such as 2026-11-23."),
        ("?task=unknown", "Select a valid choice."),
    ],
)
def test_a_wrong_part_is_refused_on_the_page_and_in_the_file(
    client_of, organizer, pool, query, message
):
    client = client_of(organizer)
    page = client.get(f"{SHEET}csv/{query}", follow=True)

    assert page.status_code == 422
    assert message in page.text
    assert client.get(f"{SHEET}csv/{query}").status_code == 302


def test_no_name_is_computed_as_a_formula(client_of, organizer, lab, pool):
    other = AssessorFactory(lab=lab, user__first_name='=HYPERLINK("https://x.org")').user
    judge(other, instance("10"), 3)

    assert lines(client_of(organizer))[0]["assessor"] == '\'=HYPERLINK("https://x.org")'


def test_more_assessors_and_topics_take_no_more_queries(
    client_of, organizer, assessor, lab, task, pool, django_assert_num_queries
):
    client = client_of(organizer)
    judge(assessor, instance("10"), 3)
    with CaptureQueriesContext(connection) as before:
        client.get(SHEET)
    for doc_id in ("11", "13", "14"):
        judge(AssessorFactory(lab=lab).user, instance(doc_id), 3)
    with django_assert_num_queries(len(before)):
        client.get(SHEET)


def test_the_sheet_is_empty_before_the_first_label(client_of, organizer, lab):
    client = client_of(organizer)

    assert "No hours yet" in client.get(SHEET).text
    assert lines(client) == []
