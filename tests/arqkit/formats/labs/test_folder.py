"""A lab's folder: the real ones load; a broken one is refused with every mistake of every file."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from arqkit.formats.archives.folders import SourceFolder, SourcePath
from arqkit.formats.labs.folder import LabFile, read_lab
from arqkit.measures.names import parse_measures
from arqkit.protocols.scales import ARQMATH, NTCIR
from arqkit.records import FileRefusedError, ItemKind, TaskKind
from tests.real_data import DATA, needs_data

HEAD = '[lab]\nslug = "lab"\nname = "A lab"\nprotocol = "arqmath-3"\n'
TASK = '[[tasks]]\nslug = "task1"\nname = "Answers"\nkind = "answers"\ntopics = "topics.xml"\n'
ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with topics A.1 and B.1 (with its formula) and qrels for each."""
    (tmp_path / "topics.xml").write_text(
        '<Topics><Topic number="A.1"><Title>t</Title></Topic></Topics>'
    )
    (tmp_path / "formulas.txt").write_text("B.1\tx^2\n")
    (tmp_path / "qrels.tsv").write_text("A.1\t0\t77\t3\n")
    (tmp_path / "info.csv").write_text("Topic,Difficulty\nA.1,Low\n")
    return tmp_path


def lab_of(folder: Path, text: str) -> LabFile:
    (folder / "lab.toml").write_text(text)
    return read_lab(SourceFolder(folder))


def mistakes(folder: Path, text: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(FileRefusedError) as refused:
        lab_of(folder, text)
    return [
        (Path(problem.path).name, problem.line, problem.found) for problem in refused.value.problems
    ]


def test_the_smallest_lab_has_a_name_a_protocol_and_a_task(folder):
    lab = lab_of(folder, HEAD + TASK)

    assert (lab.slug, lab.name, lab.protocol.slug, lab.collection, lab.deadline) == (
        "lab",
        "A lab",
        "arqmath-3",
        None,
        None,
    )
    assert [(task.slug, task.kind, task.qrels) for task in lab.tasks] == [
        ("task1", TaskKind.ANSWERS, ())
    ]


def test_a_task_says_which_runs_it_publishes(folder):
    (task,) = lab_of(folder, HEAD + TASK + 'published_runs = "primary"\n').tasks

    assert task.published_runs == "primary"
    assert mistakes(folder, HEAD + TASK + 'published_runs = "some"\n') == [
        ("lab.toml", 10, "published_runs = 'some'")
    ]


def test_a_task_may_have_no_topics_yet(folder):
    (task,) = lab_of(folder, HEAD + TASK.replace('topics = "topics.xml"\n', "")).tasks

    assert (task.topics, task.topic_info, task.threads) == (None, {}, {})


@pytest.mark.parametrize("key", ["topic_info", "topic_formulas"])
def test_information_about_topics_needs_topics(folder, key):
    text = TASK.replace("topics", key).replace("topics.xml", "info.csv")
    found = mistakes(folder, HEAD + text)

    assert ("lab.toml", 9, f"{key} without topics") in found


def test_a_task_has_its_topics_their_information_and_its_qrels(folder):
    more = 'topic_info = "info.csv"\nqrels = [{ name = "official", file = "qrels.tsv" }]\n'

    (task,) = lab_of(folder, HEAD + TASK + more).tasks

    assert [topic.query_id for topic in task.topics] == ["A.1"]
    assert task.topic_info == {"A.1": {"difficulty": "easy"}}
    assert [(one.name, one.frame.rows()) for one in task.qrels] == [
        ("official", [("A.1", "77", 3)])
    ]


def test_qrels_take_labels_and_items_from_the_task(folder):
    (task,) = lab_of(
        folder, HEAD + TASK + 'qrels = [{ name = "official", file = "qrels.tsv" }]\n'
    ).tasks

    (qrels,) = task.qrels
    assert (qrels.items, qrels.labels, qrels.relevant_from) == (ItemKind.POSTS, ARQMATH, 2)


def test_qrels_may_have_their_own_labels_and_items(folder):
    own = (
        'qrels = [{ name = "q", file = "qrels.tsv", '
        'items = "answers", labels = "0-4", relevant_from = 3 }]\n'
    )

    (qrels,) = lab_of(folder, HEAD + TASK + own).tasks[0].qrels

    assert (qrels.items, qrels.labels, qrels.relevant_from) == (ItemKind.ANSWERS, NTCIR, 3)


def test_qrels_may_be_tables_of_their_own(folder):
    own = '[[tasks.qrels]]\nname = "q"\nfile = "qrels.tsv"\n'

    assert [one.name for one in lab_of(folder, HEAD + TASK + own).tasks[0].qrels] == ["q"]


def test_a_task_may_override_its_protocol(folder):
    own = 'limit = 50\norder = "rank"\nquota = 2\nmeasures = ["P@10"]\n'

    (task,) = lab_of(folder, HEAD + TASK + own).tasks

    assert (task.protocol.limit, task.protocol.order, task.protocol.measures) == (
        50,
        "rank",
        ("P@10",),
    )
    assert task.overrides == {"limit": 50, "order": "rank", "quota": 2, "measures": ["P@10"]}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2022-05-21", datetime(2022, 5, 21, 23, 59, 59, tzinfo=ANYWHERE_ON_EARTH)),
        ("2022-05-21T12:00:00Z", datetime(2022, 5, 21, 12, tzinfo=UTC)),
        ("2022-05-21T12:00:00-12:00", datetime(2022, 5, 21, 12, tzinfo=ANYWHERE_ON_EARTH)),
    ],
)
def test_a_deadline_that_is_a_day_ends_with_it_anywhere_on_earth(folder, written, read):
    lab = lab_of(folder, f"{HEAD}deadline = {written}\n{TASK}")

    assert (lab.deadline, lab.tasks[0].deadline) == (read, read)


