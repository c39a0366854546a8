"""The models of leaderboards in archives of labs."""

from arqlab.web.archive_tables import ArchiveTables, declare_archive_tables
from evaluation.models import Leaderboard
from submissions.models import Run

declare_archive_tables(
    ArchiveTables(naming={Leaderboard: Run}, keyed={"evaluation.leaderboard.scores": Run})
)
