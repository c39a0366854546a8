"""The files of the demo lab are consistent: posts, formula index, judgments, runs and the plan."""

from collections import Counter
from datetime import UTC, date, datetime, time
from itertools import chain
from pathlib import Path

import polars as pl
import pytest
import quickjs
from lxml import etree

from arqkit.formats.formulas.index import read_index
from arqkit.formats.labs.folder import LabFile, TaskFile, read_lab
from arqkit.formats.runs.check import check_run
from arqkit.formats.runs.filename import read_name
from arqkit.formats.runs.repair import repaired_run
from arqkit.formats.runs.report import RunReport, RunRules
from arqkit.records import Severity
from arqkit.texts.maths.typesetting import TEMML
from arqkit.texts.posts.text import text_formulas
from desk.services.demo import FOLDER, WRITTEN_ON, demo_plan, write_lab

TODAY = date(2027, 3, 10)
NOW = datetime.combine(TODAY, time(12), UTC)
TEAMS = demo_plan()["teams"]
RUNS = sorted(str(path.relative_to(FOLDER / "runs")) for path in FOLDER.glob("runs/*/*.tsv"))


def rows_of(name: str) -> dict[str, dict[str, str]]:
    rows = [dict(row.attrib) for row in etree.parse(FOLDER / name).getroot()]
    return {row.get("Id", row.get("TagName", "")): row for row in rows}


POSTS = rows_of("Posts.xml")
INDEX = pl.concat(part.frame for part in read_index(FOLDER / "formulas.latex.tsv"))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> LabFile:
    return read_lab(write_lab(tmp_path_factory.mktemp("demo"), today=TODAY))


@pytest.fixture(scope="session")
def tasks(demo: LabFile) -> dict[str, TaskFile]:
    return {task.slug: task for task in demo.tasks}


def labels(task: TaskFile, name: str) -> dict[tuple[str, str], int]:
    [frame] = [qrels.frame for qrels in task.qrels if qrels.name == name]
    return {(topic, item): label for topic, item, label in frame.iter_rows()}


def check(data: bytes, task: TaskFile) -> RunReport:
    posts = [
        (key, "question" if row["PostTypeId"] == "1" else "answer") for key, row in POSTS.items()
    ]
    rules = RunRules(
        kind=task.kind,
        topics=tuple(topic.query_id for topic in task.topics),
        limit=task.protocol.limit,
        items=task.protocol.items,
        posts=pl.DataFrame(posts, schema=["post_id", "type"], orient="row"),
        formulas=INDEX.select("formula_id", "post_id", "visual_id"),
        complete=True,
    )
    return check_run(data, rules)


def test_only_the_task_to_try_is_open_on_the_day_of_the_build(tasks: dict[str, TaskFile]) -> None:
    assert [*tasks] == ["task1", "task2", "task3", "task1-progress"]
    assert [slug for slug, task in tasks.items() if task.opens < NOW < task.deadline] == [
        "task1-progress"
    ]


def test_the_dates_move_with_the_day_of_the_build(tmp_path: Path) -> None:
    same = write_lab(tmp_path, today=WRITTEN_ON) / "lab.toml"
    assert same.read_text() == (FOLDER / "lab.toml").read_text()
    assert "deadline = 2027-03-21" in (write_lab(tmp_path, today=TODAY) / "lab.toml").read_text()


def test_a_formula_topic_shares_the_post_of_its_number(tasks: dict[str, TaskFile]) -> None:
    questions = {topic.query_id[2:]: topic for topic in tasks["task1"].topics}
    assert (len(questions), len(tasks["task2"].topics)) == (16, 13)
    for topic in tasks["task2"].topics:
        asked = questions[topic.query_id[2:]]
        assert (topic.title, topic.body, topic.tags) == (asked.title, asked.body, asked.tags)
        formulas = [formula[:2] for formula in text_formulas(topic.title + topic.body)]
        assert (topic.formula_id, topic.latex) in formulas