def test_a_task_may_have_its_own_deadline(folder):
    lab = lab_of(
        folder,
        f"{HEAD}opens = 2022-05-01\ndeadline = 2022-05-21\n{TASK}deadline = 2022-06-01T00:00:00Z\n",
    )

    assert lab.tasks[0].deadline == datetime(2022, 6, 1, tzinfo=UTC)
    assert lab.tasks[0].opens == datetime(2022, 5, 1, tzinfo=ANYWHERE_ON_EARTH)


def test_a_time_without_a_zone_is_refused(folder):
    assert mistakes(folder, f"{HEAD}deadline = 2022-05-21T12:00:00\n{TASK}") == [
        ("lab.toml", 5, "deadline = 2022-05-21 12:00:00")
    ]


def test_a_deadline_comes_after_the_opening(folder):
    ((_, line, found),) = mistakes(
        folder, f"{HEAD}{TASK}opens = 2022-05-21\ndeadline = 2022-05-01\n"
    )

    assert line == 11
    assert "not after the opening" in found


def test_the_judging_deadline_of_the_lab_is_that_of_its_tasks(folder):
    dates = "deadline = 2022-05-21\njudging_deadline = 2022-06-10\n"
    read = datetime(2022, 6, 10, 23, 59, 59, tzinfo=ANYWHERE_ON_EARTH)

    lab = lab_of(folder, f"{HEAD}{dates}{TASK}")

    assert (lab.judging_deadline, lab.tasks[0].judging_deadline) == (read, read)


@pytest.mark.parametrize(
    ("dates", "line", "before"),
    [
        ("deadline = 2022-05-21\njudging_deadline = 2022-05-20\n", 11, "deadline"),
        ("opens = 2022-05-21\njudging_deadline = 2022-05-20\n", 11, "opening"),
    ],
)
def test_a_judging_deadline_comes_last(folder, dates, line, before):
    ((_, found_line, found),) = mistakes(folder, f"{HEAD}{TASK}{dates}")

    assert found_line == line
    assert f"not after the {before}" in found


def test_every_mistake_of_every_file_is_reported_at_once(folder):
    (folder / "qrels.tsv").write_text("A.1 0 77 9\nA.7 0 77 1\n")
    (folder / "topics.xml").write_text('<Topics><Topic number="A.1"/></Topics>')
    (folder / "info.csv").write_text("Nothing\n")
    text = (
        '[lab]\nslug = "A Lab"\nnam = "x"\nprotocol = "arqmath-9"\n'
        + TASK
        + 'limitt = 3\ntopic_info = "info.csv"\n'
        + 'qrels = [\n  { name = "q", file = "qrels.tsv" },\n  { file = "gone" },\n]\n'
    )

    assert mistakes(folder, text) == [
        ("lab.toml", 1, "no name"),
        ("lab.toml", 2, "slug = 'A Lab'"),
        ("lab.toml", 3, "the key nam"),
        ("lab.toml", 4, "protocol = 'arqmath-9'"),
        ("lab.toml", 10, "the key limitt"),
        ("lab.toml", 14, "no name"),
        ("lab.toml", 14, "file = 'gone', which is not a file"),
        ("info.csv", 1, "the columns Nothing"),
        ("topics.xml", 1, "neither title nor body in the topic A.1"),
    ]


