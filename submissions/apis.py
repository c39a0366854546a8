"""The API of runs, with the services and rules of the pages."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import serializers, status
from rest_framework.exceptions import NotAuthenticated
from rest_framework.generics import ListAPIView
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqkit.formats.runs.results import report_data
from arqkit.records import Severity
from arqkit.standings import FLAGS, SET_BY_ORGANIZERS, STANDINGS
from arqlab.core.apis import ErrorSerializer
from arqlab.core.models import ApiToken, Task, Team
from arqlab.core.views import signed_in
from arqlab.labs.permissions import may_organize
from arqlab.teams.services import lab_team
from arqlab.web import task_url
from submissions.forms import LONGEST_REASON
from submissions.models import Run
from submissions.permissions import run_or_404, runs_task_or_404, teams_to_submit_for
from submissions.selectors import runs_visible_to
from submissions.services.changing import (
    correct_run,
    metadata_of,
    submit_checked_run,
    take_repaired,
    withdraw_run,
)
from submissions.services.rules import Sender, require_named_team
from submissions.services.uploads import metadata_by_name, take_once
from submissions.tasks import validate_after_commit

REFUSED = OpenApiResponse(
    ErrorSerializer, description="Rejected because of the role, team, deadline, quota or run tag."
)

KEY = OpenApiParameter(
    "Idempotency-Key",
    UUID,
    OpenApiParameter.HEADER,
    description="Chosen by the program: an upload that is sent again with it is stored once.",
)


class RunSerializer(serializers.ModelSerializer):
    """A run and its details."""

    team = serializers.CharField(source="team.name")
    run_id = serializers.CharField(
        source="identifier",
        help_text="The immutable id of the run in pools, qrels and run maps. Empty until the run "
        "is valid and submitted.",
    )
    file = serializers.CharField(source="file_name")
    sha256 = serializers.CharField(source="upload.sha256")
    state = serializers.ChoiceField(choices=[*Run.Status.values, "withdrawn"])
    standing = serializers.CharField(
        source="standing.key", help_text="One of " + ", ".join(one.key for one in STANDINGS) + "."
    )
    report = serializers.SerializerMethodField(help_text="URL of the report.")

    class Meta:
        model = Run
        fields = (
            "id",
            "team",
            "tag",
            "run_id",
            "state",
            *(flag.field for flag in FLAGS),
            "is_baseline",
            "is_control",
            "is_post_hoc",
            "standing",
            "data_used",
            "answer_kind",
            "items",
            "description",
            "check_only",
            "file",
            "sha256",
            "submitted_at",
            "withdrawn_at",
            "withdrawal_reason",
            "report",
        )

    @extend_schema_field(serializers.CharField())
    def get_report(self, run: Run) -> str:
        """Return the URL of the run's report."""
        return task_url("submissions:api-run-report", run.task, run.pk)


def _yes_no(meaning: str) -> serializers.BooleanField:
    """Return a field for true, false, or null if the file name decides."""
    return serializers.BooleanField(
        required=False, allow_null=True, default=None, help_text=meaning
    )


class DetailsSerializer(serializers.Serializer):
    """The details of a run. An empty text means that it is not specified."""

    tag = serializers.CharField(required=False, max_length=100)
    data_used = serializers.ChoiceField(
        required=False, allow_blank=True, choices=Run.DataUsed.choices
    )
    answer_kind = serializers.ChoiceField(
        required=False, allow_blank=True, choices=Run.AnswerKind.choices
    )
    items = serializers.ChoiceField(required=False, allow_blank=True, choices=Task.Items.choices)
    description = serializers.CharField(required=False, allow_blank=True, max_length=5000)

    def get_fields(self) -> dict[str, serializers.Field]:
        """Return the fields, with those of flags and standings."""
        flags = {flag.field: _yes_no(flag.mark) for flag in FLAGS}
        standings = {
            flag.field: _yes_no(flag.help)
            if flag.field.startswith("is_")
            else serializers.CharField(required=False, max_length=300, help_text=flag.help)
            for flag in SET_BY_ORGANIZERS
        }
        return {**super().get_fields(), **flags, **standings}

    def given(self) -> dict[str, Any]:
        """Return the fields that were sent; raise for values that cannot be."""
        self.is_valid(raise_exception=True)
        return {key: value for key, value in self.validated_data.items() if value is not None}


class ChangeSerializer(DetailsSerializer):
    """Changed details of a run, and the reason for them."""

    reason = serializers.CharField(
        required=False,
        max_length=LONGEST_REASON,
        help_text="Needed if the run is on a released leaderboard and what it lists changes. "
        "Everyone reads it as an erratum.",
    )


