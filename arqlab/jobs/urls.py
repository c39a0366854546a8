"""URLs of jobs."""

from django.urls import path

from arqlab.jobs import apis
from arqlab.web import LAB
from arqlab.web.patterns import API, pages_in

app_name = "jobs"
urlpatterns = [
    *pages_in("arqlab.jobs"),
    path(f"{API}{LAB}jobs/", apis.JobListApi.as_view(), name="api-job-list"),
    path(f"{API}{LAB}jobs/<number:job>/", apis.JobDetailApi.as_view(), name="api-job-detail"),
    path(f"{API}{LAB}jobs/<number:job>/stop/", apis.JobStopApi.as_view(), name="api-job-stop"),
]
