"""Reading the metadata of a run from a file name."""

from submissions.services.run_metadata import RunMetadata, metadata_from_name


def test_a_full_name_has_all_metadata() -> None:
    metadata = metadata_from_name("Baseline2022-task3-GPT3-manual-both-generate-P.tsv")
    assert metadata == RunMetadata(
        "GPT3", is_primary=True, is_manual=True, data_used="both", answer_kind="generate"
    )


def test_a_name_without_metadata_means_an_automatic_alternate_run() -> None:
    assert metadata_from_name("TangentCFT.txt.gz") == RunMetadata("TangentCFT")


def test_the_folder_of_an_archive_member_is_ignored() -> None:
    assert metadata_from_name("runs/PSU-task1-PSU1-auto-both-A.tsv").tag == "PSU1"


def test_a_name_may_declare_visual_ids() -> None:
    assert (
        metadata_from_name("Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz").items
        == "visual-ids"
    )


def test_a_tag_fits_its_column() -> None:
    assert len(metadata_from_name(f"{'x' * 300}.tsv").tag) == 100


def test_a_name_that_is_only_a_suffix_still_has_a_tag() -> None:
    assert metadata_from_name(".tsv").tag != ""
