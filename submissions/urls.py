"""URLs of the app."""

from django.urls import include, path

from arqlab.web import TASK
from arqlab.web.patterns import API, pages_in
from submissions import apis

app_name = "submissions"
api_patterns = [
    path("", apis.RunListApi.as_view(), name="api-run-list"),
    path("<number:run>/", apis.RunDetailApi.as_view(), name="api-run-detail"),
    path("<number:run>/withdraw/", apis.RunWithdrawApi.as_view(), name="api-run-withdraw"),
    path("<number:run>/submit/", apis.RunSubmitApi.as_view(), name="api-run-submit"),
    path("<number:run>/submit-repaired/", apis.RunRepairedApi.as_view(), name="api-run-resubmit"),
    path("<number:run>/report/", apis.RunReportApi.as_view(), name="api-run-report"),
]
urlpatterns = [*pages_in("submissions"), path(f"{API}{TASK}runs/", include(api_patterns))]