class UploadSerializer(DetailsSerializer):
    """A run file to submit or check. Missing fields are read from the file name."""

    file = serializers.FileField(
        allow_empty_file=True, help_text="Plain text, .gz, or a .zip with one run per member."
    )
    team = serializers.CharField(
        required=False, help_text="Team name; optional for members of a single team."
    )
    confirm_team = serializers.BooleanField(
        default=False,
        help_text="Upload for `team` even if the file name contains another team. Without it, such "
        "a file is rejected with the code `team-differs`.",
    )
    check_only = serializers.BooleanField(default=False)


class WithdrawalSerializer(serializers.Serializer):
    """Why a run is withdrawn."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class RepairSerializer(serializers.Serializer):
    """What becomes of the repaired file."""

    check_only = serializers.BooleanField(default=False)


class PlaceSerializer(serializers.Serializer):
    """One occurrence of a problem; without a line, it concerns the whole file."""

    line = serializers.IntegerField(allow_null=True)
    topic = serializers.CharField(allow_null=True)
    found = serializers.CharField()
    expected = serializers.CharField()


class ProblemSerializer(serializers.Serializer):
    """One type of problem with its first occurrences."""

    kind = serializers.CharField()
    severity = serializers.ChoiceField(choices=[severity.value for severity in Severity])
    count = serializers.IntegerField()
    message = serializers.CharField()
    todo = serializers.CharField()
    repairable = serializers.BooleanField()
    first = PlaceSerializer(many=True)


class ReportSerializer(serializers.Serializer):
    """The report of a run. It is empty until validation finishes."""

    state = serializers.CharField()
    valid = serializers.BooleanField()
    format = serializers.CharField(required=False)
    format_name = serializers.CharField(required=False)
    items = serializers.CharField(required=False)
    lines = serializers.IntegerField(required=False)
    rows = serializers.IntegerField(required=False)
    topics = serializers.IntegerField(required=False)
    run_tags = serializers.ListField(child=serializers.CharField(), required=False)
    problems = ProblemSerializer(many=True)


class RunFilterSerializer(serializers.Serializer):
    """Which runs of a task to list."""

    team = serializers.CharField(required=False, help_text="Name of the team.")
    state = serializers.ChoiceField(required=False, choices=[*Run.Status.values, "withdrawn"])
    standing = serializers.ChoiceField(required=False, choices=[one.key for one in STANDINGS])

    def keeps(self, run: Run) -> bool:
        """Return whether a run has all that was asked for."""
        facts = {"team": run.team.name, "state": run.state, "standing": run.standing.key}
        return all(facts[name] == value for name, value in self.validated_data.items())


class RunListApi(ListAPIView):
    """The runs of a task."""

    scope = ApiToken.Scope.SUBMIT

    parser_classes = (MultiPartParser, FormParser)
    serializer_class = RunSerializer
    queryset = Run.objects.none()  # for the API schema only

    def get_queryset(self) -> QuerySet[Run]:
        """Return the runs the user can see, newest first."""
        task = _task(self.request, self.kwargs["lab"], self.kwargs["task"])
        return runs_visible_to(self.request.user, task).select_related("task__lab")

    def filter_queryset(self, queryset: QuerySet) -> Any:
        """Return the runs that the address asks for."""
        run_filter = RunFilterSerializer(data=self.request.query_params)
        run_filter.is_valid(raise_exception=True)
        return (
            [run for run in queryset if run_filter.keeps(run)]
            if run_filter.validated_data
            else queryset
        )

    @extend_schema(parameters=[RunFilterSerializer], responses={200: RunSerializer(many=True)})
    def get(self, request: Request, *args: object, **kwargs: object) -> Response:
        """List the runs of your teams (for organizers, of all teams), newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        parameters=[KEY],
        request={"multipart/form-data": UploadSerializer},
        responses={202: RunSerializer(many=True), 409: REFUSED},
        examples=[
            OpenApiExample(
                "A submission",
                {"file": "Ours-task1-bm25-auto-both-P.tsv", "team": "Ours", "is_primary": True},
                request_only=True,
                media_type="multipart/form-data",
            )
        ],
    )
    def post(self, request: Request, lab: str, task: str) -> Response:
        """Upload a run file. Poll the report of each run until its state is valid or invalid."""
        visible_task = _task(request, lab, task)
        fields = UploadSerializer(data=request.data).given()
        file, name = fields.pop("file"), fields.pop("team", None)
        is_baseline = fields.get("is_baseline") and may_organize(request.user, visible_task.lab)
        team = lab_team(visible_task.lab) if is_baseline else _team(request, visible_task, name)
        check_only, confirmed = fields.pop("check_only"), fields.pop("confirm_team")
        metadata = metadata_by_name(file, **fields)
        if not is_baseline:
            require_named_team(team, names=metadata, confirmed=confirmed)
        key, at = request.headers.get("Idempotency-Key"), timezone.now()
        sender = Sender(visible_task, team, signed_in(request), at, key=_key(key))
        with transaction.atomic():
            runs, are_new = take_once(
                file=file, sender=sender, metadata=metadata, check_only=check_only
            )
            validate_after_commit(runs if are_new else [])
        return Response(RunSerializer(runs, many=True).data, status=status.HTTP_202_ACCEPTED)


