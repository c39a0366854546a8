"""URLs of the pages that span all apps."""

from django.urls import path

from arqlab.pages.views import copying, home, labs, runs, tasks

app_name = "pages"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"
urlpatterns = [
    path("", home.home, name="home"),
    path("labs/", labs.lab_list, name="lab-list"),
    path("labs/<slug:lab>/", labs.lab_detail, name="lab-detail"),
    path("labs/<slug:lab>/copy/", copying.lab_copy, name="lab-copy"),
    path(_TASK, tasks.task_detail, name="task-detail"),
    path(f"{_TASK}runs/<int:run>/", runs.run_detail, name="run-detail"),
    path(f"{_TASK}runs/<int:run>/status/", runs.run_status, name="run-status"),
]
