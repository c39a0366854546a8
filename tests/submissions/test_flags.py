"""Every flag of a run is declared in every form, file and API."""

from dataclasses import asdict

import pytest
from django.core.management import load_command_class

from arqkit.leaderboard import columns_in
from arqkit.standings import FLAGS
from submissions.apis import RunSerializer, UploadSerializer
from submissions.forms import RunMetadataForm
from submissions.models import Run
from submissions.services.run_files import RUN_COLUMNS
from submissions.services.run_metadata import RunMetadata

pytestmark = pytest.mark.parametrize("flag", FLAGS)


def test_a_flag_is_asked_by_form_api_and_command(flag, scene):
    command = load_command_class("submissions", "submit_run").create_parser("", "submit_run")
    asked = ["run.tsv", "--task", "lab/task", f"--{flag.yes.lower()}"]

    assert flag.field in RunMetadataForm(task=scene.task, organizes=False).fields
    assert flag.field in UploadSerializer().fields
    assert vars(command.parse_args(asked))[flag.field]


def test_a_flag_is_in_the_files_the_api_and_on_the_board(flag):
    assert flag.key in RUN_COLUMNS
    assert flag.field in RunSerializer().fields
    assert all(
        flag.key in {column.key for column in columns_in(place)}
        for place in ("page", "table", "latex", "json")
    )


def test_a_run_that_declares_a_flag_is_marked_with_it(flag):
    run = Run(**asdict(RunMetadata("bm25", **{flag.field: True})))

    assert run.flags == [flag]
    assert (flag.label, flag.yes) in run.declared
