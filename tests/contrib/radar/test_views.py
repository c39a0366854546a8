"""The radar's pages: what they show, who sees them, and what happens to a finding."""

import re
from collections.abc import Mapping
from datetime import timedelta

import pytest
from django.urls import reverse

from arqlab.core.models import AuditEvent
from assessment.models import DismissedFinding, Judgment, PoolInstance
from collection.models import Post
from contrib.radar.selectors.findings import findings_of
from contrib.radar.tasks import find_duplicate_posts
from tests.assessment.factories import judge, make_formula_pool, make_pool, make_written_pool
from tests.assessment.rounds.factories import round_of, vote
from tests.collection.factories import load_small
from tests.factories import AssessorFactory, FormulaTaskFactory, TopicFactory

pytestmark = pytest.mark.django_db
SAME = {"B.1": {"v1": [("11", "p1"), ("12", "p2")], "v2": [("13", "p1")]}}


@pytest.fixture
def organizing(client_of, organizer):
    return client_of(organizer)


@pytest.fixture
def formulas(lab):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, SAME)
    return task


def label(user, labels: Mapping[str, int], **fields) -> None:
    """Judge instances by their ids."""
    for doc_id, value in labels.items():
        judge(user, PoolInstance.official.get(doc_id=doc_id), value, **fields)


def path(task, *key: str, **query: str) -> str:
    name = f"radar:radar-{'detail' if key else 'list'}"
    return reverse(name, args=[task.lab.slug, task.slug, *key], query=query)


def words(client, address: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", client.get(address).text).split())


def dismiss(client, task, note: str) -> str:
    [finding] = findings_of(task)
    answer = client.post(path(task, finding.key), {"note": note, "dismisses": "yes"}, follow=True)
    return " ".join(re.sub("<[^>]*>", " ", answer.text).split())


def test_different_labels_of_a_formula_are_listed_and_lead_to_the_judgments(
    organizing, assessor, formulas
):
    label(assessor, {"11": 3, "12": 0, "13": 1})
    [finding] = findings_of(formulas)

    page = words(organizing, path(formulas))
    assert "Same formula" in page
    assert "Formula v1: High, Not relevant. The posts differ, which may explain it. 2" in page
    detail = words(organizing, path(formulas, finding.key))
    assert re.search(
        "B.1 11 formula v1, post p1 .*High.*B.1 12 formula v1, post p2 .*Not relevant", detail
    )
    assert "13" not in detail.partition("Judged")[2]


def test_different_labels_within_one_post_are_named(organizing, assessor, lab):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    make_formula_pool(task, {"B.1": {"v1": [("11", "p1"), ("12", "p1")]}})
    label(assessor, {"11": 1, "12": 0})

    page = words(organizing, path(task))
    assert "Formula v1: Low, Not relevant. The labels differ within one post. 2" in page


def test_earlier_labels_are_beside_the_current_one(organizing, assessor, formulas):
    label(assessor, {"11": 3, "12": 2})
    Judgment.objects.filter(instance__doc_id="12").update(is_current=False)
    label(assessor, {"12": 0})
    [finding] = findings_of(formulas)

    assert re.search(
        "12 formula v1, post p2 .*Not relevant .*Medium",
        words(organizing, path(formulas, finding.key)),
    )


def test_superseded_labels_and_labels_that_are_no_judgment_do_not_contradict(assessor, formulas):
    label(assessor, {"11": 3, "12": 0, "13": 1})
    Judgment.objects.filter(instance__doc_id="12").update(is_current=False)
    assert findings_of(formulas) == []

    label(assessor, {"12": 5})
    assert findings_of(formulas) == []


def test_labels_of_two_assessors_do_not_contradict(lab, assessor, formulas):
    label(assessor, {"11": 3})
    label(AssessorFactory(lab=lab).user, {"12": 0})

    assert findings_of(formulas) == []


def test_an_item_served_twice_to_its_assessor_is_compared(organizing, lab, task, assessor):
    make_pool(task, {"A.1": ["10", "11", "12"]})
    other = AssessorFactory(lab=lab).user
    label(assessor, {"10": 3, "11": 2})
    label(other, {"12": 0})
    made = round_of(task, "second", assessor, other)
    vote(made, assessor, "10", 1)
    vote(made, assessor, "11", 2)
    vote(made, assessor, "12", 3)
    vote(made, other, "10", 0)

    [finding] = findings_of(task)
    assert "Item served twice" in words(organizing, path(task))
    assert "10: High, Low." in words(organizing, path(task))
    assert "2 rows" in words(organizing, path(task, finding.key))


def test_labels_of_other_rounds_are_no_findings(assessor, formulas):
    for kind in ("training", "second", "adjudication"):
        made = round_of(formulas, kind, assessor)
        vote(made, assessor, "11", 3)
        vote(made, assessor, "12", 0)

    assert findings_of(formulas) == []


def test_a_finding_is_dismissed_with_a_note_and_reopened(organizing, organizer, assessor, formulas):
    label(assessor, {"11": 3, "12": 0})
    [finding] = findings_of(formulas)

    page = dismiss(organizing, formulas, "Talked about it: the posts differ.")
    assert "Finding dismissed." in page
    assert "No findings" in page
    listed = words(organizing, path(formulas, state="dismissed"))
    assert "The posts differ, which may explain it. Talked about it: the posts differ." in listed

    answer = organizing.post(path(formulas, finding.key), {"reopens": "yes"}, follow=True).text
    assert "Finding reopened." in answer
    assert "Formula v1" in answer
    assert DismissedFinding.objects.get().note == "Talked about it: the posts differ."
    events = AuditEvent.objects.filter(actor=organizer).order_by("pk")
    assert [event.verb for event in events] == ["radar.dismiss", "radar.reopen"]


def test_a_note_is_needed_and_the_first_of_two_counts(organizing, assessor, formulas):
    label(assessor, {"11": 3, "12": 0})

    assert "Write what you found out or agreed on." in dismiss(organizing, formulas, " ")
    dismiss(organizing, formulas, "First.")
    assert "Someone else has already dismissed this finding." in dismiss(
        organizing, formulas, "Second."
    )
    assert DismissedFinding.objects.get().note == "First."


def test_a_dismissed_finding_whose_labels_changed_is_a_new_finding(organizing, assessor, formulas):
    label(assessor, {"11": 3, "12": 0})
    [finding] = findings_of(formulas)
    dismiss(organizing, formulas, "Talked about it.")
    Judgment.objects.filter(instance__doc_id="12").update(label=1)

    assert "High, Low" in words(organizing, path(formulas))
    answer = organizing.get(path(formulas, finding.key), follow=True).text
    assert "This finding no longer exists" in answer


def test_posts_with_the_same_text_are_compared(organizing, task, assessor, tmp_path):
    load_small(task.lab, tmp_path)
    make_pool(task, {"A.1": ["10", "11", "12"]})
    for post in Post.objects.filter(post_id__in=["10", "12"]):
        Post.objects.filter(pk=post.pk).update(body=f"<p>Use  the <b>rule{'<br>'}.</b></p>")
    label(assessor, {"10": 3, "11": 3, "12": 0})
    assert "have not been compared yet" in words(organizing, path(task))

    find_duplicate_posts()

    page = words(organizing, path(task))
    assert "have not been compared yet" not in page
    assert "Posts with the same text as 10: High, Not relevant. 2" in page


def test_duplicates_are_found_again_after_a_supplement_and_only_then(
    task, tmp_path, django_assert_num_queries
):
    load_small(task.lab, tmp_path)
    make_pool(task, {"A.1": ["10"]})
    find_duplicate_posts()
    with django_assert_num_queries(1):
        find_duplicate_posts()

    texts = {"A.1": {"R:A.1": "One answer.", "S:A.1": "One  answer."}}
    make_written_pool(task, texts, frozen_at=task.duplicate_posts.found_at + timedelta(seconds=1))
    find_duplicate_posts()

    task.duplicate_posts.refresh_from_db()
    pooled = PoolInstance.objects.order_by("pk").values_list("pk", flat=True)
    assert task.duplicate_posts.groups == [["R:A.1", list(pooled)[1:]]]


def test_a_very_fast_series_is_one_finding(organizing, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(10, 40)]})
    label(assessor, {str(number): 1 for number in range(10, 26)}, active_ms=40_000)
    label(assessor, {str(number): 0 for number in range(26, 40)}, active_ms=1_500)

    page = words(organizing, path(task))
    assert "14 items in a row at 1.5 s per item (median); the assessor usually takes 40 s." in page


