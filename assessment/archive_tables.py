"""The models of assessment in archives of labs."""

from arqlab.web.archive_tables import ArchiveTables, declare_archive_tables
from assessment.models import DuplicatePosts, Pool, PoolItem, QrelSet, Round
from submissions.models import Run

declare_archive_tables(
    ArchiveTables(
        left_out={DuplicatePosts: "computed from the pools"},
        unwritten={
            Round: {"token"},
            Pool: {"typeset_through", "typeset_since"},
            PoolItem: {"leased_to", "leased_since", "leased_until", "kept_from"},
        },
        naming=dict.fromkeys((Pool, QrelSet), Run),
    )
)
