"""URLs of the app."""

from django.urls import URLPattern, include, path

from assessment.assignments.views.assigning import (
    assignment_apply,
    assignment_import,
    assignment_list,
    assignment_share,
    trip_end,
)
from assessment.assignments.views.planning import (
    assignment_plan,
    assignment_roster,
    bid_list,
    bid_offer,
    roster_hours,
    roster_invite,
    roster_remove,
)
from assessment.guidelines.views.versions import (
    guideline_changes,
    guideline_detail,
    guideline_edit,
    guideline_entry_add,
    guideline_entry_list,
    guideline_panel,
)
from assessment.judging.apis.views import (
    ItemApi,
    JudgmentsApi,
    LeaseApi,
    NextApi,
    RecentCommentsApi,
    RelatedLabelsApi,
    SkipApi,
    TripApi,
    TripEndApi,
)
from assessment.judging.views.judging_page import judge, judging_home, judgment_list, offline_worker
from assessment.judging.views.judgments import (
    affected_judgment_list,
    guideline_judgment_list,
    item_judgments,
    late_label_list,
)
from assessment.pools.views.frozen import (
    pool_close,
    pool_detail,
    pool_discard,
    pool_list,
    pool_open,
)
from assessment.pools.views.plans import pool_freeze, pool_plan
from assessment.qrels.views.versions import (
    qrels_current,
    qrels_delete,
    qrels_detail,
    qrels_diff,
    qrels_draft,
    qrels_freeze,
    qrels_list,
)
from assessment.radar.views import radar_detail, radar_list
from assessment.rounds.views.adjudication import adjudication_detail
from assessment.rounds.views.meeting import meeting
from assessment.rounds.views.own_work import your_work, your_work_csv
from assessment.rounds.views.questions import questions_create
from assessment.rounds.views.rounds import (
    round_change,
    round_list,
    training_create,
    training_detail,
    training_votes,
)
from assessment.rounds.views.second import second_plan
from assessment.rounds.views.selection import (
    sample_change,
    sample_create,
    sample_detail,
    sample_join,
    sample_rate,
    sample_votes,
)
from assessment.tickets.views.answers import ticket_detail, ticket_list, ticket_policy
from assessment.tickets.views.experts import ticket_advice, ticket_send, ticket_sent_list
from assessment.tickets.views.repairs import correction_list, correction_undo, ticket_repair
from assessment.timesheets.views import time_sheet, time_sheet_csv

app_name = "assessment"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"

pool_patterns = [
    path("", pool_list, name="pool-list"),
    path("plan/", pool_plan, name="pool-plan"),
    path("freeze/", pool_freeze, name="pool-freeze"),
    path("<int:number>/", pool_detail, name="pool-detail"),
    path("<int:number>/close/", pool_close, name="pool-close"),
    path("<int:number>/open/", pool_open, name="pool-open"),
    path("<int:number>/discard/", pool_discard, name="pool-discard"),
]
assignment_patterns = [
    path("", assignment_list, name="assignment-list"),
    path("apply/", assignment_apply, name="assignment-apply"),
    path("import/", assignment_import, name="assignment-import"),
    path("share/", assignment_share, name="assignment-share"),
    path("plan/", assignment_plan, name="assignment-plan"),
    path("roster/", assignment_roster, name="assignment-roster"),
    path("roster/invite/", roster_invite, name="assignment-roster-invite"),
    path("roster/<int:person>/hours/", roster_hours, name="assignment-roster-hours"),
    path("roster/<int:person>/remove/", roster_remove, name="assignment-roster-remove"),
    path("trips/<str:query_id>/<int:person>/end/", trip_end, name="trip-end"),
]
qrels_patterns = [
    path("", qrels_list, name="qrels-list"),
    path("draft/", qrels_draft, name="qrels-draft"),
    path("diff/", qrels_diff, name="qrels-diff"),
    path("freeze/", qrels_freeze, name="qrels-freeze"),
    path("<int:version>/", qrels_detail, name="qrels-detail"),
    path("<int:version>/current/", qrels_current, name="qrels-current"),
    path("<int:version>/delete/", qrels_delete, name="qrels-delete"),
]
round_patterns = [
    path("second/new/", second_plan, name="second-plan"),
    path("", round_list, name="round-list"),
    path("questions/new/", questions_create, name="questions-create"),
    path("<slug:round>/state/", round_change, name="round-change"),
    path("samples/new/", sample_create, name="sample-create"),
    path("sample-<int:number>/", sample_detail, name="sample-detail"),
    path("sample-<int:number>/change/", sample_change, name="sample-change"),
    path("sample-<int:number>/votes/", sample_votes, name="sample-votes"),
    path("sample-<int:number>/applicants/<int:person>/", sample_rate, name="sample-rate"),
    path("training/new/", training_create, name="training-create"),
    path("training-<int:number>/", training_detail, name="training-detail"),
    path("training-<int:number>/votes/", training_votes, name="training-votes"),
    path("training-<int:number>/meeting/", meeting, name="meeting"),
]
guideline_patterns = [
    path("", guideline_edit, name="guideline-edit"),
    path("entries/", guideline_entry_list, name="guideline-entry-list"),
    path("entries/add/", guideline_entry_add, name="guideline-entry-add"),
    path("judgments/", guideline_judgment_list, name="guideline-judgment-list"),
    path("<int:version>/", guideline_detail, name="guideline-detail"),
    path("<int:version>/changes/", guideline_changes, name="guideline-changes"),
    path("<int:version>/panel/", guideline_panel, name="guideline-panel"),
]


