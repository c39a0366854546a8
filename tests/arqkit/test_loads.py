"""What a load changes, and the problems of its files by cause."""

from arqkit.loads import Change, Fate, LoadChanges, cause_lines, problem_groups
from arqkit.records import Problem


def changes(*labels: str) -> LoadChanges:
    found = LoadChanges()
    found.add("labels", Fate.NEW, Change("A.1 9", "", "2"))
    found.add("labels", Fate.CHANGED, *(Change(f"A.1 {one}", "1", "3") for one in labels))
    return found


def test_a_load_asks_only_if_something_stored_changes():
    assert not changes().asks
    assert changes().stores
    assert changes("10").asks
    assert not LoadChanges().stores


def test_the_counts_are_one_sentence():
    found = changes("10", "11")
    found.add("labels", Fate.OLDER, Change("A.1 12"))

    assert found.line == "1 new, 2 changed, 1 older than stored (the newer stays), 0 unchanged."
    assert found.counts == {"new": 1, "changed": 2, "older": 1}


def test_other_changes_have_another_digest():
    assert changes("10").digest == changes("10").digest
    assert changes("10").digest != changes("11").digest
    assert changes("10").stored["digest"] == changes("10").digest


def test_three_examples_of_what_asks_are_listed_first():
    assert changes("10", "11", "12", "13").lines == [
        "Labels: 4 changed",
        *(f"    A.1 {item}: 1 → 3" for item in (10, 11, 12)),
        "Labels: 1 new",
    ]
    assert str(Change("A.1 10")) == "A.1 10"


def test_problems_are_grouped_by_file_and_cause():
    wrong = [Problem("a.tsv", line, f"{line}", "a label", "Correct it.") for line in range(1, 6)]
    other = Problem("a.tsv", 9, "no topic", "a topic", "Add it.")

    assert [(one["expected"], one["count"]) for one in problem_groups([*wrong, other])] == [
        ("a label", 5),
        ("a topic", 1),
    ]
    assert cause_lines([*wrong, other])[2:] == [
        "  a.tsv:3: found 3; expected a label. Correct it.",
        "  … and 2 more: expected a label.",
        "  a.tsv:9: found no topic; expected a topic. Add it.",
    ]


def test_groups_are_continued_up_to_a_hundred_causes():
    many = [Problem("a.tsv", 1, "x", f"cause {number}", "Correct it.") for number in range(101)]
    known = problem_groups(many)

    groups = problem_groups(many[:1] + many[-1:], known)
    assert len(groups) == 100
    assert groups[0]["count"] == 2