@pytest.mark.parametrize("slug", ["task1", "task2"])
def test_every_topic_is_described(tasks: dict[str, TaskFile], slug: str) -> None:
    assert set(tasks[slug].topic_info) == {topic.query_id for topic in tasks[slug].topics}


@pytest.mark.parametrize(("slug", "name"), [("task1", "official"), ("task2", "visual")])
def test_every_topic_has_two_relevant_items(
    tasks: dict[str, TaskFile], slug: str, name: str
) -> None:
    relevant = Counter(
        topic for (topic, _), label in labels(tasks[slug], name).items() if label >= 2
    )
    assert all(relevant[topic.query_id] >= 2 for topic in tasks[slug].topics)


@pytest.mark.parametrize("slug", ["task1", "task3"])
def test_the_complete_judgments_without_5_and_6_are_the_official_ones(
    tasks: dict[str, TaskFile], slug: str
) -> None:
    complete = labels(tasks[slug], "complete")
    kept = {pair: label for pair, label in complete.items() if label < 5}
    assert labels(tasks[slug], "official") == kept != complete


def test_a_formula_has_the_highest_label_of_its_judged_instances(
    tasks: dict[str, TaskFile],
) -> None:
    looks = dict(INDEX.select("formula_id", "visual_id").iter_rows())
    highest: dict[tuple[str, str], int] = {}
    for (topic, item), label in labels(tasks["task2"], "instances").items():
        highest[topic, looks[item]] = max(label, highest.get((topic, looks[item]), 0))
    assert labels(tasks["task2"], "visual") == highest


def test_the_formula_index_has_the_formulas_of_the_searchable_posts(demo: LabFile) -> None:
    until = demo.collection.window.until.isoformat()
    texts = {
        key: row.get("Title", "") + row["Body"]
        for key, row in POSTS.items()
        if row["CreationDate"][:10] <= until
    }
    formulas = [
        (formula.formula_id, key, formula.latex)
        for key, text in texts.items()
        for formula in text_formulas(text)
    ]
    assert INDEX.select("formula_id", "post_id", "formula").rows() == formulas
    assert len({formula_id for formula_id, _, _ in formulas}) == len(formulas)


def test_the_index_of_the_topics_has_their_formulas(tasks: dict[str, TaskFile]) -> None:
    [part] = read_index(FOLDER / "topic-formulas.latex.tsv")
    assert part.frame.select("formula_id", "post_id").rows() == [
        (formula.formula_id, topic.query_id)
        for topic in tasks["task1"].topics
        for formula in text_formulas(topic.title + topic.body)
    ]


def test_every_formula_can_be_typeset() -> None:
    context = quickjs.Context()
    context.eval(TEMML.read_text())
    context.eval("globalThis.set = latex => temml.renderToString(latex, {throwOnError: true})")
    answers = [path.read_text().split("$")[1::2] for path in FOLDER.glob("runs/task3/*generate*")]
    for latex in (*INDEX["formula"], *chain.from_iterable(answers)):
        assert context.get("set")(latex).startswith("<math"), latex


def test_every_post_is_well_formed_html() -> None:
    for row in POSTS.values():
        assert etree.fromstring(f"<div>{row.get('Title', '')}{row['Body']}</div>").tag == "div"


def test_related_files_refer_to_existing_posts_and_people() -> None:
    people, related = rows_of("Users.xml"), ("Comments.xml", "Votes.xml", "PostLinks.xml")
    owners = [row["OwnerUserId"] for row in POSTS.values()]
    users = [
        row["UserId"] for name in ("Comments.xml", "Badges.xml") for row in rows_of(name).values()
    ]
    posts = [row["PostId"] for name in related for row in rows_of(name).values()]
    linked = [row["RelatedPostId"] for row in rows_of("PostLinks.xml").values()]
    assert {*owners, *users} <= {*people}
    assert {*posts, *linked} <= {*POSTS}


def test_an_accepted_answer_is_one_of_the_thread() -> None:
    accepted = {
        key: row["AcceptedAnswerId"] for key, row in POSTS.items() if "AcceptedAnswerId" in row
    }
    assert len(accepted) > 20
    assert all(POSTS[answer]["ParentId"] == question for question, answer in accepted.items())


