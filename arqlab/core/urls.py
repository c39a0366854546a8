"""URLs of people, labs, tasks and topics, and of the API schema."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from arqlab.core import apis
from arqlab.web.pages import API, LAB, TASK, pages_in

app_name = "core"
urlpatterns = [
    *pages_in("arqlab.core"),
    path(f"{API}labs/", apis.LabListApi.as_view(), name="api-lab-list"),
    path(f"{API}{LAB}", apis.LabDetailApi.as_view(), name="api-lab-detail"),
    path(f"{API}{LAB}tasks/", apis.TaskListApi.as_view(), name="api-task-list"),
    path(f"{API}{TASK}", apis.TaskDetailApi.as_view(), name="api-task-detail"),
    path(f"{API}{TASK}topics/", apis.TopicListApi.as_view(), name="api-topic-list"),
    path(f"{API}{LAB}jobs/", apis.JobListApi.as_view(), name="api-job-list"),
    path(f"{API}{LAB}jobs/<number:job>/", apis.JobDetailApi.as_view(), name="api-job-detail"),
    path(f"{API}{LAB}jobs/<number:job>/stop/", apis.JobStopApi.as_view(), name="api-job-stop"),
    path(f"{API}me/", apis.MeApi.as_view(), name="api-me"),
    path(f"{API}schema/", SpectacularAPIView.as_view(), name="api-schema"),
]
