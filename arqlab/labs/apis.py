"""Labs, tasks and topics as JSON, under the same permissions as the pages."""

from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import generics, serializers

from arqkit.topics import QUERY_TEXTS
from arqlab.core.models import Lab, Task, Topic, Visitor
from arqlab.labs.permissions import (
    lab_or_404,
    labs_visible_to,
    may_organize,
    task_or_404,
    tasks_visible_to,
)
from arqlab.labs.selectors import topic_info

ORDERS = ["score", "rank"]


class ScaleLabelSerializer(serializers.Serializer[object]):
    """One label of a task's scale."""

    value = serializers.IntegerField()
    key = serializers.CharField(help_text="Key that selects the label on the judging page.")
    letter = serializers.CharField()
    word = serializers.CharField()
    colour = serializers.CharField(help_text="Name of the label's colour.")
    is_judgment = serializers.BooleanField()
    asks_comment = serializers.BooleanField()


class ProtocolSerializer(serializers.Serializer[object]):
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
        return _with_tasks(labs_visible_to(self.request.user), self.request.user)


class LabDetailApi(generics.RetrieveAPIView[Lab]):
    """One lab."""

    serializer_class = LabSerializer
    queryset = Lab.objects.none()

    def get_object(self) -> Lab:
        """Return the lab, or 404 if the user cannot see it."""
        lab = lab_or_404(self.request.user, self.kwargs["lab"])
        return _with_tasks(Lab.objects.filter(pk=lab.pk), self.request.user).get()


def _with_tasks(labs: QuerySet[Lab], user: Visitor) -> QuerySet[Lab]:
    return labs.prefetch_related(Prefetch("tasks", tasks_visible_to(user)))


class TaskListApi(generics.ListAPIView[Task]):
    """The tasks of a lab."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_queryset(self) -> QuerySet[Task]:
        """Return the tasks of the lab in order."""
        lab = lab_or_404(self.request.user, self.kwargs["lab"])
        tasks = tasks_visible_to(self.request.user)
        return tasks.filter(lab=lab).select_related("lab")


class TaskDetailApi(generics.RetrieveAPIView[Task]):
    """One task with its rules and deadline."""

    serializer_class = TaskSerializer
    queryset = Task.objects.none()

    def get_object(self) -> Task:
        """Return the task, or 404 if the user cannot see its lab."""
        return task_or_404(self.request.user, self.kwargs["lab"], self.kwargs["task"])


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
        public, notes = topic_info(topic, organizes=self.context["view"].organizes)
        texts = {name: topic.info[name] for name in QUERY_TEXTS if name in topic.info}
        return dict([*public, *notes]) | texts


class TopicListApi(generics.ListAPIView[Topic]):
    """The topics of a task in order."""

    serializer_class = TopicSerializer
    queryset = Topic.objects.none()
    organizes = False

    def get_queryset(self) -> QuerySet[Topic]:
        """Return the topics of the task, or 404 if the user cannot see it."""
        task = task_or_404(self.request.user, self.kwargs["lab"], self.kwargs["task"])
        self.organizes = may_organize(self.request.user, task.lab)
        return task.topics.order_by("position")
