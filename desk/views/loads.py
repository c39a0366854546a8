"""The pages that load labs, topics, qrels, judgments and collections, and the pages of loads."""

from functools import partial
from typing import NotRequired, TypedDict

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.text import Truncator, capfirst

from arqlab.core.files import kept
from arqlab.core.models import Job, Lab, Task, Visitor
from arqlab.core.views import require_administrator, sent_to, signed_in, told, wants_json
from arqlab.core.views.error_pages import page_of_form
from arqlab.jobs.services.jobs import REPEATABLE, repeat_job, retry_job, start_job, stop_job
from arqlab.jobs.tasks import queue_job
from arqlab.labs.permissions import organized_lab_or_404, organized_task_or_404, require_lab_creator
from arqlab.web import (
    LAB,
    TASK,
    Column,
    Empty,
    Pages,
    Table,
    answer,
    cells,
    news,
    problem_table,
    to,
)
from arqlab.web.jobs import JOB_KINDS
from desk.forms.loads import (
    ArchiveForm,
    CandidatesForm,
    CollectionFilesForm,
    JudgmentsForm,
    LabFilesForm,
    LoadForm,
    QrelsForm,
    RestoreForm,
    RunsForm,
    TopicsForm,
)
from desk.permissions import job_or_404
from desk.services.load_files import archive_name, store_files

pages = Pages(section="collection")

A_PAGE = 100
SECTIONS = {"topics": "topics", "qrels": "qrels", "judgments": "judging", "runs": "runs"}
"""The kinds of files that a task takes, and the sections of their pages."""
FORMS: dict[str, type[LoadForm]] = {
    "lab": LabFilesForm,
    "restore": RestoreForm,
    "topics": TopicsForm,
    "qrels": QrelsForm,
    "judgments": JudgmentsForm,
    "runs": RunsForm,
    "collection": CollectionFilesForm,
    "visual-ids": LoadForm,
    "candidates": CandidatesForm,
    "archive": ArchiveForm,
}
VERBS = {"candidates": "List", "restore": "Restore", "archive": "Write", "visual-ids": "Make"}
"""What jobs do that load nothing."""


def load_or_404(user: Visitor, load_id: int) -> Job:
    """Return the job for organizers of its lab if it loads or makes what a form asked for."""
    job = job_or_404(user, load_id)
    if job.kind not in FORMS:
        raise Http404
    return job


def archive_or_404(user: Visitor, load_id: int) -> Job:
    """Return the finished job for organizers of its lab if it wrote an archive."""
    job = job_or_404(user, load_id)
    if job.kind != "archive" or job.state != Job.State.DONE:
        raise Http404
    return job


@pages.form("load-lab/", "lab-load", shows="lab-load", section="", sign_in=True, takes_loads=True)
def lab_load(request: HttpRequest) -> HttpResponse:
    """Load a lab from a lab.toml and its files, or from an archive of its folder."""
    require_lab_creator(request)
    return _form_page(request, "lab", None)


@pages.form("restore-lab/", "lab-restore", section="", sign_in=True, takes_loads=True)
def lab_restore(request: HttpRequest) -> HttpResponse:
    """Restore a whole lab from its archive."""
    require_administrator(request)
    return _form_page(request, "restore", None)


@pages.form(
    f"{TASK}load/runs/",
    "runs-load",
    shows="runs-load",
    access=organized_task_or_404,
    takes_loads=True,
)
def runs_load(request: HttpRequest, task: Task) -> HttpResponse:
    """Load runs of several teams."""
    return _form_page(request, "runs", task)


@pages.form(
    f"{TASK}load/<slug:kind>/", "task-load", shows="task-load", access=organized_task_or_404
)
def task_load(request: HttpRequest, task: Task, kind: str) -> HttpResponse:
    """Load topics, qrels or judgments of a task."""
    if kind not in SECTIONS:
        raise Http404
    return _form_page(request, kind, task)


