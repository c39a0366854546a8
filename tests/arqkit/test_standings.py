"""The runs of a released leaderboard that a task publishes."""

import pytest

from arqkit.standings import BASELINE, OFFICIAL, POST_HOC, WITHDRAWN, PublishedRuns


@pytest.mark.parametrize("standing", [POST_HOC, WITHDRAWN])
def test_a_run_that_is_on_no_board_or_was_withdrawn_is_never_published(standing):
    assert not any(one.publishes(standing, is_primary=True) for one in PublishedRuns)


@pytest.mark.parametrize(
    ("standing", "is_primary", "settings"),
    [
        (OFFICIAL, True, ["all", "primary"]),
        (OFFICIAL, False, ["all"]),
        (BASELINE, False, ["all", "primary"]),
    ],
)
def test_a_setting_chooses_by_standing_and_primary(standing, is_primary, settings):
    chosen = [one for one in PublishedRuns if one.publishes(standing, is_primary=is_primary)]

    assert chosen == settings
