"""What the page of a round of special questions shows: the answers by question and by run."""

from dataclasses import dataclass

from analyses.services.special_questions import (
    MEASURES,
    QuestionAnswers,
    RoundAnswers,
    RunAnswers,
    round_answers,
)
from arqlab.web import Column, Table, cells, task_url
from assessment.models import Round


@dataclass(frozen=True, kw_only=True)
class QuestionPart:
    """The answers to special questions: a table of the questions, and one of the runs."""

    questions: Table[QuestionAnswers]
    runs: Table[RunAnswers]


def answers_part(round_: Round) -> QuestionPart:
    """Return the answers to the questions of a round so far."""
    results = round_answers(round_)
    return QuestionPart(questions=_questions_table(results), runs=_runs_table(round_, results))


def _questions_table(results: RoundAnswers) -> Table[QuestionAnswers]:
    labels = [label.word for label, _ in results.questions[0].labels]

    def answers(place: int, word: str) -> Column[QuestionAnswers]:
        return Column(word, lambda row: row.labels[place][1], cells.COUNT)

    return Table[QuestionAnswers](
        "questions",
        [
            Column("Measure", lambda row: row.share.question.key, is_head=True),
            Column(
                "Question",
                lambda row: row.share.question.text,
                cells.PROSE,
                note=lambda row: row.share.question.help,
            ),
            *(answers(*label) for label in enumerate(labels)),
            Column("Share", lambda row: row.share.share, cells.TAU),
            Column(f"% not relevant, {labels[0]}", lambda row: row.counted, cells.TENTHS),
            Column("% not relevant, all", lambda row: row.every, cells.TENTHS),
        ],
        results.questions,
        caption="Items by answer, the share of the first answer, and the % of items that are "
        "officially not relevant: of those with the first answer, and of all.",
    )


def _runs_table(round_: Round, results: RoundAnswers) -> Table[RunAnswers]:
    lab, scored = round_.task.lab.slug, results.is_scored

    def mean(place: int, name: str) -> Column[RunAnswers]:
        heading = name if scored else ""
        return Column(heading, lambda row: row.means.values[place], cells.TAU, name=name)

    def share(place: int, key: str) -> tuple[Column[RunAnswers], Column[RunAnswers]]:
        return (
            Column(key, lambda row: row.shares[place].share, cells.TAU),
            Column("", lambda row: row.shares[place].answered, name=f"{key} answers"),
        )

    means = [mean(*measure) for measure in enumerate(MEASURES)]
    shares = [it for place, one in enumerate(round_.questions) for it in share(place, one.key)]
    scores = f"{' and '.join(MEASURES)} are scores by the current qrels. " if scored else ""
    return Table[RunAnswers](
        "runs",
        [
            Column("", lambda row: row.run.task.slug, name="task"),
            Column("Team", lambda row: row.run.team.name, name="team"),
            Column("Run", _run_link, is_head=True, name=None),
            Column("", lambda row: row.run.tag, name="run"),
            Column("", lambda row: row.run.is_baseline, name="baseline"),
            Column("", lambda row: row.run.standing.key, name="standing"),
            Column("", lambda row: row.run.is_manual, name="manual"),
            Column("", lambda row: row.run.answer_kind, name="kind"),
            Column("Type", _types, name=None),
            Column(
                "Topics" if scored else "", lambda row: row.means.topics, cells.COUNT, name="topics"
            ),
            *means,
            Column("Items", lambda row: row.items, cells.COUNT, name="items"),
            *shares,
        ],
        results.runs,
        caption=f"{scores}The measure of a question is the share of the run's items with its "
        "first answer.",
        file=f"{lab}-{round_.task.slug}-{round_.key}",
    )


def _run_link(row: RunAnswers) -> str:
    return cells.run_name(row.run, task_url("run", row.run.task, row.run.pk))


def _types(row: RunAnswers) -> str:
    kind = row.run.get_answer_kind_display().lower() if row.run.answer_kind else ""
    return ", ".join(filter(None, ["manual" if row.run.is_manual else "automatic", kind]))
