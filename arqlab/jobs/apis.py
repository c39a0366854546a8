"""Jobs as JSON, under the same permissions as the pages."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arqlab.core.models import Job
from arqlab.core.views import signed_in
from arqlab.jobs.services.jobs import stop_job
from arqlab.labs.permissions import organized_lab_or_404
from arqlab.web.jobs import JOB_KINDS, lane_of_job


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
    organized = organized_lab_or_404(request.user, lab)
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
        by = signed_in(request)
        stop_job(job=get_object_or_404(jobs, pk=job), at=timezone.now(), by=by)
        return Response(JobSerializer(jobs.get(pk=job)).data)