def test_qrels_with_labels_or_topics_that_the_task_has_not_are_reported(folder):
    (folder / "qrels.tsv").write_text("A.1 0 77 4\nA.7 0 77 1\n")

    found = mistakes(folder, HEAD + TASK + 'qrels = [{ name = "q", file = "qrels.tsv" }]\n')

    assert found == [("qrels.tsv", 1, "the label '4'"), ("qrels.tsv", 2, "the topic A.7 on 1 line")]


def test_a_formula_task_needs_formulas_in_its_topics(folder):
    text = TASK.replace("answers", "formulas")

    assert mistakes(folder, HEAD + text) == [("topics.xml", 1, "no LaTeX in the topic A.1")]
    assert (
        lab_of(folder, HEAD + text.replace("topics.xml", "formulas.txt")).tasks[0].topics[0].latex
        == "x^2"
    )


def test_a_kind_that_the_protocol_has_not_is_reported(folder):
    text = HEAD.replace("arqmath-3", "ntcir-12") + TASK

    assert mistakes(folder, text) == [("lab.toml", 8, "a task of kind answers")]


def test_an_invalid_override_is_reported_with_its_line(folder):
    assert mistakes(folder, HEAD + TASK + 'order = "best"\n') == [
        ("lab.toml", 10, "order = 'best'")
    ]


def test_two_tasks_of_one_slug_are_reported(folder):
    assert mistakes(folder, HEAD + TASK + TASK) == [("lab.toml", 11, "the slug task1 again")]


def test_two_qrels_of_one_name_are_reported(folder):
    qrels = '  { name = "q", file = "qrels.tsv" },\n'
    text = f"qrels = [\n{qrels}{qrels}]\n"

    assert mistakes(folder, HEAD + TASK + text) == [("lab.toml", 12, "the name q again")]


def test_one_broken_file_that_two_tasks_name_is_reported_once(folder):
    (folder / "topics.xml").write_text("<Topics>")

    assert len(mistakes(folder, HEAD + TASK + TASK.replace("task1", "task2"))) == 1


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("[lab\n", 1, None),
        ("tasks = 3\n" + HEAD, 1, "tasks = 3"),
        ("tasks = []\n" + HEAD, 1, "tasks = []"),
        (TASK, None, "no lab"),
        (HEAD, None, "no tasks"),
        (HEAD + TASK.replace('"Answers"', "7"), 7, "name = 7"),
        (HEAD + TASK + "[colection]\n", 10, "the key colection"),
        (HEAD + TASK.replace('"answers"', '"answer"'), 8, "kind = 'answer'"),
        (HEAD + TASK.replace("topics.xml", "."), 9, "topics = '.', which is not a file"),
    ],
)
def test_what_is_wrong_with_the_toml_is_reported_with_its_line(folder, text, line, found):
    told = mistakes(folder, text)

    assert any(
        (found is None or found == told_found) and told_line == line
        for _, told_line, told_found in told
    )


def test_a_folder_without_lab_toml_is_reported(tmp_path):
    with pytest.raises(FileRefusedError, match="Name the lab's folder"):
        read_lab(SourceFolder(tmp_path))


def test_nothing_is_given_where_anything_is_wrong(folder):
    (folder / "qrels.tsv").write_text("A.1 0 77\n")

    with pytest.raises(FileRefusedError, match="four columns"):
        lab_of(folder, HEAD + TASK + 'qrels = [{ name = "q", file = "qrels.tsv" }]\n')


@needs_data
@pytest.mark.parametrize(
    ("slug", "tasks", "qrels"),
    [
        ("arqmath-1", ["task1", "task2"], ["official", "visual-v2", "visual-v3"]),
        ("arqmath-2", ["task1", "task2"], ["official", "visual-v2", "instances"]),
        ("arqmath-3", ["task1", "task2", "task3"], ["official", "visual-v3", "instances"]),
        ("ntcir-12-wfb", ["concrete"], ["aggregate"]),
    ],
)
def test_every_real_lab_loads_as_it_is(slug, tasks, qrels):
    lab = read_lab(SourceFolder(DATA / slug, reads_beside=True))

    assert (lab.slug, [task.slug for task in lab.tasks]) == (slug, tasks)
    assert [one.name for task in lab.tasks for one in task.qrels] == qrels
    assert all(one.frame.height > 0 for task in lab.tasks for one in task.qrels)


