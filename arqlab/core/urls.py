"""URLs of people, labs, tasks and topics, and of the API schema."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from arqlab.core import apis
from arqlab.web.pages import pages_in

app_name = "core"
urlpatterns = [
    *pages_in("arqlab.core"),
    path("api/labs/", apis.LabListApi.as_view(), name="api-lab-list"),
    path("api/labs/<slug:lab>/", apis.LabDetailApi.as_view(), name="api-lab-detail"),
    path("api/labs/<slug:lab>/tasks/", apis.TaskListApi.as_view(), name="api-task-list"),
    path(
        "api/labs/<slug:lab>/tasks/<slug:task>/",
        apis.TaskDetailApi.as_view(),
        name="api-task-detail",
    ),
    path("api/schema/", SpectacularAPIView.as_view(), name="api-schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="core:api-schema"),
        name="api-docs",
    ),
]
