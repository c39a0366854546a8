"""The systems of systems.toml, with what they need, their settings and what they rank."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, TypedDict, cast

import polars as pl
from django.conf import settings as django_settings

from arqkit.data_files import data_beside
from arqkit.extras import lacks_package
from arqkit.formats.runs.answers import ANSWERS
from arqkit.records import TASK_WORDS, TaskKind, TopicRecord
from arqkit.retrieval.controls import linked_answers_by_votes, shuffled_items
from arqkit.retrieval.generation import Endpoint, GenerationError, GenerationSettings, short_answer
from arqkit.retrieval.rankings import RRF_CONSTANT, min_max_average, reciprocal_rank_fusion
from arqkit.retrieval.triplets import TrainingSettings
from arqkit.retrieval.words import BM25_SETTINGS, TF_IDF_SETTINGS
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.web.jobs import JobLane
from contrib.retrieval.models import SystemRun
from contrib.retrieval.selectors import Sources, has_links, has_votes, ranking_of_run
from contrib.retrieval.services.indexes import Progress
from contrib.retrieval.services.recording import Facts
from contrib.retrieval.services.timing import DIGITS, Ranked, ranked_by_topic
from submissions.models import Run

KEPT = "The answers so far are kept: make the baseline again to ask for the others only."

Rank = Callable[[Sources, Mapping[str, object], Progress], Ranked]
Need = Callable[[Sources], str]
"""What a system needs: returns what is lacking and what to do, or an empty text."""

_SETTINGS = {
    "tfidf": asdict(TF_IDF_SETTINGS),
    "bm25": asdict(BM25_SETTINGS),
    "equations": asdict(TrainingSettings()),
}


def endpoint() -> Endpoint:
    """Return the API that the server's settings name."""
    return Endpoint(django_settings.GENERATION_URL, django_settings.GENERATION_KEY)


def needs_model(sources: Sources) -> str:
    """Return what to do if no language model is configured."""
    if not (django_settings.GENERATION_URL and django_settings.GENERATION_MODEL):
        return (
            "No language model is configured. Set ARQLAB_GENERATION_URL and "
            "ARQLAB_GENERATION_MODEL on the server, or run make_baseline with --answers FILE."
        )
    return endpoint().needs()


def model_settings(task: Task) -> dict[str, object]:
    """Return the fields of `GenerationSettings` with the limit of a task's answers."""
    generation = GenerationSettings(
        django_settings.GENERATION_MODEL, max_characters=task.protocol.max_characters
    )
    return asdict(generation)


