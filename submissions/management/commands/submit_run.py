"""Submit a run file on the server and validate it at once."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

from django.core.files import File
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from arqkit.formats.runs.results import report_data, report_text
from arqkit.standings import FLAGS, SET_BY_ORGANIZERS
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Team, User
from arqlab.labs.management.labcommand import LabCommand, read_bytes
from arqlab.labs.selectors import person_named, task_named
from arqlab.teams.selectors import team_key
from arqlab.teams.services import create_team, lab_team
from submissions.models import Run
from submissions.services.run_metadata import RunMetadata, teams_in_names
from submissions.services.uploads import metadata_by_name, submit_upload
from submissions.services.validation import validate_uploaded_run


class _Options(TypedDict):
    """The options of the command, without the details of a run."""

    file: Path
    task: str
    team: str | None
    new_team: bool
    confirm_name: bool
    by: str | None
    is_baseline: bool | None


class Command(LabCommand):
    """Submit a run file (plain, gz or zip) under the rules of its task, validate it and print the
    report.

    Exit with 1 if a run has errors.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the file, the team, the submitter and the metadata of the run."""
        parser.add_argument("file", type=Path, help="the run file")
        parser.add_argument("--task", required=True, metavar="LAB/TASK", help="task to submit to")
        parser.add_argument("--team", help="name of the team (default: from the file name)")
        parser.add_argument(
            "--new-team", action="store_true", help="create the team if the lab does not have it"
        )
        parser.add_argument(
            "--confirm-name",
            action="store_true",
            help="create the team even if its name differs from another team's only in case, "
            "spaces or punctuation",
        )
        parser.add_argument(
            "--by",
            metavar="PERSON",
            help="email address or user name of the submitter; organizers may submit late",
        )
        parser.add_argument("--tag", help="run tag (default: from the file name)")
        for flag in FLAGS:
            for word, value in ((flag.yes.lower(), True), (flag.no.lower(), False)):
                text = f"{word} run (default: from the file name)"
                parser.add_argument(
                    f"--{word.replace(' ', '-')}",
                    dest=flag.field,
                    action="store_const",
                    const=value,
                    help=text,
                )
        for standing in SET_BY_ORGANIZERS:
            option, field, text = f"--{standing.key}", standing.field, standing.help
            if standing.field.startswith("is_"):
                parser.add_argument(
                    option, action="store_true", default=None, dest=field, help=text
                )
            else:
                parser.add_argument(option, metavar="REASON", dest=field, help=text)
        parser.add_argument(
            "--data-used", choices=Run.DataUsed.values, help="data that the run used"
        )
        parser.add_argument(
            "--answer-kind", choices=Run.AnswerKind.values, help="how answers were made (Task 3)"
        )
        parser.add_argument(
            "--items",
            choices=Task.Items.values,
            help="type of the items, if it cannot be detected from the file",
        )
        parser.add_argument("--description", help="description of the run")

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Submit the file, validate its runs and print their reports."""
        content = read_bytes(options["file"], "Give the path of a run file.")
        runs = self.submit(ContentFile(content, name=options["file"].name), options)
        for run in runs:
            validate_uploaded_run(run_id=run.pk, at=timezone.now())
            run.refresh_from_db()
            while run.status == Run.Status.VALIDATING:  # a worker may have claimed it first
                time.sleep(0.2)
                run.refresh_from_db()
            data = report_data(
                facts=run.report,
                problems=run.problems.all(),
                is_valid=run.status == Run.Status.VALID,
            )
            self.stdout.write("\n".join(report_text(f"{run} ({run.file_name})", data)))
        if any(run.status != Run.Status.VALID for run in runs):
            sys.exit(1)

    @transaction.atomic
    def submit(self, file: File, options: _Options) -> list[Run]:
        """Store the file as a submission of its team and return the runs in it."""
        task = task_named(options["task"])
        by = person_named(options["by"]) if options["by"] else None
        field_names = (field.name for field in fields(RunMetadata))
        sent: Mapping[str, object] = options
        values = {name: sent[name] for name in field_names if sent[name] is not None}
        metadata = metadata_by_name(file, **values)
        names = [options["team"]] if options["team"] else teams_in_names(metadata)
        is_baseline = options["is_baseline"]
        team = lab_team(task.lab) if is_baseline else self.team_named(names, task, by, options)
        return submit_upload(
            file=file, task=task, team=team, by=by, at=timezone.now(), metadata=metadata
        )

    def team_named(self, names: list[str], task: Task, by: User | None, options: _Options) -> Team:
        """Return the team with the only name. If the lab lacks it, create it or refuse."""
        if len(names) != 1:
            named = f"several teams ({', '.join(names)})" if names else "no team"
            raise UserError(
                f"The file name contains {named}. Name the team with --team NAME.", code="no-team"
            )
        name = names[0]
        team = Team.objects.filter(lab=task.lab, name__iexact=name).first()
        if team is None and not options["new_team"]:
            keys = {team_key(other.name): other.name for other in task.lab.teams.all()}
            near = [keys[key] for key in get_close_matches(team_key(name), keys)]
            similar = f"Did you mean {' or '.join(near)}? " if near else ""
            raise UserError(
                f"{task.lab} has no team named {name}. {similar}Correct the name with --team NAME, "
                "or create the team with --new-team.",
                code="no-team",
            )
        if team is None:
            confirmed = options["confirm_name"]
            team = create_team(lab=task.lab, name=name, by=by, joins=False, confirmed=confirmed)
            message = f"Created team {team.name} in {task.lab.slug}."
            # After the commit: a refused file creates no team.
            transaction.on_commit(partial(self.stdout.write, message))
        return team
