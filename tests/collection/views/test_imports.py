"""The pages of a collection's imports."""

import csv
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.collection.factories import load_small, make_import
from tests.factories import Scene, make_lab

pytestmark = pytest.mark.django_db
SignIn = Callable[[object], Client]


def overview(scene: Scene) -> str:
    return reverse("collection:collection-detail", args=[scene.lab.slug])


def page(scene: Scene, record: object) -> str:
    return reverse("collection:import-detail", args=[scene.lab.slug, record.pk])


def test_the_overview_shows_what_is_here_and_what_is_not(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    make_import(load_small(scene.lab, tmp_path))
    html = client_of(scene.organizer).get(overview(scene)).text

    assert "Comments.xml" in html
    assert "No users are imported" in html
    assert "No comments are imported" not in html


def test_the_overview_shows_which_imports_to_look_at(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    small, now = load_small(scene.lab, tmp_path), timezone.now()
    make_import(small, sha256="1", kind="votes", state="stopped", rows=90_000)
    make_import(small, sha256="2", kind="users", state="running", updated_at=now, rows=7_000)
    make_import(small, sha256="3", problems=18)
    said = " ".join(client_of(scene.organizer).get(overview(scene)).text.split())

    assert "stopped after 90,000 rows. Load the same file again" in said
    assert "is being imported: 7,000 rows so far." in said
    assert "has 18 problems. All other rows were imported" in said


def test_the_overview_of_a_lab_without_collection_shows_how_to_get_one(
    scene: Scene, client_of: SignIn
) -> None:
    assert "No collection yet" in client_of(scene.organizer).get(overview(scene)).text


def test_the_overview_asks_the_same_number_of_queries_whatever_was_imported(
    scene: Scene, tmp_path: Path, client_of: SignIn, django_assert_num_queries: object
) -> None:
    small, client = load_small(scene.lab, tmp_path), client_of(scene.organizer)
    for number in range(20):
        make_import(small, sha256=str(number))

    with django_assert_num_queries(15):
        client.get(overview(scene))


def test_organizers_find_the_collection_on_the_labs_page(scene: Scene, client_of: SignIn) -> None:
    lab_page = reverse("desk:lab-detail", args=[scene.lab.slug])

    assert overview(scene) in client_of(scene.organizer).get(lab_page).text
    assert overview(scene) not in client_of(scene.member).get(lab_page).text


def test_an_import_shows_its_problems_by_line(
    scene: Scene, tmp_path: Path, client_of: SignIn, django_assert_num_queries: object
) -> None:
    record, client = (
        make_import(load_small(scene.lab, tmp_path), problems=150),
        client_of(scene.organizer),
    )

    with django_assert_num_queries(9):
        html = client.get(page(scene, record)).text
    assert "the Id &#x27;c101&#x27;" in html
    assert "the Id &#x27;c102&#x27;" not in html
    assert "Page 1 of 2" in html
    assert "the Id &#x27;c102&#x27;" in client.get(page(scene, record) + "?page=2").text


def test_problems_come_as_a_table_with_all_columns(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    record = make_import(load_small(scene.lab, tmp_path), problems=1)
    record.problems.update(found="a\tcell\nand more", line=None)
    text = client_of(scene.organizer).get(page(scene, record) + "?format=tsv").content.decode()

    head, row = csv.reader(StringIO(text, newline=""), delimiter="\t")
    assert head == ["source", "line", "found", "expected", "todo"]
    assert row[:3] == ["Comments.xml", "", "a\tcell\nand more"]


def test_an_import_that_runs_is_asked_for_its_next_batch(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    now, client = timezone.now(), client_of(scene.organizer)
    record = make_import(
        load_small(scene.lab, tmp_path), state="running", updated_at=now, finished_at=None
    )
    html = client.get(page(scene, record)).text
    asked = page(scene, record) + html.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")

    assert "5 rows read and stored so far" in html
    assert client.get(asked).status_code == 204
    record.rows, record.updated_at = 2005, now
    record.save()
    assert "2,005 rows read and stored so far" in client.get(asked).text
    record.state = "done"
    record.save()
    assert "hx-get" not in client.get(asked).text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"state": "stopped"}, "Stopped after 5 rows."),
        (
            {"state": "running", "updated_at": timezone.now() - timedelta(hours=1)},
            "has probably ended",
        ),
        ({"problem_count": 2}, "2 problems in the file."),
        ({"problem_count": 20_000}, "Only the first 2 of 20,000 problems are listed."),
    ],
)
def test_an_import_shows_what_to_do_next(
    scene: Scene, tmp_path: Path, client_of: SignIn, changes: dict[str, object], said: str
) -> None:
    record = make_import(load_small(scene.lab, tmp_path), **changes)

    assert said in " ".join(client_of(scene.organizer).get(page(scene, record)).text.split())


@pytest.mark.parametrize(
    ("changes", "chip"),
    [
        ({"problems": 0}, '<span class="chip chip-done">Done</span>'),
        ({"problems": 1}, '<span class="chip chip-flawed">Done, 1 problem</span>'),
        ({"problem_count": 20_000}, '<span class="chip chip-flawed">Done, 20,000 problems</span>'),
        ({"state": "stopped"}, '<span class="chip chip-stopped">Stopped</span>'),
    ],
)
def test_the_chip_of_an_import_shows_its_problems(
    scene: Scene, tmp_path: Path, client_of: SignIn, changes: dict[str, object], chip: str
) -> None:
    record, client = (
        make_import(load_small(scene.lab, tmp_path), **changes),
        client_of(scene.organizer),
    )

    assert chip in client.get(page(scene, record)).text
    assert chip in client.get(overview(scene)).text


def test_an_import_without_problems_is_good(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    record = make_import(load_small(scene.lab, tmp_path), problems=0)

    assert "No problems." in client_of(scene.organizer).get(page(scene, record)).text


def test_an_import_of_another_labs_collection_is_not_found(
    scene: Scene, tmp_path: Path, client_of: SignIn
) -> None:
    other = make_lab("elsewhere")
    record = make_import(load_small(other.lab, tmp_path))
    client = client_of(scene.organizer)

    assert client.get(page(scene, record)).status_code == 404
    assert client.get(page(other, record)).status_code == 404
    assert client_of(AnonymousUser()).get(page(other, record)).status_code == 404
