"""What is read about scores and leaderboards."""

from evaluation.selectors.boards import (
    QrelsFacts,
    board_of,
    board_states,
    live_board,
    live_scores,
    qrels_facts,
    released_board,
    released_leaderboard,
)
from evaluation.selectors.topics import TopicRow, scores_by_topic, topic_rows
from evaluation.selectors.waiting import (
    formulas_index_of,
    identity_of,
    measures_of,
    obstacle,
    unscored_runs,
    waiting_scores,
)

__all__ = [
    "QrelsFacts",
    "TopicRow",
    "board_of",
    "board_states",
    "formulas_index_of",
    "identity_of",
    "live_board",
    "live_scores",
    "measures_of",
    "obstacle",
    "qrels_facts",
    "released_board",
    "released_leaderboard",
    "scores_by_topic",
    "topic_rows",
    "unscored_runs",
    "waiting_scores",
]
