"""Teams are notified when a leaderboard with their runs is released."""

from arqlab.notices.models import Notice
from evaluation.services.releasing import release_leaderboard
from tests.evaluation.factories import NOW, make_qrels, make_run


def test_the_teams_on_a_leaderboard_are_notified_of_its_release(task, team, member, organizer):
    make_run(team, task)
    make_run(team, task, tag="second")
    qrels = make_qrels(task)
    Notice.objects.all().delete()
    release_leaderboard(qrel_set=qrels, by=organizer, at=NOW)

    notice = Notice.objects.get()
    assert notice.user == member
    assert notice.subject == "Answer retrieval: leaderboard released"
    assert "(version 1). It lists 2 runs, ordered by nDCG′." in notice.text
    assert notice.path == "/labs/arqmath-x/tasks/task1/leaderboard/"


def test_another_version_is_another_notice(task, team, other_member, other_team):
    make_run(team, task)
    qrels = make_qrels(task)
    release_leaderboard(qrel_set=qrels, by=None, at=NOW)
    make_run(other_team, task, tag="late")
    release_leaderboard(qrel_set=qrels, by=None, at=NOW)

    released = Notice.objects.filter(kind="leaderboard-released")
    assert released.count() == 3
    assert "(version 2)" in released.get(user=other_member).text
