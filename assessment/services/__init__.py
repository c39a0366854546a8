"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.assignments import Pairs, Reassigned, assign_topics, pairs_of_file, review_topics, take_topics
from assessment.services.guidelines import guideline_html, write_guideline
from assessment.services.importing import ImportedJudgments, import_judgments
from assessment.services.items import item_payload, listed_judgment, saved_payload, thread_url
from assessment.services.judgedlist import JudgedRow, judged_list
from assessment.services.judging import Label, Submission, submit_judgments
from assessment.services.leases import Seat, Taken, is_genuine, put_off, renew_lease, take_item, take_next
from assessment.services.loading import LoadedLab, load_lab, load_qrels
from assessment.services.pools import (
    ComputedPool,
    close_pool,
    compute_pool,
    discard_pool,
    freeze_pool,
    open_pool,
    supplement_pool,
)
from assessment.services.qrels import choose_current_qrels, freeze_qrels
from assessment.services.sittings import Sitting, open_sitting
from assessment.services.tickets import answer_ticket, correct_answer, shown_html
from assessment.services.typesetting import typeset_pools

__all__ = [
    "ComputedPool",
    "ImportedJudgments",
    "JudgedRow",
    "Label",
    "LoadedLab",
    "Pairs",
    "Reassigned",
    "Seat",
    "Sitting",
    "Submission",
    "Taken",
    "answer_ticket",
    "assign_topics",
    "choose_current_qrels",
    "close_pool",
    "compute_pool",
    "correct_answer",
    "discard_pool",
    "freeze_pool",
    "freeze_qrels",
    "guideline_html",
    "import_judgments",
    "is_genuine",
    "item_payload",
    "judged_list",
    "listed_judgment",
    "load_lab",
    "load_qrels",
    "open_pool",
    "open_sitting",
    "pairs_of_file",
    "put_off",
    "renew_lease",
    "review_topics",
    "saved_payload",
    "shown_html",
    "submit_judgments",
    "supplement_pool",
    "take_item",
    "take_next",
    "take_topics",
    "thread_url",
    "typeset_pools",
    "write_guideline",
]