def test_drift_names_both_halves(organizing, task, assessor):
    make_pool(task, {"A.1": [str(number) for number in range(200)]})
    for instance in PoolInstance.objects.order_by("item__position"):
        number = int(instance.doc_id)
        judge(assessor, instance, 2 if number % 4 < 3 - number // 100 * 2 else 0)

    page = words(organizing, path(task))
    assert "75% relevant in the first halves of topics, 25% in the second halves" in page
    [finding] = findings_of(task)
    assert "200 rows" in words(organizing, path(task, finding.key))


def test_findings_are_filtered_and_searched(organizing, assessor, formulas):
    label(assessor, {"11": 3, "12": 0})

    assert "Formula v1" in words(organizing, path(formulas, q="v1"))
    assert "No matching findings" in words(organizing, path(formulas, q="v7"))


def test_a_page_takes_as_many_queries_whatever_its_findings(
    organizing, assessor, lab, django_assert_num_queries
):
    task = FormulaTaskFactory(lab=lab)
    TopicFactory(task=task, query_id="B.1")
    formulas = {f"v{number}": [(f"{number}a", "p"), (f"{number}b", "q")] for number in range(30)}
    make_formula_pool(task, {"B.1": formulas})
    for number in range(30):
        label(assessor, {f"{number}a": 3, f"{number}b": number % 3})

    # session, user, task, organizer; dismissed; scale, second judgments, judgments, topics,
    # duplicates; scale, people; whether compared; notices, roles
    with django_assert_num_queries(14):
        assert organizing.get(path(task)).status_code == 200


def test_assessors_never_see_it(client_of, assessor, formulas):
    label(assessor, {"11": 3, "12": 0})
    [finding] = findings_of(formulas)

    assert client_of(assessor).get(path(formulas)).status_code == 404
    assert client_of(assessor).get(path(formulas, finding.key)).status_code == 404
    answer = client_of(assessor).get(reverse("assessment:judging-home", args=["arqmath-x"]))
    assert "radar" not in answer.text.lower()


def test_an_unknown_finding_is_not_found(organizing, formulas):
    assert organizing.get(path(formulas, "nothing")).status_code == 404
