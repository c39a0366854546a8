"""Every kind of problem that a run can have, in words: how bad it is, what it means, what to do."""

from collections.abc import Iterable
from typing import NamedTuple

from arqlab.formats.runs.report import Finding, ProblemGroup
from arqlab.ir.records import Severity

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


class Kind(NamedTuple):
    """The words of a kind. `{lines}`, `{topics}` and `{count}` and the facts of the finding stand
    in for figures.

    `repair` says what the repaired file does about it; kinds without it are left to the team.
    `as_note` are the message and the todo of a finding that is only a note, where the kind is an
    error otherwise.
    """

    severity: Severity
    message: str
    todo: str
    repair: str = ""
    as_note: tuple[str, str] | None = None


KINDS: dict[str, Kind] = {
    # The file as a whole.
    "empty-file": Kind(
        ERROR,
        "The file holds no row; a run has one row for each item.",
        "Send the file that your system wrote.",
    ),
    "null-byte": Kind(
        ERROR,
        "The file holds a null byte on {lines}, so it is not plain text; a run is a text file in UTF-8.",
        "Send the run as plain text; UTF-16 from a spreadsheet has to be saved as UTF-8.",
    ),
    "encoding": Kind(
        ERROR,
        "On {lines} there are bytes that are not UTF-8; a run is a text file in UTF-8.",
        "Save the file as UTF-8; the list below shows how each place would read as Latin-1.",
    ),
    "bom": Kind(
        WARNING,
        "The file starts with a byte order mark, which other programs take for a part of the first topic id.",
        "Save it as UTF-8 without a byte order mark.",
        "The repaired file leaves it out.",
    ),
    "crlf": Kind(
        NOTE,
        "The file has CR LF at the end of {lines}, as Windows writes them; this is accepted.",
        "Nothing is to be done.",
    ),
    "cr": Kind(
        WARNING,
        "On {lines} there are carriage returns that do not belong to a line end of Windows; each is read as a line end.",
        "Save the file with line feeds as line ends.",
        "The repaired file has line feeds instead.",
    ),
    "no-final-newline": Kind(
        NOTE,
        "The last line does not end with a line feed; this is accepted.",
        "Look whether the file is complete.",
    ),
    # Its columns.
    "wrong-format": Kind(
        ERROR,
        "The file reads as {format}, and this task takes {wanted}.",
        "Choose the task that the run is for, or write the columns that this task asks for.",
    ),
    "two-columns": Kind(
        ERROR,
        "The file has two columns, topic and answer; this task takes {wanted}.",
        "Add the missing columns: rank, score, run tag and sources.",
        "The repaired file has rank 1, score 1.0, the run tag `run` and empty sources in every row.",
    ),
    "columns": Kind(
        ERROR,
        "On {lines} the columns are not those of the format; every line has {wanted}.",
        "Write each of these lines with exactly these columns; a cell must not hold the separator.",
    ),
    "open-quote": Kind(
        WARNING,
        "On {lines} a cell begins with a quotation mark that is not closed at the end of a cell; it is read as it stands.",
        "Quote the whole cell and double the quotation marks in it, or leave out the first.",
    ),
    "header-line": Kind(
        WARNING,
        "On {lines} there are column names; a run has no header, so these lines are left out.",
        "Write the run without a header.",
        "The repaired file leaves these lines out.",
    ),
    "blank-lines": Kind(
        WARNING,
        "The file has {lines} without content; they are left out.",
        "Write a run without blank lines.",
        "The repaired file leaves them out.",
    ),
    "padded-cells": Kind(
        WARNING,
        "On {lines} there are blanks around a cell; they are not read as part of it.",
        "Write the cells without blanks around them.",
        "The repaired file leaves these blanks out.",
    ),
    # Its topics and items.
    "unknown-topic": Kind(
        ERROR,
        "On {lines} the topic is not one of this task; unknown is {unknown}.",
        "Take out the rows of other topics, and look whether the run is for this task and edition.",
    ),
    "missing-topic": Kind(
        WARNING,
        "The run has no row for {topics} of this task; a topic without rows counts 0 in every mean.",
        "Add rows for these topics if your system returned some.",
    ),
    "topics-apart": Kind(
        NOTE,
        "On {lines} the file comes back to a topic whose rows stand elsewhere; this is accepted.",
        "Nothing is to be done.",
    ),
    "empty-item": Kind(
        ERROR, "On {lines} an id is empty; every row names its item.", "Fill in the id."
    ),
    "unknown-item": Kind(
        ERROR,
        "On {lines} the item is not in the collection; an item of this run is {item}.",
        "Take out these items, and look whether the right kind of id and the right edition of the collection were used.",
        as_note=(
            "On {lines} the item is not in {part}, so it could not be looked up; an item of this run is {item}.",
            "Nothing is to be done.",
        ),
    ),
    "wrong-type": Kind(
        ERROR,
        "On {lines} the post is a question; this task asks for answers.",
        "Take out the questions: only answer posts are judged.",
    ),
    "wrong-post": Kind(
        ERROR,
        "On {lines} the formula does not stand in the post that the row names.",
        "Write the post that holds the formula; both ids stand in the formula index.",
    ),
    "duplicate-item": Kind(
        ERROR,
        "On {lines} an item stands again that its topic has already; every item is to stand once for a topic.",
        "Keep each item once.",
        "The repaired file keeps the row with the {best} of each.",
    ),
    "over-limit": Kind(
        ERROR,
        "{topics_have} more than {limit} items; this task takes at most {limit} items for a topic.",
        "Cut the list of each topic to {limit} items.",
        "The repaired file keeps the first {limit} by {order} and leaves out the lines listed here.",
    ),
    # Its ranks.
    "rank-not-integer": Kind(
        ERROR,
        "On {lines} the rank is not a whole number in the digits 0 to 9.",
        "Write ranks as 1, 2, 3 and so on.",
        "The repaired file numbers the topics concerned anew by {order}.",
    ),
    "rank-start": Kind(
        WARNING,
        "{topics_do} not start at rank 1.",
        "Number the items of each topic from 1.",
        "The repaired file numbers the topics concerned anew, in the order of their ranks.",
    ),
    "rank-repeated": Kind(
        WARNING,
        "On {lines} the rank is one that another item of the topic has too.",
        "Give each item of a topic a rank of its own.",
        "The repaired file numbers the topics concerned anew, in the order of their ranks, equal ones by score.",
    ),
    "rank-jump": Kind(
        WARNING,
        "On {lines} the rank is not the one after the rank before it; ranks go up by one.",
        "Look whether rows are missing; a run from which rows were taken out is accepted as it is.",
        "The repaired file numbers the topics concerned anew, in the order of their ranks.",
    ),
    "rank-against-score": Kind(
        WARNING,
        "On {lines} the score is higher than that of the rank before; {counts}.",
        "Look whether a higher score means a better item in your system, and whether ranks and scores are of one list.",
        "The repaired file numbers the topics concerned anew by score.",
    ),
    # Its scores.
    "score-decimal-comma": Kind(
        ERROR,
        "On {lines} the score has a decimal comma; scores have a decimal point.",
        "Write the scores with a decimal point.",
        "The repaired file reads the comma as a decimal point.",
    ),
    "score-not-a-number": Kind(
        ERROR,
        "On {lines} the score is not a number such as 12.5 or 3e-4.",
        "Write every score as a decimal number.",
    ),
    "score-nan": Kind(
        ERROR,
        "On {lines} the score is NaN, which no order can place.",
        "Look for a division by zero or an empty document in your system, and write a number.",
    ),
    "score-infinite": Kind(ERROR, "On {lines} the score is infinite.", "Write a finite number."),
    "score-out-of-range": Kind(
        ERROR,
        "On {lines} the score is beyond the range of 32-bit floats (3.4e38), in which trec_eval compares scores.",
        "Scale the scores, for example by their logarithm.",
    ),
    "score-tie": Kind(
        NOTE,
        "{items_tie} with another item of the topic, in {topics}; {ties}.",
        "If the order of equal scores matters to you, write scores that differ.",
    ),
    "score-tie-32-bit": Kind(
        NOTE,
        "{items_tie} with another item of the topic only because trec_eval compares scores as 32-bit floats "
        "(about seven digits), in {topics}; {ties}.",
        "If the order of these items matters to you, write scores that differ in the first seven digits.",
    ),
    # Its tags and answers.
    "several-tags": Kind(
        WARNING,
        "On {lines} the run tag is not the `{tag}` of the other rows; a run has one tag.",
        "Look whether two runs came into one file.",
    ),
    "empty-tag": Kind(
        WARNING, "On {lines} the run tag is empty.", "Write a short name of the run in every row."
    ),
    "two-answers": Kind(
        ERROR,
        "On {lines} stands a further answer to a topic; this task takes {limit_answers} for a topic.",
        "Choose the answer to send.",
        "The repaired file keeps the first by {order} and leaves out the lines listed here.",
    ),
    "long-answer": Kind(
        ERROR,
        "On {lines} the answer has more than {max_characters} characters, the most that this task takes.",
        "Shorten these answers.",
    ),
    "empty-answer": Kind(
        WARNING,
        "On {lines} the answer is empty.",
        "Leave out topics that your system cannot answer.",
    ),
    "odd-dollars": Kind(
        WARNING,
        "On {lines} the answer has an odd number of `$`, so the bounds of its formulas are unclear.",
        "Close every formula, and write a dollar sign that is none as \\$.",
    ),
}


