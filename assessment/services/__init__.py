"""What loads labs and qrels, builds pools, takes judgments, and freezes qrels."""

from assessment.services.assignments import Reassigned, assign_topics, review_topics, take_topics
from assessment.services.guidelines import guideline_html, write_guideline
from assessment.services.items import item_payload, listed_judgment, saved_payload
from assessment.services.judgedlist import JudgedRow, judged_list
from assessment.services.judging import Label, Submission, TopicPath, submit_judgments
from assessment.services.leases import is_genuine, put_off, renew_lease, take_item, take_next
from assessment.services.loading import LoadedLab, load_lab, load_qrels
from assessment.services.sittings import Sitting, open_sitting
from assessment.services.tickets import answer_ticket, shown_html, thread_url

__all__ = [
    "JudgedRow",
    "Label",
    "LoadedLab",
    "Reassigned",
    "Sitting",
    "Submission",
    "TopicPath",
    "answer_ticket",
    "assign_topics",
    "guideline_html",
    "is_genuine",
    "item_payload",
    "judged_list",
    "listed_judgment",
    "load_lab",
    "load_qrels",
    "open_sitting",
    "put_off",
    "renew_lease",
    "review_topics",
    "saved_payload",
    "shown_html",
    "submit_judgments",
    "take_item",
    "take_next",
    "take_topics",
    "thread_url",
    "write_guideline",
]
