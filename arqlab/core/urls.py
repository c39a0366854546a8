"""URLs of people, labs, tasks and topics, and of the API schema."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from arqlab.core import apis
from arqlab.core.views import account, information, labs, teams

app_name = "core"
urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/tokens/", account.token_list, name="token-list"),
    path("account/tokens/<int:api_token>/revoke/", account.token_revoke, name="token-revoke"),
    path("join/<str:token>/", teams.team_join, name="team-join"),
    # Not below labs/, where it would be the address of a lab.
    path("new-lab/", labs.lab_create, name="lab-create"),
    path("labs/<slug:lab>/new-task/", labs.task_create, name="task-create"),
    path("labs/<slug:lab>/archive/", labs.lab_archive, name="lab-archive"),
    path("labs/<slug:lab>/restore/", labs.lab_restore, name="lab-restore"),
    path("labs/<slug:lab>/tasks/<slug:task>/archive/", labs.task_archive, name="task-archive"),
    path("labs/<slug:lab>/tasks/<slug:task>/restore/", labs.task_restore, name="task-restore"),
    path("labs/<slug:lab>/edit/", labs.lab_edit, name="lab-edit"),
    path("labs/<slug:lab>/audit/", labs.audit_list, name="audit-list"),
    path("labs/<slug:lab>/people/", labs.people_list, name="people-list"),
    path(
        "labs/<slug:lab>/people/<int:person>/allow-team/",
        labs.people_allow_team,
        name="people-allow-team",
    ),
    path("labs/<slug:lab>/people/revoke/", labs.people_revoke, name="people-revoke"),
    path("labs/<slug:lab>/teams/new/", teams.team_create, name="team-create"),
    path("labs/<slug:lab>/teams/<int:team>/", teams.team_detail, name="team-detail"),
    path("labs/<slug:lab>/teams/<int:team>/edit/", teams.team_edit, name="team-edit"),
    path("labs/<slug:lab>/teams/<int:team>/renew/", teams.team_renew, name="team-renew"),
    path("labs/<slug:lab>/teams/<int:team>/leave/", teams.team_leave, name="team-leave"),
    path(
        "labs/<slug:lab>/teams/<int:team>/members/<int:user>/remove/",
        teams.team_remove,
        name="team-remove",
    ),
    path("labs/<slug:lab>/tasks/<slug:task>/edit/", labs.task_edit, name="task-edit"),
    path("labs/<slug:lab>/tasks/<slug:task>/topics/", labs.topic_list, name="topic-list"),
    # Before the topics themselves: no topic is numbered "information".
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/information/",
        information.topic_information,
        name="topic-information",
    ),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/information/csv/",
        information.topic_information_csv,
        name="topic-information-csv",
    ),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/information/upload/",
        information.topic_information_upload,
        name="topic-information-upload",
    ),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/information/apply/",
        information.topic_information_apply,
        name="topic-information-apply",
    ),
    path(
        "labs/<slug:lab>/tasks/<slug:task>/topics/<str:query_id>/",
        labs.topic_detail,
        name="topic-detail",
    ),
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
