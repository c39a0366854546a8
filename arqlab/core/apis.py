"""Labs and tasks as JSON, under the same permissions as the pages."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqkit.topics import QUERY_TEXTS
from arqlab.core import permissions, selectors
from arqlab.core.models import Job, Lab, Task, Topic, User, Visitor
from arqlab.core.services.jobs import stop_job
from arqlab.web.jobs import JOB_KINDS, lane_of_job

ERRORS = {
    "401": "You are not signed in, or the token is not valid, has expired or was revoked.",
    "403": "The scope of the token does not cover this, or you need a second factor.",
    "404": "It does not exist, or you may not see it.",
    "429": "Too many requests. Wait for the seconds of the header Retry-After.",
    "default": "Every other error, whatever its status.",
}

ORDERS = ["score", "rank"]


class RequestProblemSerializer(serializers.Serializer[Any]):
    """One problem of a request."""

    instance = serializers.IntegerField(
        allow_null=True, help_text="Of a judged item; null if the problem concerns the request."
    )
    field = serializers.CharField(help_text="Blank if the problem concerns no field.")
    found = serializers.CharField()
    expected = serializers.CharField()
    todo = serializers.CharField()


class ErrorSerializer(serializers.Serializer[Any]):
    """An error: a message for people, a code for programs, and all problems of the request."""

    message = serializers.CharField()
    code = serializers.CharField()
    errors = RequestProblemSerializer(many=True)  # type: ignore[assignment]  # not its own errors


class ApiSchema(AutoSchema):
    """The schema of an address of the API, whose errors all have one shape."""

    def _get_paginator(self) -> Any:
        """Return how a list is divided into pages: one that a change returns is whole."""
        return None if self.method == "POST" else super()._get_paginator()  # type: ignore[no-untyped-call]

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, object]:
        errors = {}
        for status, description in ERRORS.items():
            error = OpenApiResponse(ErrorSerializer, description=description)
            errors[status] = self._get_response_for_code(error, status)  # type: ignore[no-untyped-call]
        return {**errors, **super()._get_response_bodies(direction)}


class ScaleLabelSerializer(serializers.Serializer[Any]):
    """One label of a task's scale."""

    value = serializers.IntegerField()
    key = serializers.CharField(help_text="Key that selects the label on the judging page.")
    letter = serializers.CharField()
    word = serializers.CharField()
    colour = serializers.CharField(help_text="Name of the label's colour.")
    is_judgment = serializers.BooleanField()
    asks_comment = serializers.BooleanField()


class ProtocolSerializer(serializers.Serializer[Any]):
    """The rules of a task: the lab's preset with the organizers' overrides."""

    limit = serializers.IntegerField(help_text="Maximum items per topic.")
    max_characters = serializers.IntegerField(help_text="Maximum characters of an answer (Task 3).")
    quota = serializers.IntegerField(help_text="Maximum valid runs per team.")
    labels = ScaleLabelSerializer(many=True)
    relevant_from = serializers.IntegerField(help_text="Lowest label that counts as relevant.")
    min_relevant = serializers.IntegerField(
        help_text="Fewest relevant items of a topic in the qrels; 0 keeps every judged topic."
    )
    order = serializers.ChoiceField(choices=ORDERS, help_text="Order of scoring.")
    pooling_order = serializers.ChoiceField(choices=ORDERS, help_text="Order of pooling.")
    measures = serializers.ListField(
        child=serializers.CharField(), help_text="In ir_measures notation, main measure first."
    )


class TaskSerializer(serializers.ModelSerializer[Task]):
    """One task of a lab."""

    lab = serializers.SlugRelatedField[Lab](slug_field="slug", read_only=True)
    state = serializers.SerializerMethodField()
    protocol = ProtocolSerializer(read_only=True)

    class Meta:
        model = Task
        fields = [
            "lab",
            "slug",
            "name",
            "kind",
            "description",
            "trec_items",
            "opens_at",
            "deadline",
            "closed_at",
            "state",
            "protocol",
        ]

    @extend_schema_field(serializers.ChoiceField(choices=["upcoming", "open", "closed"]))
    def get_state(self, task: Task) -> str:
        """Return whether the task accepts runs now."""
        return task.state(timezone.now())


class LabSerializer(serializers.ModelSerializer[Lab]):
    """One lab with the slugs of its tasks."""

    tasks = serializers.SlugRelatedField[Task](slug_field="slug", many=True, read_only=True)

    class Meta:
        model = Lab
        fields = ["slug", "name", "description", "protocol", "is_public", "tasks"]


class LabListApi(generics.ListAPIView[Lab]):
    """The labs the user can see."""

    serializer_class = LabSerializer
    queryset = Lab.objects.none()  # for the API schema only; the labs come from get_queryset

    def get_queryset(self) -> QuerySet[Lab]:
        """Return the labs the user can see, with their tasks."""
        return _with_tasks(permissions.labs_visible_to(self.request.user), self.request.user)


class LabDetailApi(generics.RetrieveAPIView[Lab]):
    """One lab."""

    serializer_class = LabSerializer
    queryset = Lab.objects.none()

    def get_object(self) -> Lab:
        """Return the lab, or 404 if the user cannot see it."""
        lab = permissions.lab_or_404(self.request.user, self.kwargs["lab"])
        return _with_tasks(Lab.objects.filter(pk=lab.pk), self.request.user).get()


