"""The problems of a judging request, and the error that reports them all."""

from collections.abc import Collection, Iterable, Iterator

from arqkit.formats.qrels.judgments import LONGEST_COMMENT
from arqlab.core.errors import RequestProblem
from assessment.errors import JudgingError
from assessment.judging.selectors.items import Submitted

RELOAD = "Reload the page. Stored labels are kept."
REPORT = "Report the item to the organizers: its text is missing."
OTHER_LABEL = "Choose one of the labels on the page."
_MESSAGES = {
    "not-in-pool": "a label is for an instance of another item. Reload the page.",
    "bad-label": "a label is unknown. Use one of the labels on the page.",
    "no-text": "the text of this item is missing, so it cannot be judged. Report it to the "
    "organizers with a label that is not a judgment.",
    "bad-comment": f"a comment is not text or has more than {LONGEST_COMMENT:,} characters. "
    "Shorten the comment; it is still on the page.",
    "malformed": "the request is malformed. Reload the page; your input is kept in this browser.",
}


def refusal(problems: Collection[RequestProblem], *, code: str | None = None) -> JudgingError:
    """Return the error for a request with problems; without a code, that of the worst one."""
    fields = {problem.field for problem in problems}
    if code is None and "label" in fields:
        code = "bad-label"
    elif code is None and "text" in fields:
        code = "no-text"
    elif code is None:
        code = "bad-comment" if fields & {"comment", "reason"} else "malformed"
    return JudgingError(f"Nothing was stored: {_MESSAGES[code]}", code=code, problems=problems)


def item_problems(
    item: Submitted, labels: Iterable[tuple[int | None, int | None]], guideline: int | None
) -> Iterator[RequestProblem]:
    """Yield the instances, labels and guidelines that an item does not have.

    An instance whose text is missing takes only labels that are not judgments. Each label is a pair
    of instance and value; None is not checked.
    """
    for instance, label in labels:
        if instance is not None and instance not in item.current:
            yield _unknown(instance, "instance", instance, _one_of(sorted(item.current)), RELOAD)
        if label is not None and label not in item.scale.values:
            yield _unknown(instance, "label", label, _one_of(item.scale.values), OTHER_LABEL)
        elif label is not None and instance in item.textless and item.scale.of(label).is_judgment:
            reports = (f"{report.word} ({report.value})" for report in item.scale.reports)
            yield _unknown(instance, "text", label, " or ".join(reports) or "no label", REPORT)
    if guideline is not None and item.guideline_id is None:
        expected = "a version of the task's guidelines, or null"
        yield _unknown(None, "guideline", guideline, expected, RELOAD)


def _unknown(
    instance: int | None, field: str, value: int, expected: str, todo: str
) -> RequestProblem:
    return RequestProblem(instance, field, str(value), expected, todo)


def _one_of(values: Iterable[int]) -> str:
    return f"one of {', '.join(map(str, values))}"
