"""The validation of waiting runs."""

import gzip
from datetime import timedelta

import polars as pl
import pytest

from arqkit.formats.runs import results
from arqkit.polars_errors import EngineFailedError
from arqlab.core.faults import PAUSES, attempt_due_at
from arqlab.core.models import AuditEvent
from submissions.models import Run
from submissions.selectors import run_index, run_occurrences
from submissions.services import validation
from submissions.services.changing import withdraw_run
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import (
    release_stale_claims,
    validate_uploaded_run,
    waiting_run_ids,
)
from tests.factories import Scene
from tests.submissions.factories import BAD_RUN, GOOD_RUN, NOW, ValidRunFactory, sent, zipped

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


def submitted(
    scene: Scene, data: bytes = GOOD_RUN, name: str = "Alpha-task1-bm25-auto-both-A.tsv"
) -> Run:
    return submit_upload(
        file=sent(data, name), task=scene.task, team=scene.team, by=scene.member, at=NOW
    )[0]


def validated(run: Run) -> Run:
    assert validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    return run


def test_a_run_without_errors_becomes_valid(scene: Scene) -> None:
    run = validated(submitted(scene))
    assert (run.status, run.report["format"], run.report["rows"], run.report["topics"]) == (
        "valid",
        "arqmath-task1",
        3,
        2,
    )
    assert run.report["run_tags"] == ["bm25"]


def test_a_valid_run_has_its_index(scene: Scene) -> None:
    index = run_index(validated(submitted(scene)))
    assert index.select("topic", "item", "order").rows() == [
        ("A.1", "10", 1),
        ("A.1", "11", 2),
        ("A.2", "12", 1),
    ]


def test_single_columns_of_an_index_can_be_read(scene: Scene) -> None:
    assert run_index(validated(submitted(scene)), columns=["topic", "item"]).columns == [
        "topic",
        "item",
    ]


def test_a_run_with_errors_becomes_invalid_and_has_no_index(scene: Scene) -> None:
    run = validated(submitted(scene, BAD_RUN))
    assert (run.status, bool(run.index)) == ("invalid", False)


def test_the_report_holds_every_kind_of_problem_with_its_first_lines(scene: Scene) -> None:
    run = validated(submitted(scene, BAD_RUN))
    found = {problem.kind: problem for problem in run.problems.all()}
    assert found["duplicate-item"].first[0]["line"] == 2
    assert found["score-not-a-number"].first[0]["found"] == "much"
    assert [problem.position for problem in run.problems.all()] == list(range(len(found)))


def test_a_report_keeps_the_first_tags(scene: Scene) -> None:
    lines = [f"A.1\t{item}\t{item}\t{-item}\ttag{item}\n" for item in range(1, 31)]
    run = validated(submitted(scene, "".join(lines).encode()))
    assert (len(run.report["run_tags"]), run.problems.get(kind="several-tags").count) == (20, 29)


def test_every_occurrence_is_stored_in_addition_to_the_first_lines(scene: Scene) -> None:
    lines = b"".join(b"A.1\t10\t%d\t%d\tt\n" % (rank, 99 - rank) for rank in range(1, 41))
    run = validated(submitted(scene, lines))
    places = run_occurrences(run).filter(kind="duplicate-item")
    problem = run.problems.get(kind="duplicate-item")
    assert (problem.count, len(problem.first)) == (places.height, 10)


def test_a_gzipped_run_is_unpacked(scene: Scene) -> None:
    assert (
        validated(
            submitted(scene, gzip.compress(GOOD_RUN), "Alpha-task1-gz-auto-both-A.tsv.gz")
        ).status
        == "valid"
    )


def test_each_member_of_a_zip_has_its_own_report(scene: Scene) -> None:
    archive = sent(
        zipped({"good.tsv": GOOD_RUN, "bad.tsv": BAD_RUN, "paper.pdf": b"%PDF-1.7"}), "runs.zip"
    )
    runs = submit_upload(file=archive, task=scene.task, team=scene.team, by=scene.member, at=NOW)
    assert {run.member: validated(run).status for run in runs} == {
        "good.tsv": "valid",
        "bad.tsv": "invalid",
        "paper.pdf": "invalid",
    }


def test_the_report_names_the_type_of_a_file_that_cannot_be_unpacked(scene: Scene) -> None:
    run = validated(submitted(scene, b"%PDF-1.7 a paper"))
    problem = run.problems.get()
    assert (run.status, problem.kind, problem.severity) == ("invalid", "unreadable-file", "error")
    assert problem.message.startswith("Found a PDF document; expected a run file")


def test_a_run_is_checked_only_once(scene: Scene) -> None:
    run = validated(submitted(scene))
    assert not validate_uploaded_run(run_id=run.pk, at=NOW)
    assert Run.objects.get(pk=run.pk).attempts == 1


def test_a_primary_run_replaces_the_earlier_one(scene: Scene) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    run = validated(submitted(scene, name="Alpha-task1-bm25-auto-both-P.tsv"))
    earlier.refresh_from_db()
    assert (run.is_primary, earlier.is_primary) == (True, False)
    assert AuditEvent.objects.get(verb="run.alternate").detail == {
        "run": earlier.pk,
        "gave_way_to": run.pk,
        "reason": "bm25 became the primary run.",
    }


