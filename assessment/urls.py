"""The addresses of the app."""

from django.urls import include, path

from assessment import apis, views

app_name = "assessment"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"

pool_patterns = [
    path("", views.pool_list, name="pool-list"),
    path("plan/", views.pool_plan, name="pool-plan"),
    path("freeze/", views.pool_freeze, name="pool-freeze"),
    path("<int:number>/", views.pool_detail, name="pool-detail"),
    path("<int:number>/close/", views.pool_close, name="pool-close"),
    path("<int:number>/open/", views.pool_open, name="pool-open"),
    path("<int:number>/discard/", views.pool_discard, name="pool-discard"),
]
assignment_patterns = [
    path("", views.assignment_list, name="assignment-list"),
    path("apply/", views.assignment_apply, name="assignment-apply"),
    path("import/", views.assignment_import, name="assignment-import"),
    path("share/", views.assignment_share, name="assignment-share"),
]
qrels_patterns = [
    path("", views.qrels_list, name="qrels-list"),
    path("draft/", views.qrels_draft, name="qrels-draft"),
    path("diff/", views.qrels_diff, name="qrels-diff"),
    path("<int:version>/", views.qrels_detail, name="qrels-detail"),
    path("<int:version>/current/", views.qrels_current, name="qrels-current"),
]
judging_patterns = [
    path("next/", apis.NextApi.as_view(), name="api-judging-next"),
    path("items/<int:item>/", apis.ItemApi.as_view(), name="api-judging-item"),
    path("judgments/", apis.JudgmentsApi.as_view(), name="api-judging-judgments"),
    path("later/", apis.LaterApi.as_view(), name="api-judging-later"),
    path("lease/", apis.LeaseApi.as_view(), name="api-judging-lease"),
]
urlpatterns = [
    path(f"api/{_TASK}topics/<str:query_id>/judging/", include(judging_patterns)),
    path("labs/<slug:lab>/visual-ids/<int:version>/judged/", views.touched_list, name="touched-list"),
    path("labs/<slug:lab>/judging/", views.judging_home, name="judging-home"),
    path("labs/<slug:lab>/tickets/", views.ticket_list, name="ticket-list"),
    path("labs/<slug:lab>/tickets/<int:ticket>/", views.ticket_detail, name="ticket-detail"),
    path(f"{_TASK}pools/", include(pool_patterns)),
    path(f"{_TASK}assignments/", include(assignment_patterns)),
    path(f"{_TASK}guidelines/", views.guideline_edit, name="guideline-edit"),
    path(f"{_TASK}guidelines/<int:version>/", views.guideline_detail, name="guideline-detail"),
    path(f"{_TASK}judge/<str:query_id>/", views.judge, name="judge"),
    path(f"{_TASK}judge/<str:query_id>/judgments/", views.judgment_list, name="judgment-list"),
    path(f"{_TASK}qrels/", include(qrels_patterns)),
]
