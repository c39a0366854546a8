"""The addresses of the app."""

from django.urls import include, path

from submissions import apis, views

app_name = "submissions"

run_patterns = [
    path("", views.run_detail, name="run-detail"),
    path("status/", views.run_status, name="run-status"),
    path("problems.tsv", views.run_problems, name="run-problems"),
    path("file/", views.run_file, name="run-file"),
    path("repaired/", views.run_repaired, name="run-repaired"),
    path("edit/", views.run_edit, name="run-edit"),
    path("withdraw/", views.run_withdraw, name="run-withdraw"),
    path("primary/", views.run_primary, name="run-primary"),
    path("submit/", views.run_submit, name="run-submit"),
]
api_patterns = [
    path("", apis.RunListApi.as_view(), name="api-run-list"),
    path("<int:run>/", apis.RunDetailApi.as_view(), name="api-run-detail"),
    path("<int:run>/report/", apis.RunReportApi.as_view(), name="api-run-report"),
]
urlpatterns = [
    path(
        "labs/<slug:lab>/tasks/<slug:task>/runs/",
        include(
            [
                path("", views.run_list, name="run-list"),
                path("upload/", views.run_upload, name="run-upload"),
                path("guess/", views.run_guess, name="run-guess"),
                path("<int:run>/", include(run_patterns)),
            ]
        ),
    ),
    path("api/labs/<slug:lab>/tasks/<slug:task>/runs/", include(api_patterns)),
]
