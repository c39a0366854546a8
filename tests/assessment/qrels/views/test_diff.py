"""The page that compares qrels."""

import re

import pytest
from django.utils import timezone

from assessment.models import Judgment, PoolInstance
from tests.assessment.factories import judge, make_pool, raise_ticket
from tests.evaluation.factories import make_qrels

pytestmark = pytest.mark.django_db
DIFF = "/labs/arqmath-x/tasks/task1/qrels/diff/"
OLD = {"A.1": {"10": 3, "11": 2, "13": 2}, "A.3": {"9": 2}}
NEW = {"A.1": {"10": 1, "11": 2, "12": 0}, "A.2": {"12": 2}}


@pytest.fixture
def ask(client_of, organizer):
    """Return the text of the page, its white space closed up."""
    client = client_of(organizer)
    return lambda query="": " ".join(client.get(DIFF + query).content.decode().split())


def test_two_versions_are_compared_in_counts_topics_and_lines(ask, task):
    make_qrels(task, OLD)
    make_qrels(task, NEW)

    page = ask("?before=1&after=2")

    assert "From v1 to v2: 2 lines added, 2 removed, 1 with a different label." in page
    assert 'Added topics: <span class="id">A.2</span>' in page
    assert 'Removed topics: <span class="id">A.3</span>' in page
    assert page.count('<tr class="changed">') == 1


def test_the_differences_are_downloaded_as_tsv(client_of, organizer, task):
    make_qrels(task, OLD)
    make_qrels(task, NEW)

    answer = client_of(organizer).get(DIFF + "?before=1&after=2&format=tsv")

    assert answer.content.decode().splitlines()[:2] == [
        "topic\titem\tchange\tbefore\tafter",
        "A.1\t10\tchanged\t3\t1",
    ]
    assert 'filename="qrels-arqmath-x-task1-diff-v1-v2.tsv"' in answer["Content-Disposition"]


def test_the_newest_version_is_compared_with_the_draft_unless_chosen_otherwise(ask, task, assessor):
    make_pool(task)
    for doc_id, label in {"10": 3, "11": 2, "12": 5}.items():
        judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id), label)
    make_qrels(task, {"A.1": {"10": 3, "11": 1}})

    assert "From v1 to draft: 0 lines added, 0 removed, 1 with a different label." in ask()


def test_a_complete_version_is_compared_with_a_complete_draft(ask, task, assessor):
    make_pool(task)
    for doc_id, label in {"10": 3, "11": 2, "12": 5}.items():
        judge(assessor, PoolInstance.objects.get(item__topic__query_id="A.1", doc_id=doc_id), label)
    make_qrels(task, {"A.1": {"10": 3, "11": 2, "12": 5}}, is_complete=True)

    assert "The versions are identical." in ask()


def test_versions_of_other_items_are_not_compared(ask, task):
    make_qrels(task, OLD)
    make_qrels(task, NEW, items="visual-ids")

    assert "v1 contains posts, v2 contains visual ids, so they share no lines." in ask(
        "?before=1&after=2"
    )


@pytest.mark.parametrize("query", ["?before=9", "?after=old", "?before=-1"])
def test_a_version_that_there_is_not_is_not_found(client_of, organizer, task, query):
    make_qrels(task)

    assert client_of(organizer).get(DIFF + query).status_code == 404


def test_without_a_version_the_page_shows_what_will_be_there(ask, task):
    assert "Nothing to compare yet" in ask()


def test_long_differences_appear_on_pages(ask, task):
    make_qrels(task, {"A.1": {"10": 1}})
    make_qrels(task, {"A.1": {str(item): 1 for item in range(10, 261)}})

    assert "Page 2 of 3" in ask("?before=1&after=2&page=2")


def test_differences_are_searched_filtered_sorted_and_paged(
    client_of, organizer, task, django_assert_max_num_queries
):
    make_qrels(task, {"A.1": {"10": 1}, "A.2": {str(item): 1 for item in range(500, 620)}})
    make_qrels(task, {"A.1": {"11": 2}, "A.2": {str(item): 3 for item in range(500, 620)}})
    client = client_of(organizer)

    def found(query: str) -> tuple[bool, str]:
        with django_assert_max_num_queries(11):
            html = client.get(f"{DIFF}?before=1&after=2{query}").text
        [count] = re.findall(r"(\d+) rows?", html)
        return '<td class="id">619</td>' in html, count

    assert [found(query) for query in ("", "&page=2")] == [(False, "122"), (True, "122")]
    assert [found(f"&sort={order}item") for order in ("", "-")] == [(False, "122"), (True, "122")]
    assert found("&q=a.2+619") == (True, "1")
    assert found("&topic=A.2&was=1&now=3&change=changed&page=2") == (True, "120")
    assert found("&change=added") == (False, "1")
    assert found("&now=0") == (False, "0")


def changed_line(page: str) -> str:
    return re.search(r'<tr class="changed">.*?</tr>', page)[0]


def test_a_changed_label_names_who_changed_it_and_why(ask, task, assessor):
    make_pool(task)
    instance = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id="10")
    make_qrels(task, OLD)
    judge(assessor, instance, 1, reason="The proof has a gap.", judged_at=timezone.now())
    make_qrels(task, NEW)
    Judgment.objects.update(is_current=False)
    judge(assessor, instance, 5, reason="Too late.", judged_at=timezone.now())
    line = changed_line(ask("?before=1&after=2"))
    other = ask("?before=2&after=1")

    assert assessor.name in line
    assert "The proof has a gap." in line
    assert "judgments/" in line
    assert assessor.name not in changed_line(other)
    assert "Too late." in ask("?before=2&after=draft")


def test_a_label_of_an_imported_file_or_a_ticket_says_so(ask, task, assessor):
    make_pool(task)
    instance = PoolInstance.objects.get(item__topic__query_id="A.1", doc_id="10")
    make_qrels(task, OLD)
    ticket = raise_ticket(assessor, instance)
    Judgment.objects.update(is_current=False)
    fields = {"judged_at": timezone.now(), "supersedes": ticket.judgment, "is_imported": True}
    judge(assessor, instance, 1, **fields)
    make_qrels(task, NEW)
    line = changed_line(ask("?before=1&after=2"))

    assert "an imported file" in line
    assert f"After ticket {ticket.pk}." in line
