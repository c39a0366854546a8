"""URLs of the app."""

from django.urls import include, path

from submissions import apis
from submissions.views.changing import (
    run_edit,
    run_move,
    run_primary,
    run_publish,
    run_repaired,
    run_submit,
    run_system,
    run_withdraw,
    task_close,
    task_reopen,
)
from submissions.views.reading import run_file, run_list, run_map_csv, run_problems
from submissions.views.uploading import run_guess, run_upload

app_name = "submissions"

run_patterns = [
    path("problems.tsv", run_problems, name="run-problems"),
    path("file/", run_file, name="run-file"),
    path("repaired/", run_repaired, name="run-repaired"),
    path("edit/", run_edit, name="run-edit"),
    path("move/", run_move, name="run-move"),
    path("publication/", run_publish, name="run-publish"),
    path("progress/", run_system, name="run-system"),
    path("withdraw/", run_withdraw, name="run-withdraw"),
    path("primary/", run_primary, name="run-primary"),
    path("submit/", run_submit, name="run-submit"),
]
api_patterns = [
    path("", apis.RunListApi.as_view(), name="api-run-list"),
    path("<int:run>/", apis.RunDetailApi.as_view(), name="api-run-detail"),
    path("<int:run>/report/", apis.RunReportApi.as_view(), name="api-run-report"),
]
urlpatterns = [
    path("labs/<slug:lab>/tasks/<slug:task>/close/", task_close, name="task-close"),
    path("labs/<slug:lab>/tasks/<slug:task>/reopen/", task_reopen, name="task-reopen"),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/runs/",
        include(
            [
                path("", run_list, name="run-list"),
                path("map.csv", run_map_csv, name="run-map"),
                path("upload/", run_upload, name="run-upload"),
                path("guess/", run_guess, name="run-guess"),
                path("<int:run>/", include(run_patterns)),
            ]
        ),
    ),
    path("api/labs/<slug:lab>/tasks/<slug:task>/runs/", include(api_patterns)),
]