def test_an_invalid_primary_run_does_not_replace_the_earlier_one(scene: Scene) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    validated(submitted(scene, BAD_RUN, "Alpha-task1-bm25-auto-both-P.tsv"))
    assert Run.objects.get(pk=earlier.pk).is_primary


def test_a_primary_run_withdrawn_during_its_check_does_not_replace_the_earlier_one(
    scene: Scene,
) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    run = submitted(scene, name="Alpha-task1-new-auto-both-P.tsv")
    withdraw_run(run=run, reason="A mistake.", by=scene.member, at=NOW)
    validated(run)
    earlier.refresh_from_db()
    assert earlier.is_primary


def test_baselines_keep_their_marks(scene: Scene) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True, is_baseline=True)
    validated(submitted(scene, name="Alpha-task1-bm25-auto-both-P.tsv"))
    assert Run.objects.get(pk=earlier.pk).is_primary


def test_a_primary_run_that_is_only_checked_does_not_replace_the_earlier_one(scene: Scene) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    file = sent(name="Alpha-task1-x-auto-both-P.tsv")
    validated(check_upload(file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW)[0])
    assert Run.objects.get(pk=earlier.pk).is_primary


def test_the_result_is_audited_without_a_user(scene: Scene) -> None:
    validated(submitted(scene, BAD_RUN))
    assert AuditEvent.objects.get(verb="run.invalid").actor is None


def test_the_report_has_the_diff_of_the_repair(scene: Scene) -> None:
    run = validated(submitted(scene, b"\xef\xbb\xbf" + GOOD_RUN))
    kinds = [line["kind"] for line in run.report["repair"]]
    assert (run.status, "removed" in kinds, "added" in kinds) == ("valid", True, True)


def test_the_claim_of_a_dead_worker_is_released(scene: Scene) -> None:
    run = submitted(scene)
    Run.objects.filter(pk=run.pk).update(status="validating", attempts=1)
    assert release_stale_claims(at=LATER) == 1
    assert Run.objects.get(pk=run.pk).status == "uploaded"


def test_a_recent_claim_is_kept(scene: Scene) -> None:
    run = submitted(scene)
    Run.objects.filter(pk=run.pk).update(status="validating", attempts=1)
    assert release_stale_claims(at=NOW + timedelta(seconds=5)) == 0


def test_a_worker_that_lost_its_claim_stores_nothing(scene: Scene) -> None:
    run = submitted(scene)
    Run.objects.filter(pk=run.pk).update(status="validating", attempts=1)
    late = Run.objects.select_related("upload", "team", "task__lab").get(pk=run.pk)
    Run.objects.filter(pk=run.pk).update(attempts=2)
    assert not validation._finish(late, validation.check_stored(late), at=LATER)
    run.refresh_from_db()
    assert (run.status, run.problems.count(), bool(run.index)) == ("validating", 0, False)


def test_an_error_in_the_check_is_raised_and_releases_the_claim(scene: Scene) -> None:
    run = submitted(scene)
    run.upload.file.storage.delete(run.upload.file.name)
    with pytest.raises(FileNotFoundError):
        validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("uploaded", 1)


def test_a_check_that_panics_makes_no_run_invalid_and_is_put_off_for_longer_each_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = submitted(scene)

    def panic(run: Run) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(validation, "check_stored", panic)
    at, pauses = NOW, []
    for _ in range(20):
        assert waiting_run_ids(at=at) == [run.pk]
        with pytest.raises(EngineFailedError):
            validate_uploaded_run(run_id=run.pk, at=at)
        run.refresh_from_db()
        due = attempt_due_at(run.attempts, run.status_changed_at)
        assert waiting_run_ids(at=due - timedelta(seconds=1)) == []
        pauses.append(due - at)
        at = due
    assert (run.status, run.problems.count()) == ("uploaded", 0)
    assert pauses == [*PAUSES, *[PAUSES[-1]] * (20 - len(PAUSES))]


def test_a_panic_of_polars_during_a_check_is_an_error(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(results, "check_run", panic)
    with pytest.raises(EngineFailedError, match="index out of bounds"):
        validation.check_stored(submitted(scene))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_request_to_stop_keeps_the_claim(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, stop: type[BaseException]
) -> None:
    run = submitted(scene)

    def stopped(run: Run) -> None:
        raise stop

    monkeypatch.setattr(validation, "check_stored", stopped)
    with pytest.raises(stop):
        validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert (run.status, run.attempts) == ("validating", 1)


def test_the_run_that_waits_longest_comes_first(scene: Scene) -> None:
    first, second = (
        submitted(scene, name=f"Alpha-task1-{tag}-auto-both-A.tsv") for tag in ("a", "b")
    )
    Run.objects.filter(pk=first.pk).update(status_changed_at=LATER)
    assert waiting_run_ids(at=LATER) == [second.pk, first.pk]
