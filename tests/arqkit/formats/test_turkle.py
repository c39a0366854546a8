"""A batch of Turkle, and its results as judgments."""

import csv
import io
from collections.abc import Mapping

import pytest

from arqkit.formats.qrels.judgments import read_judgments
from arqkit.formats.turkle import BatchRow, turkle_batch, turkle_template, unused_columns
from arqkit.protocols.scales import ARQMATH

DONE = {
    "HITId": "1",
    "SubmitTime": "Thu Nov 26 15:06:20 UTC 2026",
    "WorkTimeInSeconds": "12",
    "Input.item": "10",
    "Input.item_html": "<p>" + 200_000 * "x" + "</p>\n<p>",
    "Input.topic": "A.1",
    "Answer.comment": 'A "clear"\r\nproof.',
    "Answer.label": "3",
    "Answer.mood": "good",
    "Turkle.Username": "ann",
}


def results(*rows: Mapping[str, str]) -> bytes:
    """Return a file as Turkle writes it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def test_a_result_is_a_judgment_with_all_its_details():
    (judged,), problems = read_judgments(results(DONE), path="f", scale=ARQMATH)

    assert (judged.topic, judged.item, judged.label, judged.assessor) == ("A.1", "10", 3, "ann")
    assert (judged.comment, judged.active_ms) == ('A "clear"\r\nproof.', 12_000)
    assert judged.judged_at.isoformat() == "2026-11-26T15:06:20+00:00"
    assert problems == []


def test_columns_that_nobody_reads_are_named():
    assert unused_columns(results(DONE).decode()) == ["Answer.mood"]
    assert unused_columns("topic\titem\tlabel\n") == []


def test_everything_wrong_is_reported_with_its_line():
    wrong = [{"SubmitTime": "Thu Nov 26 15:06:20 PST 2026"}, {"Answer.label": "9"}]
    data = results(DONE, *(DONE | {"Input.item": f"2{n}"} | row for n, row in enumerate(wrong)))
    rows, problems = read_judgments(data + b'"2"\r\n', path="f", scale=ARQMATH)

    assert [(problem.line, problem.found) for problem in problems] == [
        (11, "1 columns"),
        (7, "the judged_at 'Thu Nov 26 15:06:20 PST 2026'"),
        (10, "the label '9'"),
    ]
    assert len(rows) == 1


@pytest.mark.parametrize("column", ["Input.topic", "Answer.label"])
def test_results_of_another_batch_are_refused(column):
    data = results({name: cell for name, cell in DONE.items() if name != column})
    _, problems = read_judgments(data, path="f", scale=ARQMATH)

    assert [problem.found for problem in problems][:1] == [f"no column {column}"]


def test_a_batch_has_the_fields_and_no_text_of_a_post_is_a_field():
    row = BatchRow("A.1", "10", "<p>${topic}</p>", "<p>a\n“b”</p>")
    header, cells = csv.reader(io.StringIO(b"".join(turkle_batch([row])).decode(), newline=""))

    assert header == list(BatchRow._fields)
    assert cells == ["A.1", "10", "<p>&#36;{topic}</p>", "<p>a\n“b”</p>"]


def test_a_template_offers_every_label_and_no_id_of_an_answer():
    template = turkle_template(ARQMATH, style="", instruction="Select & judge.")

    assert template.count('type="radio" name="label"') == len(ARQMATH.values) == 6
    assert "${item}" not in template
