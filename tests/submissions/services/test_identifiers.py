"""The identifiers of runs: when they are assigned, and that nothing changes them."""

import pytest
from django.db import IntegrityError, transaction

from submissions.models import Run
from submissions.services.changing import correct_run, submit_checked_run, withdraw_run
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.factories import Scene
from tests.submissions.factories import BAD_RUN, GOOD_RUN, NOW, sent

pytestmark = pytest.mark.django_db


def submitted(scene: Scene, data: bytes = GOOD_RUN, *, tag: str = "bm25", team: str = "") -> Run:
    """Return a validated run of a team, by default of Alpha."""
    own = scene.other_team if team else scene.team
    metadata = {"run.tsv": RunMetadata(tag=tag)}
    [run] = submit_upload(
        file=sent(data, "run.tsv"), task=scene.task, team=own, by=None, at=NOW, metadata=metadata
    )
    return validated(run)


def validated(run: Run) -> Run:
    validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    return run


def test_the_identifier_of_a_run_is_its_tag_made_unique_in_the_task(scene: Scene) -> None:
    first, other = submitted(scene), submitted(scene, team="Beta")

    assert (first.identifier, other.identifier) == ("bm25", f"bm25-{other.pk}")


def test_an_identifier_has_no_blank_and_no_colon(scene: Scene) -> None:
    assert submitted(scene, tag="my run: v2").identifier == "my_run_v2"


def test_a_run_with_errors_leaves_the_identifier_to_the_corrected_file(scene: Scene) -> None:
    bad, corrected = submitted(scene, BAD_RUN), submitted(scene)

    assert (bad.identifier, corrected.identifier) == ("", "bm25")


def test_a_withdrawn_run_keeps_its_identifier(scene: Scene) -> None:
    first = submitted(scene)
    withdraw_run(run=first, reason="Wrong file.", by=None, at=NOW)

    again = submitted(scene)

    first.refresh_from_db()
    assert (first.identifier, again.identifier) == ("bm25", f"bm25-{again.pk}")


def test_a_checked_run_has_an_identifier_when_it_is_submitted(scene: Scene) -> None:
    [checked] = check_upload(file=sent(), task=scene.task, team=scene.team, by=None, at=NOW)
    assert validated(checked).identifier == ""

    submit_checked_run(run=checked, by=scene.member, at=NOW)

    checked.refresh_from_db()
    assert checked.identifier == "bm25"


def test_correcting_every_detail_of_a_run_keeps_its_identifier(scene: Scene) -> None:
    run = submitted(scene)

    metadata = RunMetadata("other", True, True, True, "Late.", True, "both", "", "Other words.")
    correct_run(run=run, metadata=metadata, by=None, at=NOW)

    run.refresh_from_db()
    assert (run.tag, run.identifier) == ("other", "bm25")


def test_the_database_refuses_a_run_that_takes_part_without_an_identifier(scene: Scene) -> None:
    run = submitted(scene)
    with pytest.raises(IntegrityError), transaction.atomic():
        Run.objects.filter(pk=run.pk).update(identifier="")
