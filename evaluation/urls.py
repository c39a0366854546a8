"""URLs of leaderboards and scores."""

from django.urls import path

from evaluation import apis
from evaluation.views import (
    boards,
    breakdown,
    comparison,
    further,
    qrels,
    rankings,
    releasing,
    rounds,
    topics,
)

app_name = "evaluation"
_TASK = "labs/<slug:lab>/tasks/<slug:task>/"
urlpatterns = [
    path(f"{_TASK}adjudication/", rounds.adjudication_list, name="adjudication-list"),
    path(f"{_TASK}rounds/second-<int:number>/", rounds.second_detail, name="second-detail"),
    path(
        f"{_TASK}rounds/questions-<int:number>/",
        rounds.questions_detail,
        name="questions-detail",
    ),
    path(f"{_TASK}leaderboard/", boards.leaderboard, name="leaderboard"),
    path(f"{_TASK}leaderboard/release/", releasing.leaderboard_release, name="leaderboard-release"),
    path(
        f"{_TASK}leaderboard/versions/<int:version>/",
        boards.leaderboard_version,
        name="leaderboard-version",
    ),
    path(f"{_TASK}leaderboard/breakdown/", breakdown.breakdown, name="breakdown"),
    path(f"{_TASK}leaderboard/instances/", breakdown.instances, name="breakdown-instances"),
    path(f"{_TASK}leaderboard/compare/", comparison.comparison, name="comparison"),
    path(f"{_TASK}leaderboard/pairs/", comparison.comparison_matrix, name="comparison-matrix"),
    path(f"{_TASK}leaderboard/progress/", further.progress, name="progress"),
    path(
        f"{_TASK}leaderboard/correlations/",
        further.correlation_matrix,
        name="correlation-matrix",
    ),
    path(
        f"{_TASK}leaderboard/first-answers/",
        further.first_answers_board,
        name="first-answers",
    ),
    path(
        f"{_TASK}leaderboard/provisional/",
        further.provisional_board,
        name="provisional-board",
    ),
    path(f"{_TASK}leaderboard/hide/", releasing.leaderboard_hide, name="leaderboard-hide"),
    path(f"{_TASK}leaderboard/<int:run>/<path:measure>", boards.score_link, name="score-link"),
    path(f"{_TASK}qrels/effect/", qrels.qrels_effect, name="qrels-effect"),
    path(
        f"{_TASK}qrels/<int:version>/certificate/",
        qrels.certificate_detail,
        name="certificate-detail",
    ),
    path(
        f"{_TASK}qrels/<int:version>/paper-kit/",
        qrels.paper_kit_detail,
        name="paper-kit-detail",
    ),
    path(f"{_TASK}runs/look-alikes/", releasing.look_alike_list, name="look-alike-list"),
    path(f"{_TASK}runs/<int:run>/scores/", topics.run_scores, name="run-scores"),
    path(f"{_TASK}runs/<int:run>/scores/<str:query_id>/", rankings.run_ranking, name="run-ranking"),
    path(f"{_TASK}topics/<str:query_id>/scores/", topics.topic_scores, name="topic-scores"),
    path(f"api/{_TASK}leaderboard/", apis.LeaderboardApi.as_view(), name="api-leaderboard"),
    path(f"api/{_TASK}runs/<int:run>/scores/", apis.RunScoresApi.as_view(), name="api-run-scores"),
]
