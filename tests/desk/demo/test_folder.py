"""The demo lab's folder and its judgments are consistent."""

from datetime import UTC, datetime, time
from pathlib import Path

import pytest

from arqkit.formats.labs.folder import LabFile, TaskFile
from arqkit.texts.posts.text import text_formulas
from desk.demo import posts
from desk.demo.posts import Post
from desk.demo.systems import Library
from tests.desk.demo.conftest import TODAY

NOW = datetime.combine(TODAY, time(12), UTC)


def labels(task: TaskFile, name: str) -> dict[tuple[str, str], int]:
    frame = next(qrels.frame for qrels in task.qrels if qrels.name == name)
    return {(topic, item): label for topic, item, label in frame.iter_rows()}


def test_the_lab_has_three_kinds_of_tasks_and_one_to_try(demo: LabFile) -> None:
    assert [task.slug for task in demo.tasks] == ["task1", "task2", "task3", "task1-progress"]


def test_only_the_task_to_try_is_open_on_the_day_of_the_build(tasks: dict[str, TaskFile]) -> None:
    assert [slug for slug, task in tasks.items() if task.opens < NOW < task.deadline] == [
        "task1-progress"
    ]


def test_the_dates_move_with_the_day_of_the_build() -> None:
    assert posts.lab_text(today=posts.WRITTEN_ON) == (posts.FOLDER / "lab.toml").read_text()
    assert "deadline = 2027-03-21" in posts.lab_text(today=TODAY)


def test_a_folder_is_written_twice_with_the_same_content(tmp_path: Path) -> None:
    first = {
        file.name: file.read_bytes() for file in posts.write_lab(tmp_path, today=TODAY).iterdir()
    }
    assert {
        file.name: file.read_bytes() for file in posts.write_lab(tmp_path, today=TODAY).iterdir()
    } == first


def test_there_are_sixteen_topics_and_a_formula_in_thirteen(tasks: dict[str, TaskFile]) -> None:
    assert len(tasks["task1"].topics) == 16
    assert len(tasks["task2"].topics) == 13


def test_a_formula_topic_shares_the_post_of_its_number(tasks: dict[str, TaskFile]) -> None:
    questions = {topic.query_id[2:]: topic for topic in tasks["task1"].topics}
    for topic in tasks["task2"].topics:
        asked = questions[topic.query_id[2:]]
        assert (topic.title, topic.body, topic.tags) == (asked.title, asked.body, asked.tags)


def test_the_query_formula_is_in_its_post(tasks: dict[str, TaskFile]) -> None:
    for topic in tasks["task2"].topics:
        assert (topic.formula_id, topic.latex) in [
            each[:2] for each in text_formulas(topic.title + topic.body)
        ]


@pytest.mark.parametrize("slug", ["task1", "task2"])
def test_every_topic_is_described(tasks: dict[str, TaskFile], slug: str) -> None:
    assert set(tasks[slug].topic_info) == {topic.query_id for topic in tasks[slug].topics}


def test_every_topic_of_task_1_has_25_judged_answers_and_two_relevant_ones(
    tasks: dict[str, TaskFile],
) -> None:
    judged = labels(tasks["task1"], "official")
    for topic in tasks["task1"].topics:
        found = [label for (query_id, _), label in judged.items() if query_id == topic.query_id]
        assert len(found) >= 25
        assert sum(label >= 2 for label in found) >= 2


def test_every_topic_of_task_2_has_two_relevant_formulas(tasks: dict[str, TaskFile]) -> None:
    judged = labels(tasks["task2"], "visual")
    for topic in tasks["task2"].topics:
        assert (
            sum(label >= 2 for (query_id, _), label in judged.items() if query_id == topic.query_id)
            >= 2
        )


def test_only_answers_are_judged_for_task_1(
    tasks: dict[str, TaskFile], read_posts: list[Post]
) -> None:
    answers = {post.post_id for post in read_posts if post.kind == "answer"}
    assert {item for _, item in labels(tasks["task1"], "complete")} <= answers


@pytest.mark.parametrize("slug", ["task1", "task3"])
def test_the_complete_judgments_without_5_and_6_are_the_official_ones(
    tasks: dict[str, TaskFile], slug: str
) -> None:
    complete = labels(tasks[slug], "complete")
    assert labels(tasks[slug], "official") == {
        pair: label for pair, label in complete.items() if label < 5
    }
    assert set(complete.values()) - {0, 1, 2, 3}


def test_a_formula_has_the_highest_label_of_its_judged_instances(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    looks = {formula.formula_id: formula.visual_id for formula in library.formulas}
    highest: dict[tuple[str, str], int] = {}
    for (topic, item), label in labels(tasks["task2"], "instances").items():
        highest[topic, looks[item]] = max(label, highest.get((topic, looks[item]), 0))
    assert labels(tasks["task2"], "visual") == highest


def test_at_most_five_instances_of_a_formula_are_judged(
    tasks: dict[str, TaskFile], library: Library
) -> None:
    looks = {formula.formula_id: formula.visual_id for formula in library.formulas}
    judged = [(topic, looks[item]) for topic, item in labels(tasks["task2"], "instances")]
    assert max(judged.count(pair) for pair in set(judged)) <= 5
