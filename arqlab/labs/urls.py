"""URLs of labs, tasks and topics."""

from django.urls import path

from arqlab.labs import apis
from arqlab.web import LAB, TASK
from arqlab.web.patterns import API, pages_in

app_name = "labs"
urlpatterns = [
    *pages_in("arqlab.labs"),
    path(f"{API}labs/", apis.LabListApi.as_view(), name="api-lab-list"),
    path(f"{API}{LAB}", apis.LabDetailApi.as_view(), name="api-lab-detail"),
    path(f"{API}{LAB}tasks/", apis.TaskListApi.as_view(), name="api-task-list"),
    path(f"{API}{TASK}", apis.TaskDetailApi.as_view(), name="api-task-detail"),
    path(f"{API}{TASK}topics/", apis.TopicListApi.as_view(), name="api-topic-list"),
]