def describe(finding: Finding, *, can_repair: bool) -> ProblemGroup:
    """Put a finding into words. Without `can_repair` no repair is offered: the file as a whole
    cannot be rewritten.
    """
    kind = KINDS[finding.kind]
    repairable = can_repair and finding.repairable and bool(kind.repair)
    severity = finding.severity or kind.severity
    message, todo = kind.as_note if kind.as_note and severity is NOTE else (kind.message, kind.todo)
    todo = f"{todo} {kind.repair}" if repairable else todo
    facts = _counted(finding) | dict(finding.facts)
    return ProblemGroup(
        kind=finding.kind,
        severity=severity,
        count=finding.occurrences.height,
        message=message.format(**facts),
        todo=todo.format(**facts),
        occurrences=finding.occurrences,
        repairable=repairable,
    )


def sort_problems(groups: Iterable[ProblemGroup]) -> tuple[ProblemGroup, ...]:
    """Sort errors first, then warnings, then notes; each in the order in which one reads a file."""
    severities, kinds = list(Severity), list(KINDS)
    return tuple(
        sorted(
            groups, key=lambda group: (severities.index(group.severity), kinds.index(group.kind))
        )
    )


def _counted(finding: Finding) -> dict[str, object]:
    """Return the figures of a finding as words that agree in number."""
    count = finding.occurrences.height
    topics = finding.occurrences["topic"].n_unique()
    return {
        "count": f"{count:,}",
        "lines": _number(count, "line", "lines"),
        "topics": _number(topics, "topic", "topics"),
        "topics_have": _number(topics, "topic has", "topics have"),
        "topics_do": _number(topics, "topic does", "topics do"),
        "items_tie": _number(count, "item ties", "items tie"),
    }


def _number(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
