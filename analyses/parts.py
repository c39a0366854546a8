"""What the page of a leaderboard shows of its analyses."""

from urllib.parse import urlencode

from django.http import HttpRequest

from analyses.services.first_answers import first_answers_access
from analyses.services.progress import has_linked_runs
from arqlab.web.parts import declare_part
from evaluation.views.tables import ShownBoard, live_query


def board_menu(request: HttpRequest, shown: ShownBoard) -> dict[str, object]:
    """Return what the menu of analyses lists; it is missing where there is nothing to analyse."""
    visible, task = shown.visible, shown.access.task
    has_first_answers = first_answers_access(request.user, task) is not None
    if not (visible and visible.board.rows) and not has_first_answers:
        return {}
    is_live = visible is not None and visible.state == "live"
    return {
        "visible": visible,
        "organizes": shown.access.organizes,
        "board_query": f"?{urlencode(live_query(visible))}" if visible and is_live else "",
        "has_progress": visible and has_linked_runs(visible),
        "first_answers": has_first_answers,
    }


declare_part("leaderboard", "analyses/_board_menu.html", board_menu)