@pages.form(
    f"{LAB}collection/load/",
    "collection-load",
    shows="collection-load",
    access=organized_lab_or_404,
    takes_loads=True,
)
def collection_load(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Load files of a data dump or of formula indexes into the lab's collection."""
    return _form_page(request, "collection", lab)


@pages.form(
    f"{LAB}topic-candidates/",
    "candidates-load",
    shows="candidates-load",
    access=organized_lab_or_404,
)
def candidates_load(request: HttpRequest, lab: Lab) -> HttpResponse:
    """List the topic candidates of the lab's collection."""
    return _form_page(request, "candidates", lab)


@pages.form(f"{LAB}archives/new/", "archive-write", section="", access=organized_lab_or_404)
def archive_write(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Write the archive of the lab, or its test collection."""
    return _form_page(request, "archive", lab)


@pages.read("loads/<number:load>/archive.zip", "archive-file", section="", access=archive_or_404)
def archive_file(request: HttpRequest, load: Job) -> FileResponse:
    """Return the archive that a job wrote."""
    name = f"{load.lab and load.lab.slug}-{load.created_at:%Y-%m-%d}.zip"
    return FileResponse(kept.open(archive_name(load)), as_attachment=True, filename=name)


@pages.action(
    f"{LAB}collection/visual-ids/",
    "visual-ids-make",
    shows="visual-ids-make",
    access=organized_lab_or_404,
)
def visual_ids_make(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Make the next version of the visual ids of the lab's collection."""
    return redirect(_started(request, "visual-ids", lab, LoadForm({}, place=lab)))


@pages.read(f"{LAB}loads/", "load-list", shows="loads", access=organized_lab_or_404)
def load_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the loads of a lab, newest first."""
    table = Table[Job](
        "loads",
        [
            Column("Load", str, link=to("desk:load-detail", of=lambda row: row.pk), is_head=True),
            Column("State", lambda row: row.state, cells.CHIP, by="state"),
            Column("Task", lambda row: row.task and row.task.name),
            Column("Files", lambda load: ", ".join(file["name"] for file in load.files), cells.ID),
            Column("By", lambda row: row.by and row.by.name),
            Column("Started", lambda row: row.created_at, cells.TIME, by="pk"),
            Column(
                "Cancel or stop", template="desk/_load_stop.html", name=None, hides_heading=True
            ),
        ],
        Job.objects.filter(lab=lab, kind__in=FORMS).select_related("task", "by"),
        asked=request.GET,
        order="-started",
        empty=Empty(
            "No loads yet",
            "Load topics and qrels on the pages of a task, and collection files on the page of the "
            "collection.",
        ),
    )
    return answer(request, "desk/load_list.html", {}, table)


@pages.read("loads/<number:load>/", "load-detail", shows="load", access=load_or_404)
def load_detail(request: HttpRequest, load: Job) -> HttpResponse:
    """Show a load: its state, progress and report, and the form to repeat it."""
    stored = load.problems.all()
    page = Paginator(stored, A_PAGE).get_page(request.GET.get("page"))
    file = f"problems-of-load-{load.pk}"
    table = problem_table(stored, count=load.problem_count, page=page, file=file)
    tables = table, _changes_table(load), _files_table(load)
    return news(request, "desk/load_detail.html", _context(load), *tables)


class ChangeExample(TypedDict):
    """A thing that a load would change, with its stored value and that of the file."""

    name: str
    old: str
    new: str


class ChangeGroup(TypedDict):
    """Things of a kind that a load would change alike, as `Job.changes` stores them."""

    what: str
    fate: str
    count: int
    asks: NotRequired[bool]
    examples: list[ChangeExample]


class LoadedFile(TypedDict):
    """A file of a load, as `Job.files` stores it."""

    name: str
    size: int
    sha256: str


def _changes_table(load: Job) -> Table[ChangeGroup]:
    """Return what a load would change, by kind, with examples."""

    def fate(group: ChangeGroup) -> str:
        words = capfirst(group["fate"])
        return format_html("<strong>{}</strong>", words) if group.get("asks") else words

    def examples(group: ChangeGroup) -> str:
        lines = ((example["name"], _change(example)) for example in group["examples"])
        return format_html_join("", '<div><span class="id">{}</span>{}</div>', lines)

    return Table[ChangeGroup](
        "changes",
        [
            Column("What", lambda group: capfirst(group["what"]), is_head=True),
            Column("What happens", fate),
            Column("Number", lambda row: row["count"], cells.COUNT),
            Column("Examples (stored → file)", examples),
        ],
        load.changes.get("groups", []),
    )


def _change(example: ChangeExample) -> str:
    values = example["old"], example["new"]
    old, new = (Truncator(value or "none").chars(300) for value in values)
    return f": {old} → {new}" if any(values) else ""


def _files_table(load: Job) -> Table[LoadedFile]:
    return Table[LoadedFile](
        "files",
        [
            Column("File", lambda row: row["name"], cells.ID, is_head=True),
            Column("Bytes", lambda row: row["size"], cells.COUNT),
            Column("SHA-256", lambda file: file["sha256"][:12], cells.ID),
        ],
        load.files,
    )


@pages.action("loads/<number:load>/stop/", "load-stop", shows="load-stop", access=job_or_404)
def load_stop(request: HttpRequest, load: Job) -> HttpResponse:
    """Stop a job that waits, or ask the worker of a running one to stop."""
    stop_job(job=load, at=timezone.now(), by=signed_in(request))
    return redirect(load if load.kind in FORMS else page_of_form(request))


@pages.action("loads/<number:load>/retry/", "load-retry", access=load_or_404)
def load_retry(request: HttpRequest, load: Job) -> HttpResponse:
    """Try a load now that waits after a fault of the server."""
    retry_job(job=load)
    queue_job(load)
    return redirect(load)


@pages.action("loads/<number:load>/repeat/", "load-repeat", access=load_or_404, takes_loads=True)
def load_repeat(request: HttpRequest, load: Job) -> HttpResponse:
    """Repeat a load that loaded nothing, confirmed, or with more or corrected files."""
    form = FORMS[load.kind](request.POST, request.FILES, place=_place(load), again=True)
    if not form.is_valid():
        return _refused(request, load.kind, _place(load), form)
    with told(request):
        repeat_job(
            job=load,
            options=form.options,
            at=timezone.now(),
            by=signed_in(request),
            store=partial(store_files, uploads=form.uploads, replaced=form.single),
        )
        queue_job(load)
    return sent_to(request, reverse("desk:load-detail", args=[load.pk]))


def _form_page(request: HttpRequest, kind: str, place: Lab | Task | None) -> HttpResponse:
    if request.method != "POST":
        return _page(request, kind, place, FORMS[kind](place=place))
    form = FORMS[kind](request.POST, request.FILES, place=place)
    if not form.is_valid():
        return _refused(request, kind, place, form)
    return sent_to(request, _started(request, kind, place, form))


def _started(request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm) -> str:
    """Start a load and return the address of its page."""
    has_fields = form.is_valid()
    load = start_job(
        job=Job(kind=kind, options=form.options if has_fields else {}),
        place=place,
        at=timezone.now(),
        by=signed_in(request),
        store=partial(store_files, uploads=form.uploads) if has_fields else None,
    )
    queue_job(load)
    return load.get_absolute_url()


def _page(
    request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm, status: int = 200
) -> HttpResponse:
    task = place if isinstance(place, Task) else None
    context = {
        "form": form,
        "kind": kind,
        "what": f"{VERBS.get(kind, 'Load')} {JOB_KINDS[kind].label.lower()}",
        "section": _section(kind, task),
        "earlier": _loads_without_lab(request, kind) if kind in ("lab", "restore") else [],
    }
    return render(request, "desk/load_form.html", context, status=status)


def _section(kind: str, task: Task | None) -> str:
    return SECTIONS.get(kind, "" if task or kind == "archive" else "collection")


def _loads_without_lab(request: HttpRequest, kind: str) -> QuerySet[Job]:
    """Return the user's loads that made no lab, newest first; no page of a lab lists them."""
    by = signed_in(request)
    return Job.objects.filter(kind=kind, lab=None, by=by)[:A_PAGE]


def _refused(
    request: HttpRequest, kind: str, place: Lab | Task | None, form: LoadForm
) -> HttpResponse:
    if wants_json(request):
        errors = [str(error) for field_errors in form.errors.values() for error in field_errors]
        return JsonResponse({"errors": errors}, status=422)
    return _page(request, kind, place, form, status=422)


def _place(load: Job) -> Lab | Task | None:
    return load.task or load.lab


def _context(load: Job) -> dict[str, object]:
    again = load.state in REPEATABLE
    return {
        "load": load,
        "what": f"{VERBS.get(load.kind, 'Load')} {load.label.lower()}",
        "section": _section(load.kind, load.task),
        "form": FORMS[load.kind](
            place=_place(load),
            again=True,
            initial={**load.options, "confirmed": load.changes.get("digest", "")},
        )
        if again
        else None,
        "seen": f"{load.state}-{load.done}-{load.attempts}-{load.is_stopping}",
    }