def test_every_run_is_in_the_plan_and_of_its_team() -> None:
    planned = {path: team["name"] for team in TEAMS for path in team["runs"]}
    assert sorted(planned) == RUNS
    for path, team in planned.items():
        name = read_name(path)
        assert (name.team, name.task) == (team, path[:5])
        assert name.primary is not None


def test_teams_keep_the_quota_and_have_one_primary_run_per_task() -> None:
    runs = Counter((team["name"], path.split("/")[0]) for team in TEAMS for path in team["runs"])
    primary = Counter(
        (team["name"], path.split("/")[0])
        for team in TEAMS
        for path in team["runs"]
        if path.endswith("-P.tsv")
    )
    assert max(runs.values()) <= 5
    assert primary == dict.fromkeys(runs, 1)


@pytest.mark.parametrize("path", RUNS)
def test_a_run_is_valid_with_warnings_at_most(path: str, tasks: dict[str, TaskFile]) -> None:
    report = check((FOLDER / "runs" / path).read_bytes(), tasks[path.split("/")[0]])
    assert report.is_valid
    assert report.run_tags == (read_name(path).tag,)
    assert {problem.kind for problem in report.problems} <= {"missing-topic", "score-tie"}


def test_an_answer_is_judged_and_an_extracted_one_like_its_post(tasks: dict[str, TaskFile]) -> None:
    posts, answers = (labels(tasks[slug], "complete") for slug in ("task1", "task3"))
    for path in FOLDER.glob("runs/task3/*"):
        for line in path.read_text().splitlines():
            topic, _, _, tag, post, _ = line.split("\t")
            label = answers[topic, f"{tag}:{topic}"]
            assert not post or label == posts[topic, post]


def test_the_good_run_to_try_has_no_problem(tasks: dict[str, TaskFile]) -> None:
    assert check((FOLDER / "try-good.tsv").read_bytes(), tasks["task1-progress"]).problems == ()


def test_the_repairable_run_to_try_is_refused_and_repaired(tasks: dict[str, TaskFile]) -> None:
    sent, task = (FOLDER / "try-repairable.tsv").read_bytes(), tasks["task1-progress"]
    assert not check(sent, task).is_valid
    topics = tuple(topic.query_id for topic in task.topics)
    repaired = repaired_run(sent, RunRules(task.kind, topics=topics))
    assert repaired is not None
    assert check(repaired, task).problems == ()


def test_the_readme_names_the_lines_of_the_broken_run(tasks: dict[str, TaskFile]) -> None:
    problems = check((FOLDER / "try-broken.tsv").read_bytes(), tasks["task1-progress"]).problems
    assert Counter(problem.severity for problem in problems)[Severity.ERROR] >= 11
    lines = {line for problem in problems for line in problem.occurrences["line"]}
    table = (FOLDER / "README.md").read_text().partition("| line |")[2]
    cells = [cell for row in table.splitlines() for cell in row.split("|")[1:2]]
    named = {int(line) for cell in cells for line in cell.split(",") if line.strip().isdigit()}
    assert named <= lines


@pytest.mark.parametrize("pool", demo_plan()["pools"], ids=lambda pool: pool["task"])
def test_every_topic_belongs_to_the_task_and_to_one_assessor(
    pool: dict, tasks: dict[str, TaskFile]
) -> None:
    parts = ("done", "started", "waiting")
    given = Counter(name for share in pool["shares"] for part in parts for name in share[part])
    assert given.keys() < {topic.query_id for topic in tasks[pool["task"]].topics}
    assert set(given.values()) == {1}
    assert all(any(share[part] for share in pool["shares"]) for part in parts)


def test_tickets_are_about_items_without_a_judgment(tasks: dict[str, TaskFile]) -> None:
    complete, tickets = labels(tasks["task1"], "complete"), demo_plan()["tickets"]
    assert all(complete[ticket["topic"], ticket["item"]] > 4 for ticket in tickets)
    assert Counter("answer" in ticket for ticket in tickets) == {False: 1, True: 1}