def _with_tasks(labs: QuerySet[Lab], user: Visitor) -> QuerySet[Lab]:
    return labs.prefetch_related(Prefetch("tasks", permissions.tasks_visible_to(user)))


class TaskListApi(generics.ListAPIView[Task]):
    """The tasks of a lab."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_queryset(self) -> QuerySet[Task]:
        """Return the tasks of the lab in order."""
        lab = permissions.lab_or_404(self.request.user, self.kwargs["lab"])
        tasks = permissions.tasks_visible_to(self.request.user)
        return tasks.filter(lab=lab).select_related("lab")


class TaskDetailApi(generics.RetrieveAPIView[Task]):
    """One task with its rules and deadline."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_object(self) -> Task:
        """Return the task, or 404 if the user cannot see its lab."""
        return permissions.task_or_404(self.request.user, self.kwargs["lab"], self.kwargs["task"])


class TopicSerializer(serializers.ModelSerializer[Topic]):
    """One topic with what its page shows the user of its information."""

    info = serializers.SerializerMethodField(
        help_text="Topic information, such as category and difficulty; for organizers, all of it."
    )

    class Meta:
        model = Topic
        fields = ["query_id", "title", "body", "tags", "formula_id", "latex", "info"]

    @extend_schema_field(serializers.DictField())
    def get_info(self, topic: Topic) -> dict[str, str]:
        """Return the public information and the query's texts, and for organizers the rest too."""
        public, notes = selectors.topic_info(topic, organizes=self.context["view"].organizes)
        texts = {name: topic.info[name] for name in QUERY_TEXTS if name in topic.info}
        return dict([*public, *notes]) | texts


class TopicListApi(generics.ListAPIView[Topic]):
    """The topics of a task in order."""

    serializer_class = TopicSerializer
    queryset = Topic.objects.none()
    organizes = False

    def get_queryset(self) -> QuerySet[Topic]:
        """Return the topics of the task, or 404 if the user cannot see it."""
        task = permissions.task_or_404(self.request.user, self.kwargs["lab"], self.kwargs["task"])
        self.organizes = permissions.may_organize(self.request.user, task.lab)
        return task.topics.order_by("position")


class JobSerializer(serializers.ModelSerializer[Job]):
    """A job: its state, its progress and what it did."""

    name = serializers.CharField(source="label", help_text="The name of its kind for people.")
    lane = serializers.SerializerMethodField(
        help_text="seconds, minutes or hours: it waits for no job of a longer lane."
    )
    by = serializers.CharField(allow_null=True, help_text="The user who started it.")
    task = serializers.CharField(
        source="task.slug", default=None, help_text="Null for a job of the lab."
    )

    class Meta:
        model = Job
        fields = ["id", "kind", "name", "lane", "task", "state", "is_stopping", "done", "total"]
        fields += ["message", "summary", "warnings", "by", "created_at", "updated_at"]

    def get_lane(self, job: Job) -> str:
        """Return the lane in which the job waits."""
        return str(lane_of_job(job))


def _jobs(request: Request, lab: str) -> QuerySet[Job]:
    """Return the jobs of a lab for its organizers, without the imports of commands."""
    organized = permissions.organized_lab_or_404(request.user, lab)
    jobs = Job.objects.filter(lab=organized, kind__in=JOB_KINDS)
    return jobs.select_related("task", "by")


class JobListApi(generics.ListAPIView[Job]):
    """The jobs of a lab, the newest first, for its organizers."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()

    def get_queryset(self) -> QuerySet[Job]:
        """Return the jobs."""
        return _jobs(self.request, self.kwargs["lab"])


class JobDetailApi(generics.RetrieveAPIView[Job]):
    """One job, for organizers of its lab."""

    serializer_class = JobSerializer
    queryset = Job.objects.none()

    def get_object(self) -> Job:
        """Return the job, or 404 if the user does not organize its lab."""
        return get_object_or_404(_jobs(self.request, self.kwargs["lab"]), pk=self.kwargs["job"])


class JobStopApi(APIView):
    """The end of one job, for organizers of its lab."""

    @extend_schema(request=None, responses={200: JobSerializer})
    def post(self, request: Request, lab: str, job: int) -> Response:
        """Cancel a job that waits, or ask the worker of a running one to stop."""
        if not request.user.is_authenticated:
            raise NotAuthenticated
        jobs = _jobs(request, lab)
        by = permissions.signed_in(request)
        stop_job(job=get_object_or_404(jobs, pk=job), at=timezone.now(), by=by)
        return Response(JobSerializer(jobs.get(pk=job)).data)


class RoleSerializer(serializers.Serializer[Any]):
    """One role of the user in a lab."""

    lab = serializers.CharField(source="lab.slug")
    role = serializers.CharField()
    team = serializers.CharField(source="team.name", default=None, allow_null=True)


class MeSerializer(serializers.ModelSerializer[User]):
    """The user of a token, with the role in each lab."""

    roles = RoleSerializer(many=True, source="memberships")

    class Meta:
        model = User
        fields = ["username", "name", "email", "is_superuser", "roles"]


class MeApi(generics.RetrieveAPIView[User]):
    """Who the token signs in."""

    of_every_token = True
    serializer_class = MeSerializer

    def get_object(self) -> User:
        """Return the user; raise `NotAuthenticated` for a visitor."""
        if not isinstance(self.request.user, User):
            raise NotAuthenticated
        return self.request.user