def by_model(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> Ranked:
    """Return the answer (topic, answer) of a language model to each topic.

    `settings` are fields of `GenerationSettings`. Every answer is kept as soon as it is there, so
    that a killed job does not ask for it again. Raise `UserError` if the model cannot be asked, or
    has no short answer to a topic.
    """
    generation, folder = GenerationSettings(**settings), _folder(sources.task, settings)
    answers, unanswered = list[tuple[str, str]](), list[str]()
    seconds = dict[str, float]()
    for done, topic in enumerate(sources.topics):
        tell = partial(progress, done, len(sources.topics))
        tell()
        prompt, wait = generation.prompt_of(topic), partial(_wait, tell)
        complete = partial(endpoint().complete, prompt, generation, wait=wait)
        is_asked, start = not _file(folder, prompt).exists(), monotonic()
        try:
            answer = _kept(folder, prompt, partial(short_answer, complete, generation))
        except GenerationError as error:
            raise UserError(f"{error} {KEPT}", code="generation") from error
        if answer is None:
            unanswered.append(topic.query_id)
        else:
            answers.append((topic.query_id, answer))
            if is_asked:  # an answer that was kept took its time in an earlier attempt
                seconds[topic.query_id] = round(monotonic() - start, DIGITS)
    if unanswered:
        raise UserError(
            f"The language model has no answer of 1 to {generation.max_characters:,} characters to "
            f"{', '.join(unanswered)} in {generation.tries} tries. {KEPT}",
            code="generation",
        )
    return Ranked(pl.DataFrame(answers, schema=ANSWERS, orient="row"), seconds)


def _wait(tell: Callable[[], None], seconds: int) -> None:
    """Let seconds pass. `tell` is called each second, so that the job may be stopped."""
    until = monotonic() + seconds
    while (remaining := until - monotonic()) > 0:
        tell()
        sleep(min(remaining, 1))


def _folder(task: Task, settings: Mapping[str, object]) -> Path:
    """Return the folder of the answers for the next run of a task with some settings.

    Answers of a run that was submitted are not used again.
    """
    runs = SystemRun.objects.filter(run__task=task, system="generated").count()
    digest = hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()
    return Path(django_settings.DATA_DIR, "generated", f"{task.pk}-{runs + 1}-{digest[:12]}")


def _file(folder: Path, prompt: str) -> Path:
    return folder / hashlib.sha256(prompt.encode()).hexdigest()


def _kept(folder: Path, prompt: str, ask: Callable[[], str | None]) -> str | None:
    """Return the stored answer to a prompt, or ask for one and store it."""
    file = _file(folder, prompt)
    if file.exists():
        return file.read_bytes().decode()
    if (answer := ask()) is not None:
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_bytes(answer.encode())
        part.rename(file)
    return answer


def needs_topics(sources: Sources) -> str:
    """Return what to do if the task has no topics."""
    return "" if sources.topics else f"{sources.task.name} has no topics. Load its topics."


def needs_items(sources: Sources) -> str:
    """Return what to do if the collection has nothing that the task retrieves."""
    if sources.collection is None:
        return "The lab has no collection. Load one under Collection."
    if TaskKind(sources.task.kind) is TaskKind.FORMULAS:
        return needs_formulas(sources)
    if sources.collection.posts_index:
        return ""
    return "The collection has no posts. Load them under Collection, or with import_posts."


def needs_formulas(sources: Sources) -> str:
    """Return what to do if the collection has no formulas."""
    if sources.collection and sources.collection.formulas_index:
        return ""
    return "The collection has no formulas. Load them under Collection, or with import_formulas."


def needs_links(sources: Sources) -> str:
    """Return what to do if topics have no threads, or posts have no links or votes."""
    if not sources.task.topics.exclude(thread_id="").exists():
        return (
            "The threads of the topics are not known. Load the topics with the index of their "
            "formulas, which names them."
        )
    if sources.collection is None or not has_links(sources.collection):
        return "The collection has no links of posts. Load PostLinks.xml of the dump."
    if not has_votes(sources.collection):
        return "The posts have no vote scores. Load a dump that has them."
    return ""


def needs_package(package: str, extra: str) -> Need:
    """Return the need of a package that is installed with an extra of arqkit."""

    def lacks(sources: Sources) -> str:
        return "" if find_spec(package) else lacks_package(package, extra, on_server=True)

    return lacks


def _records_nothing(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
    return {}


@dataclass(frozen=True)
class System:
    """A system of the organizers, from systems.toml. `key` names it, and tags its runs.

    `kinds` are the tasks it serves, `needs` what it cannot do without, `settings` its parameters,
    and `rank` what it does: it gets the sources, the settings and a callback for its progress, and
    returns a ranking (topic, item, score), or in Task 3 the answers (topic, answer).
    """

    key: str
    name: str
    description: str
    kinds: tuple[TaskKind, ...]
    rank: Rank
    needs: tuple[Need, ...]
    data_used: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    """The packages whose versions are recorded, as they are imported."""
    records: Facts = _records_nothing
    """What else is recorded after the system has ranked, such as the hash of its model."""
    configured: Callable[[Task], Mapping[str, object]] = lambda task: {}
    """Settings that depend on the server or on the task."""
    lane: JobLane = JobLane.HOURS
    """Where the job waits that makes a baseline of it: the first one builds an index."""
    is_control: bool = False
    """Whether its runs are controls, which no pool takes unless organizers choose how."""
    asks: bool = False
    """Whether its settings must be chosen, so that it is not among the systems for a task."""

    def refusal(self, sources: Sources) -> str:
        """Return why the system cannot rank for a task, and what to do; empty if it can."""
        if (kind := TaskKind(sources.task.kind)) not in self.kinds:
            return f"This system does not retrieve {TASK_WORDS[kind].retrieved}."
        return next(filter(None, (need(sources) for need in self.needs)), "")


def _recorded_later(module: str, name: str) -> Facts:
    """Return what a system records, in a module that loads large packages."""

    def facts(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
        owner = import_module(f"contrib.retrieval.services.{module}")
        recorded: Mapping[str, object] = getattr(owner, name)(sources, settings)
        return recorded

    return facts


def _later(module: str, name: str) -> Rank:
    """Return what a system does, in a module that loads large packages when it is first needed."""

    def rank(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
        owner = import_module(f"contrib.retrieval.services.{module}")
        ranked: Ranked = getattr(owner, name)(sources, settings, progress)
        return ranked

    return rank


def random_order(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return items of the collection in random order, the same for the same seed and topic."""
    items, seed = sources.item_ids(), cast("int", settings["seed"])

    def shuffled(topic: TopicRecord) -> pl.DataFrame:
        return shuffled_items([topic.query_id], items, seed=seed)

    return ranked_by_topic(sources.topics, progress, shuffled)


def linked_answers(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return all answers of threads linked as duplicates, by vote score (seed 000, §4.3)."""
    links = sources.duplicates()
    answers = sources.voted_answers(thread for link in links for thread in link)
    threads = sources.threads()

    def linked(topic: TopicRecord) -> pl.DataFrame | None:
        thread = threads.get(topic.query_id)
        return linked_answers_by_votes({topic.query_id: thread}, links, answers) if thread else None

    return ranked_by_topic(sources.topics, progress, linked)


class Combination(TypedDict):
    """The settings of a combination: a key of `METHODS`, and the identifiers of runs."""

    method: str
    runs: list[str]


def combined_runs(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return the combination of the runs that the settings name by their identifiers."""
    combination = cast("Combination", settings)
    scorable = Run.objects.scorable().filter(task=sources.task).select_related("task__lab")
    runs = [scorable.filter(identifier=name).first() for name in combination["runs"]]
    if None in runs:
        raise UserError("A run of the combination was withdrawn. Choose other runs.")
    progress(0, len(sources.topics))
    rankings = [ranking_of_run(run) for run in runs if run]
    return Ranked(METHODS[combination["method"]].combine(rankings), {})


def combination_facts(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
    """Return the weights of the runs, or the constant that is added to their ranks."""
    combination = cast("Combination", settings)
    runs = combination["runs"]
    if combination["method"] == "min-max":
        return {"weights": {run: round(1 / len(runs), 3) for run in runs}}
    return {"constant": RRF_CONSTANT}


class Method(NamedTuple):
    """How runs are combined: its name for people, and a function of their rankings."""

    name: str
    combine: Callable[[Sequence[pl.DataFrame]], pl.DataFrame]


METHODS = {
    "min-max": Method("Average of scores between 0 and 1 (min-max)", min_max_average),
    "reciprocal-rank": Method("Reciprocal rank fusion", reciprocal_rank_fusion),
}
"""The ways to combine runs, by their names in settings."""
_NEEDS = {
    "topics": needs_topics,
    "items": needs_items,
    "formulas": needs_formulas,
    "links": needs_links,
    "model": needs_model,
}


@dataclass(frozen=True)
class Declaration:
    """A system as systems.toml declares it: `packages` with the extras that bring them, and the
    names of functions. The rest are fields of `System`.
    """

    name: str
    description: str
    kinds: list[str]
    rank: str
    needs: list[str]
    data_used: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    records: str = ""
    lane: str = JobLane.HOURS
    is_control: bool = False
    asks: bool = False

    def system(self, key: str) -> System:
        """Return the system that is declared."""
        lacks = [needs_package(*both) for both in self.packages.items()]
        records = _recorded_later(*self.records.split(".")) if self.records else _records_nothing
        return System(
            key,
            self.name,
            self.description,
            kinds=tuple(map(TaskKind, self.kinds)),
            rank=_later(*self.rank.split(".")),
            needs=(*(_NEEDS[name] for name in self.needs), *lacks),
            data_used=self.data_used,
            settings=_SETTINGS.get(key) or self.settings,
            packages=tuple(self.packages),
            records=records,
            configured=model_settings if key == "generated" else lambda task: {},
            lane=JobLane(self.lane),
            is_control=self.is_control,
            asks=self.asks,
        )


SYSTEMS = {key: Declaration(**fields).system(key) for key, fields in data_beside(__file__).items()}
COMBINATION, GENERATED = SYSTEMS["combination"], SYSTEMS["generated"]


def systems_for(task: Task) -> list[System]:
    """Return the systems that serve a kind of task, whether they can run or not."""
    kind = TaskKind(task.kind)
    return [system for system in SYSTEMS.values() if kind in system.kinds and not system.asks]


def system_named(key: str) -> System:
    """Return a system by its key, or raise `UserError` with the keys there are."""
    if key not in SYSTEMS:
        raise UserError(
            f"There is no system {key!r}. Choose one of {', '.join(SYSTEMS)}.",
            code="unknown-system",
        )
    return SYSTEMS[key]
