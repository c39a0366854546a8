"""Labs and tasks as JSON, under the same permissions as the pages."""

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiResponse, extend_schema_field
from rest_framework import generics, serializers

from arqlab.core import permissions
from arqlab.core.models import Lab, Task, Visitor


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

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        bodies = super()._get_response_bodies(direction)
        error = OpenApiResponse(ErrorSerializer, description="Every error, whatever its status.")
        body = self._get_response_for_code(error, "default")  # type: ignore[no-untyped-call]
        return {**bodies, "default": body}


class ScaleLabelSerializer(serializers.Serializer[Any]):
    """One label of a task's scale."""

    value = serializers.IntegerField()
    key = serializers.CharField(help_text="Key that selects the label on the judging page.")
    letter = serializers.CharField()
    word = serializers.CharField()
    colour = serializers.CharField(help_text="Name of the label's colour.")
    is_judgment = serializers.BooleanField()
    asks_comment = serializers.BooleanField()


ORDERS = ["score", "rank"]


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
