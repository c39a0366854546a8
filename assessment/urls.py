"""URLs of the app."""

from django.urls import URLPattern, include, path

from arqlab.web.pages import API, TASK, pages_in
from assessment.judging.apis import views as apis

app_name = "assessment"


def _judging_patterns(prefix: str = "") -> list[URLPattern]:
    """Return the judging API of a topic, with names for the official round or for another one."""
    return [
        path("next/", apis.NextApi.as_view(), name=f"{prefix}api-judging-next"),
        path("items/<int:item>/", apis.ItemApi.as_view(), name=f"{prefix}api-judging-item"),
        path(
            "items/<int:item>/related/",
            apis.RelatedLabelsApi.as_view(),
            name=f"{prefix}api-judging-related",
        ),
        path("comments/", apis.RecentCommentsApi.as_view(), name=f"{prefix}api-judging-comments"),
        path("judgments/", apis.JudgmentsApi.as_view(), name=f"{prefix}api-judging-judgments"),
        path("skip/", apis.SkipApi.as_view(), name=f"{prefix}api-judging-skip"),
        path("lease/", apis.LeaseApi.as_view(), name=f"{prefix}api-judging-lease"),
    ]


trip_patterns = [
    path("trip/", apis.TripApi.as_view(), name="api-judging-trip"),
    path("trip/end/", apis.TripEndApi.as_view(), name="api-judging-trip-end"),
]
urlpatterns = [
    path(
        f"{API}{TASK}topics/<str:query_id>/judging/", include(_judging_patterns() + trip_patterns)
    ),
    path(
        f"{API}{TASK}rounds/<slug:round>/topics/<str:query_id>/judging/",
        include(_judging_patterns("round-")),
    ),
    *pages_in("assessment"),
]