def _judging_patterns(prefix: str = "") -> list[URLPattern]:
    """Return the judging API of a topic, with names for the official round or for another one."""
    return [
        path("next/", NextApi.as_view(), name=f"{prefix}api-judging-next"),
        path("items/<int:item>/", ItemApi.as_view(), name=f"{prefix}api-judging-item"),
        path(
            "items/<int:item>/related/",
            RelatedLabelsApi.as_view(),
            name=f"{prefix}api-judging-related",
        ),
        path("comments/", RecentCommentsApi.as_view(), name=f"{prefix}api-judging-comments"),
        path("judgments/", JudgmentsApi.as_view(), name=f"{prefix}api-judging-judgments"),
        path("skip/", SkipApi.as_view(), name=f"{prefix}api-judging-skip"),
        path("lease/", LeaseApi.as_view(), name=f"{prefix}api-judging-lease"),
    ]


trip_patterns = [
    path("trip/", TripApi.as_view(), name="api-judging-trip"),
    path("trip/end/", TripEndApi.as_view(), name="api-judging-trip-end"),
]
urlpatterns = [
    path(
        f"{_TASK}topics/<str:query_id>/judgments/<path:doc_id>/",
        item_judgments,
        name="item-judgments",
    ),
    path(
        f"api/{_TASK}topics/<str:query_id>/judging/", include(_judging_patterns() + trip_patterns)
    ),
    path(
        f"api/{_TASK}rounds/<slug:round>/topics/<str:query_id>/judging/",
        include(_judging_patterns("round-")),
    ),
    path(
        "labs/<slug:lab>/visual-ids/<int:version>/judged/",
        affected_judgment_list,
        name="affected-judgment-list",
    ),
    path("labs/offline-judging.js", offline_worker, name="offline-worker"),
    path("labs/<slug:lab>/judging/", judging_home, name="judging-home"),
    path("labs/<slug:lab>/judging/work/", your_work, name="judging-work"),
    path("labs/<slug:lab>/judging/work/csv/", your_work_csv, name="judging-work-csv"),
    path("labs/<slug:lab>/time-sheet/", time_sheet, name="time-sheet"),
    path("labs/<slug:lab>/time-sheet/csv/", time_sheet_csv, name="time-sheet-csv"),
    path("labs/<slug:lab>/tickets/", ticket_list, name="ticket-list"),
    path("labs/<slug:lab>/tickets/<int:ticket>/", ticket_detail, name="ticket-detail"),
    path(
        "labs/<slug:lab>/tickets/<int:ticket>/repair/<slug:repair>/",
        ticket_repair,
        name="ticket-repair",
    ),
    path("labs/<slug:lab>/tickets/send/", ticket_send, name="ticket-send"),
    path("labs/<slug:lab>/tickets/sent/", ticket_sent_list, name="ticket-sent-list"),
    path("labs/<slug:lab>/tickets/<int:ticket>/advice/", ticket_advice, name="ticket-advice"),
    path(f"{_TASK}tickets/policy/", ticket_policy, name="ticket-policy"),
    path("labs/<slug:lab>/corrections/", correction_list, name="correction-list"),
    path(
        "labs/<slug:lab>/corrections/<int:correction>/undo/",
        correction_undo,
        name="correction-undo",
    ),
    path(f"{_TASK}pools/", include(pool_patterns)),
    path(f"{_TASK}assignments/", include(assignment_patterns)),
    path(f"{_TASK}bids/", bid_list, name="bid-list"),
    path(f"{_TASK}bids/offer/", bid_offer, name="bid-offer"),
    path(f"{_TASK}guidelines/", include(guideline_patterns)),
    path(f"{_TASK}late-labels/", late_label_list, name="late-label-list"),
    path(f"{_TASK}radar/", radar_list, name="radar-list"),
    path(f"{_TASK}radar/<str:finding>/", radar_detail, name="radar-detail"),
    path(f"{_TASK}judge/<str:query_id>/", judge, name="judge"),
    path(f"{_TASK}judge/<str:query_id>/judgments/", judgment_list, name="judgment-list"),
    path("samples/<str:token>/", sample_join, name="sample-join"),
    path(f"{_TASK}rounds/", include(round_patterns)),
    path(f"{_TASK}rounds/<slug:round>/judge/<str:query_id>/", judge, name="round-judge"),
    path(
        f"{_TASK}rounds/<slug:round>/judge/<str:query_id>/judgments/",
        judgment_list,
        name="round-judgment-list",
    ),
    path(
        f"{_TASK}adjudication/<int:instance>/",
        adjudication_detail,
        name="adjudication-detail",
    ),
    path(f"{_TASK}qrels/", include(qrels_patterns)),
]
