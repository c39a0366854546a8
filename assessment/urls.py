"""URLs of the app."""

from django.urls import path

from arqlab.web import TASK
from arqlab.web.patterns import API, pages_in
from assessment.judging.apis import views as apis

app_name = "assessment"

# The judging API of a topic, by the names of its addresses: in all rounds, and in the official one.
_JUDGING = {
    "next": ("next/", apis.NextApi),
    "item": ("items/<number:item>/", apis.ItemApi),
    "related": ("items/<number:item>/related/", apis.RelatedLabelsApi),
    "comments": ("comments/", apis.RecentCommentsApi),
    "judgments": ("judgments/", apis.JudgmentsApi),
    "skip": ("skip/", apis.SkipApi),
    "lease": ("lease/", apis.LeaseApi),
}
_TRIPS = {"trip": ("trip/", apis.TripApi), "trip-end": ("trip/end/", apis.TripEndApi)}
_PLACES = (
    (f"{TASK}topics/<str:query_id>/judging/", "", _JUDGING | _TRIPS),
    (f"{TASK}rounds/<slug:round>/topics/<str:query_id>/judging/", "round-", _JUDGING),
)
urlpatterns = [
    *(
        path(f"{API}{place}{route}", api.as_view(), name=f"{prefix}api-judging-{name}")
        for place, prefix, addresses in _PLACES
        for name, (route, api) in addresses.items()
    ),
    *pages_in("assessment"),
]
