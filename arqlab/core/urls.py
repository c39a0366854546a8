"""URLs of people, labs, tasks and topics, and of the API schema."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from arqlab.core import apis
from arqlab.web.pages import LAB, TASK, pages_in

app_name = "core"
urlpatterns = [
    *pages_in("arqlab.core"),
    path("api/labs/", apis.LabListApi.as_view(), name="api-lab-list"),
    path(f"api/{LAB}", apis.LabDetailApi.as_view(), name="api-lab-detail"),
    path(f"api/{LAB}tasks/", apis.TaskListApi.as_view(), name="api-task-list"),
    path(f"api/{TASK}", apis.TaskDetailApi.as_view(), name="api-task-detail"),
    path(f"api/{TASK}topics/", apis.TopicListApi.as_view(), name="api-topic-list"),
    path("api/me/", apis.MeApi.as_view(), name="api-me"),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="core:api-schema"),
        name="api-docs",
    ),
]
