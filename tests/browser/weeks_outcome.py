"""The judging weeks from the second labels on: their results, adjudication, qrels, time sheet."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping

import pytest

from tests.browser.weeks_figures import (
    VALUES,
    WORDS,
    Item,
    Row,
    check_agreement,
    check_confusion,
    close,
    current,
    item_of,
    label_of,
    means,
    median_seconds,
    tau_and_swaps,
    votes_of,
)
from tests.browser.weeks_lab import ITEMS, ORGANIZER, PEOPLE, TASK, Weeks, judge_by_requests

ROUNDS = {
    "official": "official",
    "training-1": "First training",
    "second-1": "Second judgments 1",
    "adjudication-1": "Adjudication",
}


def read_second_labels(it: Weeks) -> None:
    """Compare agreement, confusion, times and effect with the exported labels."""
    it.become(ORGANIZER)
    first = current(it.exported("judgments-with-names.tsv"))
    again = current(it.saved("second-judgments-with-names.tsv"))
    pairs = [(first[item], row) for item, row in again.items()]
    judged = [pair for pair in pairs if max(label_of(row) for row in pair) <= 3]
    differing = [pair for pair in judged if label_of(pair[0]) != label_of(pair[1])]
    assert (len(pairs), len(judged), len(differing)) == (20, 19, 7)
    it.tab(TASK, "Rounds")
    people = {row["assessor"] for row in again.values()}
    topics = {topic for topic, _ in again}
    counts = [str(len(each)) for each in (people, topics, again, again)]
    assert it.rows("rounds")["Second judgments 1"][3:] == [*counts, "Done", "shown"]
    it.press("Second judgments 1")
    it.see("20 of 20 items judged again.", "1 more is left out")
    it.see("19 labels with a first and a second judgment; 7 differ.")
    votes = ((item_of(row), row["assessor"], label_of(row)) for pair in judged for row in pair)
    check_agreement(it.rows("assessors-table"), votes_of(votes))
    sides = [list(side) for side in zip(*judged, strict=True)]
    check_confusion(it.rows("first-second"), *([label_of(row) for row in side] for side in sides))
    times = it.rows("times")
    for name in (*PEOPLE, "All"):
        own = [[row for row in side if name in (row["assessor"], "All")] for side in sides]
        counts, seconds = times[name][::2], times[name][1::2]
        assert counts == [str(len(rows)) for rows in own]
        for shown, rows in zip(seconds, own, strict=True):
            close(shown, median_seconds(rows), digits=1)
    it.press("Compute effect")
    it.see("Two rankings of the runs by the draft of the qrels")
    check_effect(it, labels_of(first), {item_of(row): label_of(row) for _, row in judged})
    it.look_at("second")


def check_effect(it: Weeks, first: Mapping[Item, int], again: Mapping[Item, int]) -> None:
    """Compare rankings by either labels with those of pytrec_eval and scipy."""
    shown, second = it.rows("effect-measures"), {**first, **again}
    topics = {topic for topic, _ in again}
    assert (len({topic for topic, _ in first}), len(topics)) == (5, 4)
    scored = {(run, heading): cells for run, heading, *cells in it.lines("effect-scores")[1:]}
    for heading, (runs, *cells) in list(shown.items())[1:]:
        assert runs == "4"
        columns = [
            means(labels, heading, some) for some in (ITEMS, topics) for labels in (first, second)
        ]
        for place in (0, 2):
            tau, swaps = tau_and_swaps(*columns[place : place + 2])
            close(cells[place], tau, digits=3)
            assert cells[place + 1] == str(swaps)
        for name in columns[0]:
            for text, column in zip(scored[name, heading], columns, strict=True):
                close(text, column[name], digits=4)
    assert {"nDCG′", "MAP′", "P′@10", "bpref"} <= shown.keys()


def read_disagreements(it: Weeks) -> None:
    """Compare the queue of disagreements, and their effects, with the exported labels."""
    first = labels_of(current(it.exported("judgments.tsv")))
    second = labels_of(current(it.saved("second-judgments.tsv")))
    it.tab(TASK, "Rounds")
    it.press("Adjudication")
    it.see("7 labels on which official and second judgments differ; 0 decided.")
    expected = {
        item: [WORDS[first[item]], WORDS[label], str(abs(first[item] - label)), "open", "–"]
        for item, label in second.items()
        if label <= 3 and label != first[item]
    }
    listed = it.lines("disagreements")[1:]
    assert {(topic, doc_id): cells for topic, doc_id, *cells in listed} == expected
    assert [row[4] for row in listed] == sorted((row[4] for row in listed), reverse=True)
    saved = it.saved("TSV")
    assert [[row["topic"], row["doc_id"], row["spread"]] for row in saved] == [
        [topic, doc_id, spread] for topic, doc_id, _, _, spread, *_ in listed
    ]
    it.press("Sort by effect on the leaderboard")
    it.see("The effect is the largest change in a run’s mean nDCG′")
    before, effects = means(first, "nDCG′"), []
    for topic, doc_id, _, word, _, effect, *_ in it.lines("disagreements")[1:]:
        after = means({**first, (topic, doc_id): VALUES[word]}, "nDCG′")
        effects.append(max(abs(after[run] - before[run]) for run in before))
        close(effect, effects[-1], digits=4)
    assert len(effects) == 7
    assert effects == sorted(effects, reverse=True)
    it.look_at("adjudication")


def adjudicate(it: Weeks) -> None:
    """Decide one label in a meeting, withdraw another decision, and ask for a third opinion."""
    decide(it, "45", label="Medium", Reason="It helps, but it is not complete.")
    it.see("Decided: Medium. This label counts from now on.", "1 decided.")
    decide(it, "12", label="Low", Reason="A hint.", Question_for_the_guidelines="Does a hint help?")
    it.see("Decided: Low. The case is collected for the next version", "2 decided.")
    it.page.get_by_role("link", name="12", exact=True).click()
    it.press("Withdraw decision")
    it.see("Withdrawn. The official label counts. The case of the earlier decision", "1 decided.")
    it.page.get_by_role("link", name="35", exact=True).click()
    it.page.get_by_label("Assessor", exact=True).select_option(label="ada")
    it.press("Ask assessor")
    it.see("ada is asked for a third opinion.")
    judge_by_requests("ada", {"35": 2}, ["A.3"], guidelines=2, round_key="adjudication-1")
    it.page.reload()
    it.see("7 labels on which official and second judgments differ; 2 decided.")


def decide(it: Weeks, item: str, *, label: str, **fields: str) -> None:
    """Decide the label of an item in the queue."""
    it.page.get_by_role("link", name=item, exact=True).click()
    it.page.get_by_label("Label", exact=True).select_option(label=label)
    it.fill(**fields)
    it.press("Save decision")


def freeze(it: Weeks) -> None:
    """Freeze the qrels: the adjudicated label, else the official one, and nothing else."""
    labels = labels_of(current(it.exported("judgments.tsv")))
    decided = labels_of(current(it.saved("adjudications.tsv")))
    assert decided == {("A.4", "45"): 2, ("A.3", "35"): 2}
    labels = {item: label for item, label in (labels | decided).items() if label <= 3}
    it.tab(TASK, "Rounds")
    it.press("Adjudication")
    it.press("qrels")
    it.see("25 of 25 pool items have a label.", "0 of 5 topics are left out so far.")
    check_shares(it, labels)
    it.press("Freeze qrels…")
    it.fill(Name="official")
    it.page.get_by_label("Continue although 1 check is red").check()
    it.press("Freeze qrels")
    it.see("official is frozen as version 1.", "Version 1: 25 lines for 5 topics.")
    check_shares(it, labels)
    lines = it.download("Download qrels").splitlines()
    assert sorted(lines) == sorted(
        f"{topic}\t0\t{doc_id}\t{label}" for (topic, doc_id), label in labels.items()
    )


def check_shares(it: Weeks, labels: Mapping[Item, int]) -> None:
    """Compare the label shares and the labels by topic with counted labels."""
    counted = Counter(WORDS[label] for label in labels.values())
    for line in it.page.locator(".label-list li").all():
        [count, percent] = re.findall(r"[\d.]+", line.inner_text())
        word = next(word for word in WORDS.values() if word in line.inner_text())
        assert int(count) == counted[word]
        close(percent, 100 * counted[word] / len(labels), digits=1)
    head, *lines = it.lines("topics")
    for topic, *cells in lines:
        shown = dict(zip(head[1:], cells, strict=True))
        own = [label for (one, _), label in labels.items() if one == topic]
        assert {head: shown[head] for head in ("Labels", "Relevant")} == {
            "Labels": str(len(own)),
            "Relevant": str(sum(label >= 2 for label in own)),
        }
        for value in (3, 2, 1, 0):
            assert shown[WORDS[value]] == str(own.count(value))
    assert len(lines) == len(ITEMS)


def read_time_sheet(it: Weeks) -> None:
    """Add up the time sheet from the exported labels of all rounds, with their history."""
    work = []
    for name in ("judgments", "second-judgments", "adjudications"):
        for row in it.exported(f"{name}-with-names.tsv"):
            place = row.get("round", "official"), row["topic"]
            if row["active_ms"]:  # the decisions of a meeting have no time, and do not count
                work.append((row["assessor"], *place, row["doc_id"], int(row["active_ms"])))
    it.tab(TASK, "Rounds")
    it.press("First training")
    for row in it.saved("Download votes with names"):
        ms = round(float(row["seconds"]) * 1000)
        work.append((row["assessor"], row["round"], row["topic"], row["item"], ms))
    it.tab(TASK, "Judging")
    it.page.get_by_text("More", exact=True).click()
    it.press("Time sheet")
    sheet = defaultdict(list)
    for row in it.saved("Download CSV"):
        sheet[row["username"], row["round"], row["topic"]].append(row)
    for key, rows in sheet.items():
        own = [one for one in work if one[:3] == key]
        assert sum(int(row["labels"]) for row in rows) == len(own)
        assert sum(int(row["items"]) for row in rows) == len({one[3] for one in own})
        hours = sum(float(row["active_hours"]) for row in rows)
        assert hours == pytest.approx(sum(one[4] for one in own) / 3.6e6, abs=1e-5)
    assert {one[:3] for one in work} == sheet.keys()
    check_sums(it, [row for rows in sheet.values() for row in rows])
    it.look_at("time-sheet")


def check_sums(it: Weeks, sheet: list[Row]) -> None:
    """Compare the tables of the time sheet with sums of the downloaded one."""
    people = it.rows("people")
    assert people.keys() == {"Assessor", *PEOPLE, "All"}
    for name in (*PEOPLE, "All"):
        own = [row for row in sheet if name in (row["assessor"], "All")]
        hours, *counts, pace = people[name]
        close(hours, sum(float(row["active_hours"]) for row in own), digits=2)
        items, labels = (sum(int(row[column]) for row in own) for column in ("items", "labels"))
        assert counts == [str(items), str(labels)]
        active = sum(float(row["active_hours"]) for row in own)
        close(pace, 3600 * active / labels, digits=1, error=0.002)
    rounds = it.rows("rounds")
    names = rounds["Task"][1:]
    for key, title in ROUNDS.items():
        own = [row for row in sheet if row["round"] == key]
        total, *cells = rounds[f"Answer retrieval {title}"]
        close(total, sum(float(row["active_hours"]) for row in own), digits=2)
        for name, cell in zip(names, cells, strict=True):
            mine = [float(row["active_hours"]) for row in own if row["assessor"] == name]
            close(cell, sum(mine) if mine else math.nan, digits=2)
    assert len(rounds) == len(ROUNDS) + 2


def labels_of(rows: Mapping[Item, Row]) -> dict[Item, int]:
    """Return the labels of current judgments."""
    return {item: label_of(row) for item, row in rows.items()}
