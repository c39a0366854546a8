"""The addresses of the app."""

from django.urls import include, path

from assessment import apis, views

app_name = "assessment"
judging_patterns = [
    path("next/", apis.NextApi.as_view(), name="api-judging-next"),
    path("items/<int:item>/", apis.ItemApi.as_view(), name="api-judging-item"),
    path("judgments/", apis.JudgmentsApi.as_view(), name="api-judging-judgments"),
    path("later/", apis.LaterApi.as_view(), name="api-judging-later"),
    path("lease/", apis.LeaseApi.as_view(), name="api-judging-lease"),
]
_ASSIGNMENTS = "labs/<slug:lab>/tasks/<slug:task>/assignments/"
urlpatterns = [
    path("labs/<slug:lab>/judging/", views.judging_home, name="judging-home"),
    path("labs/<slug:lab>/tickets/", views.ticket_list, name="ticket-list"),
    path("labs/<slug:lab>/tickets/<int:ticket>/", views.ticket_detail, name="ticket-detail"),
    path("labs/<slug:lab>/tasks/<slug:task>/guidelines/", views.guideline_edit, name="guideline-edit"),
    path(_ASSIGNMENTS, views.assignment_list, name="assignment-list"),
    path(f"{_ASSIGNMENTS}apply/", views.assignment_apply, name="assignment-apply"),
    path(f"{_ASSIGNMENTS}import/", views.assignment_import, name="assignment-import"),
    path(f"{_ASSIGNMENTS}share/", views.assignment_share, name="assignment-share"),
    path("labs/<slug:lab>/tasks/<slug:task>/judge/<str:query_id>/", views.judge, name="judge"),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/judge/<str:query_id>/judgments/", views.judgment_list, name="judgment-list"
    ),
    path("labs/<slug:lab>/visual-ids/<int:version>/judged/", views.touched_list, name="touched-list"),
    path("api/labs/<slug:lab>/tasks/<slug:task>/topics/<str:query_id>/judging/", include(judging_patterns)),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/guidelines/<int:version>/", views.guideline_detail, name="guideline-detail"
    ),
]