class RunDetailApi(APIView):
    """One run."""

    scope = ApiToken.Scope.SUBMIT

    @extend_schema(responses={200: RunSerializer})
    def get(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Return a run and its details."""
        return Response(RunSerializer(_run(request, lab, task, run)).data)

    @extend_schema(
        request=ChangeSerializer,
        responses={200: RunSerializer, 409: REFUSED},
        examples=[
            OpenApiExample(
                "The primary run",
                {"is_primary": True, "description": "BM25 with the words of the title."},
                request_only=True,
            )
        ],
    )
    def patch(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Change details of a run, such as `is_primary`; those that are not sent stay."""
        changed = _run(request, lab, task, run)
        fields = ChangeSerializer(data=request.data).given()
        reason, by = fields.pop("reason", ""), signed_in(request)
        metadata = replace(metadata_of(changed), **fields)
        if correct_run(run=changed, metadata=metadata, by=by, at=timezone.now(), reason=reason):
            validate_after_commit([changed])
        return Response(RunSerializer(_run(request, lab, task, run)).data)


class RunWithdrawApi(APIView):
    """The withdrawal of one run."""

    scope = ApiToken.Scope.SUBMIT

    @extend_schema(request=WithdrawalSerializer, responses={200: RunSerializer, 409: REFUSED})
    def post(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Withdraw a run with a reason. Its file, report and reason are kept."""
        withdrawn = _run(request, lab, task, run)
        form = WithdrawalSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        withdraw_run(run=withdrawn, by=signed_in(request), at=timezone.now(), **form.validated_data)
        return Response(RunSerializer(_run(request, lab, task, run)).data)


class RunSubmitApi(APIView):
    """The submission of one run that was only checked."""

    scope = ApiToken.Scope.SUBMIT

    @extend_schema(request=None, responses={200: RunSerializer, 409: REFUSED})
    def post(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Submit a run that was only checked, without another upload."""
        checked = _run(request, lab, task, run)
        submit_checked_run(run=checked, by=signed_in(request), at=timezone.now())
        return Response(RunSerializer(_run(request, lab, task, run)).data)


class RunRepairedApi(APIView):
    """The repaired file of one run as a new run."""

    scope = ApiToken.Scope.SUBMIT

    @extend_schema(request=RepairSerializer, responses={202: RunSerializer, 409: REFUSED})
    def post(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Submit the repaired file of a run as a new run with the same details, or check it."""
        broken, form = _run(request, lab, task, run), RepairSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        by, at = signed_in(request), timezone.now()
        with transaction.atomic():
            [repaired] = take_repaired(run=broken, by=by, at=at, **form.validated_data)
            validate_after_commit([repaired])
        return Response(RunSerializer(repaired).data, status=status.HTTP_202_ACCEPTED)


class RunReportApi(APIView):
    """The report of one run."""

    @extend_schema(responses={200: ReportSerializer})
    def get(self, request: Request, lab: str, task: str, run: int) -> Response:
        """Return every type of problem of a run with its first occurrences."""
        visible_run = _run(request, lab, task, run)
        is_valid = visible_run.status == Run.Status.VALID
        report = report_data(
            facts=visible_run.report, problems=visible_run.problems.all(), is_valid=is_valid
        )
        return Response({"state": visible_run.state, **report})


def _task(request: Request, lab: str, task: str) -> Task:
    if not request.user.is_authenticated:
        raise NotAuthenticated
    return runs_task_or_404(request.user, lab, task)


def _run(request: Request, lab: str, task: str, run: int) -> Run:
    _task(request, lab, task)
    return run_or_404(request.user, lab, task, run)


def _key(text: str | None) -> UUID | None:
    """Return the key of a request. Raises `ValidationError` for one that is no UUID."""
    try:
        return UUID(text) if text else None
    except ValueError:
        raise serializers.ValidationError({"Idempotency-Key": ["Send a UUID."]}) from None


def _team(request: Request, task: Task, name: str | None) -> Team:
    """Return the named team, or the only team the user can submit for."""
    teams = list(teams_to_submit_for(request.user, task))
    matching = [team for team in teams if name is None or team.name.lower() == str(name).lower()]
    if len(matching) != 1:
        names = ", ".join(team.name for team in teams) or "none; create or join a team first"
        raise serializers.ValidationError({"team": [f"Name one of your teams: {names}."]})
    return matching[0]