@needs_data
def test_the_real_ntcir_lab_counts_relevant_from_three():
    (qrels,) = read_lab(SourceFolder(DATA / "ntcir-12-wfb", reads_beside=True)).tasks[0].qrels

    assert (qrels.labels, qrels.relevant_from, qrels.items) == (NTCIR, 3, ItemKind.FORMULA_IDS)


def test_qrels_are_read_though_their_name_is_wrong(folder):
    (folder / "qrels.tsv").write_text(f"A.1\t0\t{'7' * 301}\t3\n")
    found = mistakes(
        folder, HEAD + TASK + f'qrels = [{{ name = "{"n" * 51}", file = "qrels.tsv" }}]\n'
    )

    assert [name for name, _, _ in found] == ["lab.toml", "qrels.tsv"]


def test_a_name_that_no_system_takes_is_no_file(folder):
    text = HEAD + TASK.replace("topics.xml", "t" * 5000)

    assert "which is a path of 5,000 characters" in mistakes(folder, text)[0][2]


def test_a_file_that_may_not_be_read_is_named(folder, monkeypatch):
    def denied(path: SourcePath) -> bytes:
        raise PermissionError(13, "Permission denied")

    (folder / "lab.toml").write_text(HEAD + TASK)
    read = SourcePath.content
    monkeypatch.setattr(
        SourcePath, "content", lambda it: (denied if it.path.suffix == ".xml" else read)(it)
    )
    with pytest.raises(FileRefusedError, match=r"an unreadable file \(Permission denied\)"):
        read_lab(SourceFolder(folder))


def test_a_topic_knows_the_question_that_it_was_made_of(folder):
    (folder / "formulas.tsv").write_text(
        "id\ttopic_id\tthread_id\ttype\tformula\r\nq_1\tA.1\t4235721\ttitle\tx\r\n"
    )
    text = TASK + 'topic_formulas = "formulas.tsv"\n'
    formulas = (
        text.replace("topics.xml", "formulas.txt")
        .replace("answers", "formulas")
        .replace("task1", "task2")
    )

    assert [task.threads for task in lab_of(folder, HEAD + text + formulas).tasks] == [
        {"A.1": "4235721"},
        {"B.1": "4235721"},
    ]


def test_an_index_of_topic_formulas_without_threads_is_reported(folder):
    (folder / "formulas.tsv").write_text("id\ttopic_id\nq_1\tA.1\n")

    assert mistakes(folder, HEAD + TASK + 'topic_formulas = "formulas.tsv"\n') == [
        ("formulas.tsv", 1, "the headings 'id\\ttopic_id'")
    ]


WRITTEN = (
    '[[tasks]]\nslug = "task3"\nname = "QA"\nkind = "written-answers"\ntopics = "topics.xml"\n'
)


def test_a_task_may_name_the_ids_of_its_published_answers(folder):
    (folder / "ids.tsv").write_text("gpt.tsv\tA.1\td_17\n")

    [task] = lab_of(folder, HEAD + WRITTEN + 'answer_ids = "ids.tsv"\n').tasks

    assert task.answer_ids.rows() == [("gpt", "A.1", "d_17")]


@pytest.mark.parametrize(
    ("task", "mistake"),
    [
        (TASK, ("lab.toml", 10, "answer_ids in a task of kind answers")),
        (WRITTEN, ("ids.tsv", 1, "the topic A.9")),
    ],
)
def test_answer_ids_are_checked_with_their_task(folder, task, mistake):
    (folder / "ids.tsv").write_text("gpt\tA.9\td_17\n")

    assert mistakes(folder, HEAD + task + 'answer_ids = "ids.tsv"\n') == [mistake]


@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_count_of_relevant_items_is_from_the_level_of_the_task(folder, level):
    """As in ../shared/cases/lab-numrel.toml, which was refused as NumRel(rel=2)."""
    rules = f'labels = "0-3"\nrelevant_from = {level}\nmeasures = ["NumRel", "NumQ"]\n'
    documents = '[[tasks]]\nslug = "t"\nname = "t"\nkind = "documents"\n'

    [task] = lab_of(folder, HEAD.replace("arqmath-3", "ntcir-12") + documents + rules).tasks

    measures = parse_measures(task.protocol.measures, relevant_from=task.protocol.relevant_from)
    assert [measure.name for measure in measures] == [f"NumRel(rel={level})", "NumQ"]
