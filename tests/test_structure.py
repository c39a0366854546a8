"""The rules of the source tree that no linter knows."""

import ast
import hashlib
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from math import ceil
from pathlib import Path
from statistics import median

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from tests.paths import PACKAGES, ROOT

# Each template folder may load the tag libraries of its own level and of those below.
TAG_LIBRARIES = {
    "core_tags": 0,
    "places": 0,
    "tabs": 0,
    "notices_tags": 0,
    "collection_tags": 1,
    "run_tags": 2,
    "assessment_tags": 3,
    "desk_tags": 6,
}
# The levels of apps, and of their folders of templates.
LEVELS = {
    "labs": 1,
    "jobs": 2,
    "teams": 3,
    "accounts": 4,
    "account": 5,  # pages of allauth, which we frame
    "mfa": 5,
    "server": 5,
    "notices": 5,
    "collection": 6,
    "submissions": 7,
    "assessment": 8,
    "evaluation": 9,
    "analyses": 10,
    "desk": 11,
    **dict.fromkeys(settings.OPTIONAL_APPS, 12),
}
WITHIN = ("arqlab", "contrib")
"""The folders of apps."""
FILE_LINES = 500
COLUMNS = {".py": 100, ".js": 100, ".css": 100, ".html": 120}
"""The width of a line, by the ending of a file: a longer one counts as several."""
BODY_LINES = {"function": 50, "view": 25, "task": 5}
MODULES_PER_FOLDER = 25
FILLERS = {
    *(
        "known",
        "own",
        "chosen",
        "wanted",
        "given",
        "kept",
        "asked",
        "held",
        "found",
        "told",
        "said",
    ),
    *("shown", "seen", "left", "taken", "made", "used"),
}
"""Words that say what was done with a thing, and not what it is."""
FILLERS_PER_CENT = 1
"""The functions that may bind one of them."""
ANY_PER_1000_LINES = 2.67
"""The uses of `Any` that product code may have; the goal is 7, and the figure only falls."""
VIEW_MODULES, VIEW_NAMES = 8, 22
"""Our modules, and their names, that a module of views imports in the median: both only fall."""
AS_SOMEBODY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
LANDED = "tests/upgrades/landed-migrations.txt"
"""The hashes of all migrations, as sha256sum writes them: a migration that landed never changes."""


def product_files() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def public_names(path: Path) -> Iterator[str]:
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    # Django finds a management command by the name Command.
    yield from (name for name in names if not name.startswith("_") and name != "Command")


def test_no_two_public_classes_or_functions_share_a_name():
    places = defaultdict(list)
    for path in product_files():
        for name in set(public_names(path)):  # an overload has several definitions
            places[name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def lines_of(path: Path) -> int:
    """Return the lines of a file if its long lines were broken."""
    width = COLUMNS[path.suffix]
    lines = path.read_text(encoding="utf-8").splitlines()
    return sum(max(1, ceil(len(line) / width)) for line in lines)


@pytest.mark.parametrize("folder", [*PACKAGES, "templates", "static/js", "static/css"])
def test_a_file_has_at_most_500_lines(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in COLUMNS]
    own = [path for path in files if "migrations" not in path.parts and ".min." not in path.name]
    lengths = {path: lines_of(path) for path in own}
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in product_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield str(path.relative_to(ROOT)), node


def kind_of(function: ast.FunctionDef) -> str:
    decorators = " ".join(ast.unparse(node) for node in function.decorator_list)
    if "app.task" in decorators:
        return "task"
    return "view" if re.search(r"\bpages\.(read|form|action)\(", decorators) else "function"


def body_lines(function: ast.FunctionDef) -> int:
    """Return the lines of a function below its docstring."""
    statements = function.body[ast.get_docstring(function) is not None :]
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def test_functions_views_and_tasks_keep_their_limits():
    lengths = {(path, node.name, kind_of(node)): body_lines(node) for path, node in functions()}
    assert {kind for *_, kind in lengths} == set(BODY_LINES)
    assert {place: n for place, n in lengths.items() if n > BODY_LINES[place[-1]]} == {}


def bound_names(function: ast.FunctionDef) -> set[str]:
    """Return the names that a function binds, without the functions that are defined in it."""
    names = set()
    nodes: list[ast.AST] = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        if not isinstance(node, ast.FunctionDef):
            nodes += ast.iter_child_nodes(node)
    return names


def test_bound_names_are_parameters_assignments_loops_walruses_and_comprehensions():
    source = """
def function(known, *, own=1, **given):
    held = read.kept(asked=known, key=lambda told: told)
    for chosen, row.left in rows:
        if found := [seen for seen in chosen]:
            taken: int = 0
    def inner(wanted):
        made = 1
"""
    function = ast.parse(source).body[0]
    inner = function.body[-1]

    names = {"known", "own", "given", "held", "told", "chosen", "found", "seen", "taken"}
    assert bound_names(function) == names
    assert bound_names(inner) == {"wanted", "made"}


def test_few_functions_call_a_thing_by_what_was_done_with_it():
    """A thing has the noun of its field, such as run or cells; a flag asks, such as `is_own`."""
    places = [
        f"{path}: {node.name} ({', '.join(sorted(names))})"
        for path, node in functions()
        if (names := bound_names(node) & FILLERS)
    ]
    share = 100 * len(places) / sum(1 for _ in functions())
    assert share <= FILLERS_PER_CENT, "\n".join(places)


def names_of(node: ast.Assign | ast.AnnAssign) -> set[str]:
    """Return the names that a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [it for target in targets for it in ast.walk(target)]
    return {it.id for it in parts if isinstance(it, ast.Name)}


def constants_below(source: str) -> list[str]:
    """Return the constants below the first function or class that read nothing defined there."""
    constants, below = [], set()
    has_begun = False
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            has_begun = True
            below.add(node.name)
        elif has_begun and isinstance(node, ast.Assign | ast.AnnAssign):
            read = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)} & below
            names = names_of(node)
            if read:
                below |= names
            else:
                constants += sorted(names)
    return constants


def test_a_constant_below_a_function_that_it_does_not_read_is_listed():
    source = """
ABOVE = 1
def function(): ...
FIRST, SECOND = 1, 2
CALLED = function()
THIRD: int = ABOVE
FOURTH = [CALLED]
"""
    assert constants_below(source) == ["FIRST", "SECOND", "THIRD"]


def test_constants_are_above_the_functions_of_their_module():
    places = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in product_files()
        for name in constants_below(path.read_text(encoding="utf-8"))
    ]
    assert places == []


def test_a_folder_has_at_most_25_modules():
    modules = defaultdict(int)
    for path in (*product_files(), *(ROOT / "static" / "js").rglob("*.js")):
        modules[str(path.parent)] += path.name != "__init__.py"
    assert {folder: n for folder, n in modules.items() if n > MODULES_PER_FOLDER} == {}


def test_templates_load_no_tag_library_of_an_upper_app():
    wrong = []
    for path in sorted((ROOT / "templates").rglob("*.html")):
        level = LEVELS.get(path.relative_to(ROOT / "templates").parts[0], 0)
        for names in re.findall(r"{% load ([^%]*)%}", path.read_text(encoding="utf-8")):
            upper = [name for name in names.split() if TAG_LIBRARIES.get(name, 0) > level]
            wrong += [f"{path.relative_to(ROOT)} loads {name}" for name in upper]
    assert wrong == []


def test_no_app_names_a_page_of_an_app_above():
    """`arqlab.web.places` links such a page by what it shows, so that its app can be left out."""
    wrong = []
    templates = sorted((ROOT / "templates").rglob("*.html"))
    for path in (*product_files(), *templates):
        parts = path.relative_to(ROOT / "templates" if path in templates else ROOT).parts
        app = parts[1] if parts[0] in WITHIN else parts[0]
        allowed = {name for name, level in LEVELS.items() if level < LEVELS.get(app, 0)} | {app}
        names = set(re.findall(r"""["'](\w+):[\w-]+["']""", path.read_text(encoding="utf-8")))
        wrong += [f"{path}: {name}" for name in names & LEVELS.keys() - allowed]
    assert wrong == []


def test_every_tag_library_has_its_level():
    libraries = {path.stem for path in product_files() if path.parent.name == "templatetags"}
    assert libraries - {"__init__"} == set(TAG_LIBRARIES)


# The modules that work on rows of all rounds: they judge, or their rows are found by key.
ALL_ROUNDS = re.compile(
    r"assessment/(models|judging|rounds|tickets|guidelines|hours)/|contrib/(radar|timesheets)/|/pools/services/"
)
OF_ALL_ROUNDS = {f"assessment/qrels/selectors/{name}.py" for name in ("frames", "counts")}
ROUND_MODELS = re.compile(
    r"\b(Pool|PoolItem|PoolInstance|Judgment)\.objects\b|\b(task|instance)\.(pools|judgments)\."
)


def test_only_modules_that_judge_and_rounds_read_the_rows_of_all_rounds():
    wrong = []
    for path in product_files():
        name = str(path.relative_to(ROOT))
        if ALL_ROUNDS.search(name) or name in OF_ALL_ROUNDS:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if ROUND_MODELS.search(line):
                wrong.append(f"{name}:{number}: {line.strip()}")
    assert wrong == []


OPEN_QUERY = re.compile(r"\.iterator\(|\.fetchmany\(|\bin cursor(\.execute\(.*\))?:")


def test_no_query_stays_open_while_its_rows_are_worked_on():
    """SQLite refuses what a job writes meanwhile; `arqlab.core.models.reading` reads in chunks."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in product_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if OPEN_QUERY.search(line)
    ]
    assert wrong == []


NEW_TEAM = re.compile(r"\bTeam\(|\b(Team\.objects|teams)\.(\w+_or_)?(bulk_)?create\(")


def test_teams_are_created_by_one_service_which_asks_for_permission():
    creators = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if NEW_TEAM.search(path.read_text(encoding="utf-8"))
    }
    assert creators - {"arqlab/core/models/people.py"} == {"arqlab/teams/services.py"}


TABLE = re.compile(
    r"csv\.writer|write_csv\(|text/csv|tab-separated-values|exact_(response|table)\("
    r"|, exact=True"
)
EXACT_TABLES = {
    "arqlab/web/downloads.py": "the only module that answers with tables",
    "arqkit/formats/runs/writing.py": "runs for trec_eval",
    "arqkit/formats/tables.py": "the only writer of tables for people",
    "arqlab/core/services/storing.py": "rows for COPY of PostgreSQL",
    "arqlab/labs/views/information.py": "topic information, edited and uploaded again",
    "arqkit/formats/topics/files.py": "the index of topic formulas, read by systems",
    "arqkit/pooling/pools.py": "pools, whose hash is stored",
    "arqkit/formats/topics/information.py": "topic information, edited and uploaded again",
    "evaluation/views/tables.py": "the board, as the command writes it",
    "assessment/exports.py": "assignments, which a command reads",
    "assessment/judging/selectors/judgment_tables.py": "judgments, which another server imports",
    "submissions/services/run_files.py": "the manifest of runs, which organizers load",
    "submissions/exports.py": "answer ids, which a lab folder has",
    "collection/exports.py": "visual ids, read by systems",
    "arqkit/formats/turkle.py": "a batch, read by Turkle",
    "arqkit/texts/posts/topic_making.py": "candidates, read by the page of candidates",
    "assessment/pools/selectors/sources.py": "a digest",
    "assessment/pools/views/frozen.py": "pools, whose hash is stored",
    "assessment/qrels/views/versions.py": "qrels for trec_eval",
    "collection/management/commands/export_visual_ids.py": "visual ids, read by systems",
    "analyses/services/contests.py": "a digest",
    "analyses/services/special_questions.py": "a digest",
    "submissions/views/changing.py": "runs for trec_eval",
}


def test_every_table_to_download_is_written_where_formulas_are_defused():
    writers = {
        str(path.relative_to(ROOT))
        for path in product_files()
        if TABLE.search(path.read_text(encoding="utf-8"))
    }
    assert writers == set(EXACT_TABLES)


def views_without_a_page() -> set[str]:
    """Return the views of our apps that declare no `Page`, by their names; APIs are classes."""
    views = [pattern.callback for pattern in all_patterns(get_resolver())]
    own = [view for view in views if view.__module__.split(".")[0] in PACKAGES]
    return {view.__name__ for view in own if not hasattr(view, "page")} - {
        view.__name__ for view in own if hasattr(view, "cls")
    }


def all_patterns(resolver: URLResolver) -> Iterator[URLPattern]:
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern
        else:
            yield from all_patterns(pattern)


def test_every_module_of_views_is_served():
    texts = {path: path.read_text("utf-8") for path in product_files()}
    paths = [path for path, text in texts.items() if re.search("^pages = Pages", text, re.M)]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]
    left_out = tuple(f"contrib.{app}." for app in settings.WITHOUT)
    names = [name for name in names if not name.startswith(left_out)]
    declared = {name: {url.callback for url in import_module(name).pages.urls} for name in names}
    served = {pattern.callback for pattern in all_patterns(get_resolver())}
    assert declared
    assert {name: views - served for name, views in declared.items() if views - served} == {}


def test_a_literal_address_is_asked_before_one_with_a_placeholder():
    formulas = resolve("/labs/lab/formulas/by-id/f.1/"), resolve("/labs/lab/formulas/by/id/")
    assert [match.url_name for match in formulas] == ["formula-by-id", "formula-detail"]
    topics = "/labs/lab/tasks/task/topics/"
    assert resolve(f"{topics}information/").url_name == "topic-information"
    assert resolve(f"{topics}A.1/").url_name == "topic-detail"


def test_every_view_is_declared_as_a_page():
    assert views_without_a_page() == set()


def test_a_view_takes_only_post_for_a_change():
    """A view that asks for GET takes HEAD for a change."""
    asks = [path for path in product_files() if 'method == "GET"' in path.read_text("utf-8")]
    assert asks == []


def migration_lines(root: Path) -> list[str]:
    """Return the lines that list the migrations below a folder."""
    files = (path for package in PACKAGES for path in root.glob(f"{package}/**/migrations/0*.py"))
    return [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(root).as_posix()}"
        for path in sorted(files)
    ]


def name_of(line: str) -> str:
    """Return the app and the file of a listed migration: an app may move into another folder."""
    return "/".join(Path(line.split("  ")[1]).parts[-3:])


def migration_faults(landed: list[str], current: list[str]) -> list[str]:
    """Return what is wrong with the migrations, compared with the list of landed migrations."""
    names = {name_of(line) for line in landed}
    new = [line.split("  ")[1] for line in current if name_of(line) not in names]
    listed = {(line.split("  ")[0], name_of(line)) for line in current}
    changed = [
        f"Migration {line.split('  ')[1]} landed, and has changed or is missing. Take it back from"
        " main, and write another one."
        for line in landed
        if (line.split("  ")[0], name_of(line)) not in listed
    ]
    return changed + [f"{path} is new. Run: sha256sum {path} >> {LANDED}" for path in new]


def earlier_lists(root: Path) -> Iterator[list[str]]:
    """Yield the list at each commit that changed it, as far as the history is here."""
    git = ("git", "-C", str(root))
    log = subprocess.run(
        [*git, "log", "--format=%H", "HEAD", "--", LANDED], capture_output=True, text=True
    )
    for commit in log.stdout.split() if log.returncode == 0 else ():
        text = subprocess.run(
            [*git, "show", f"{commit}:{LANDED}"], capture_output=True, text=True, check=True
        )
        yield text.stdout.splitlines()


def landed_migrations() -> list[str]:
    return (ROOT / LANDED).read_text(encoding="utf-8").splitlines()


def test_a_migration_that_landed_never_changes_and_a_new_one_is_listed():
    assert migration_faults(landed_migrations(), migration_lines(ROOT)) == []


def test_the_list_of_migrations_is_only_appended_to():
    landed = landed_migrations()

    assert len(landed) == len(set(landed)) >= 18
    for earlier in earlier_lists(ROOT):
        assert landed[: len(earlier)] == earlier


def test_a_changed_a_deleted_and_a_new_migration_are_reported(tmp_path):
    folder = tmp_path / "desk" / "migrations"
    folder.mkdir(parents=True)
    for name in ("0001_initial", "0002_more"):
        (folder / f"{name}.py").write_text(name)
    landed = migration_lines(tmp_path)
    (folder / "0001_initial.py").write_text("edited")
    (folder / "0002_more.py").unlink()
    (folder / "0003_new.py").write_text("new")

    faults = migration_faults(landed, migration_lines(tmp_path))

    named = [re.findall(r"desk/migrations/000\d", fault)[0][-1] for fault in faults]
    assert named == ["1", "2", "3"]
    assert f"sha256sum desk/migrations/0003_new.py >> {LANDED}" in faults[2]


def test_a_list_that_lost_a_line_is_seen_in_the_history(tmp_path):
    place = tmp_path / LANDED
    place.parent.mkdir(parents=True)
    for text in ("a  1\n", "a  1\nb  2\n", "b  2\n"):
        place.write_text(text)
        for words in (["init", "-q"], ["add", "-A"], [*AS_SOMEBODY, "commit", "-q", "-m", text]):
            subprocess.run(["git", "-C", str(tmp_path), *words], check=True)

    assert list(earlier_lists(tmp_path)) == [["b  2"], ["a  1", "b  2"], ["a  1"]]


READS_ARCHIVE = re.compile(
    r"ZipFile|tarfile\.open|shutil\.unpack_archive|gzip\.open|bz2\.open|lzma\.open"
)
"""The functions of the standard library and of py7zr that open an archive."""
ARCHIVE_READERS = {
    "arqkit/formats/archives/unpacking.py": "the gate",
    "arqkit/formats/archives/uploads.py": "run files, in memory and never by their path",
    "contrib/operations/services/backup_archives.py": "backups, which only the operator makes",
    "contrib/papers/services/kept_kits.py": "a kit that the server kept",
}
OPENS = {"open", "read_bytes", "read_text", "iterdir", "rglob", "glob", "walk"}
"""The methods that open a file or list a folder."""
STORED = re.compile(r"kept|(run\.)?upload\.file|run\.(upload\.file|index)")
"""Storages and fields of models, whose names the server chose."""
OPENERS = {
    "arqkit/__main__.py": "files that the user of the command names",
    "arqkit/lab_commands.py": "files that the user of the command names",
    "arqkit/data_files.py": "data of the package",
    "arqkit/formats/archives/": "the gate",
    "arqkit/formats/dumps/sources.py": "a path from the gate",
    "arqkit/formats/formulas/index.py": "a path from the gate",
    "arqkit/formats/papers/matrices.py": "data of the package",
    "arqkit/formats/documents.py": "a path from the gate",
    "arqkit/formats/runs/packs.py": "a file that the user of the command names",
    "arqkit/formats/tables.py": "an archive that is written",
    "arqkit/formats/turkle.py": "data of the package",
    "arqkit/measures/contextual.py": "a folder of the server",
    "arqkit/parts.py": "files of the server",
    "arqkit/retrieval/": "indexes of the server",
    "arqkit/streams.py": "the null device",
    "arqkit/texts/maths/": "scripts of the package",
    "arqlab/": "files of the server: settings, caches, storages, guides",
    "collection/management/commands/": "files that the operator names",
    "collection/services/": "a path from the gate, and files of the server",
    "assessment/judging/": "scripts and styles of the server",
    "assessment/management/commands/export_pool.py": "a folder that the operator names",
    "contrib/retrieval/": "indexes of the server",
    "evaluation/selectors/records.py": "topics that the server kept",
    "contrib/papers/services/kept_kits.py": "a kit that the server kept",
    "desk/management/commands/build_demo.py": "data of the package",
    "desk/services/archive_tables.py": "tables that are written",
    "arqlab/core/caches.py": "the code of the product",
    "contrib/operations/services/backup_archives.py": "backups of the operator",
    "contrib/operations/services/backups.py": "backups of the operator",
    "desk/services/demo.py": "data of the package",
    "contrib/operations/services/doctor.py": "folders of the server",
    "desk/services/lab_archives.py": "an archive that is written",
    "desk/services/load_files.py": "the folder of unfinished uploads",
    "desk/services/upgrading.py": "the database of the server",
    "desk/services/static_site.py": "style sheets of the server",
}
"""The modules that open files by themselves, and why. What came from outside is opened by a
`SourcePath`, which no other module makes."""


def calls(path: Path) -> Iterator[ast.Call]:
    """Yield the calls in a module."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    yield from (node for node in nodes if isinstance(node, ast.Call))


def test_archives_from_outside_are_read_by_their_owner():
    readers = set()
    for path in product_files():
        for call in calls(path):
            modes = [*call.args[1:2], *(it.value for it in call.keywords if it.arg == "mode")]
            writes = any(ast.unparse(mode).strip("'").startswith("w") for mode in modes)
            if READS_ARCHIVE.search(ast.unparse(call.func)) and not writes:
                readers.add(str(path.relative_to(ROOT)))
    assert readers == set(ARCHIVE_READERS)


def test_files_from_outside_are_opened_by_their_owner():
    """A module that opens a path must say which: one that came from outside belongs to the gate."""
    openers = set()
    for path in product_files():
        for call in calls(path):
            name, on = (
                getattr(call.func, "attr", ""),
                ast.unparse(getattr(call.func, "value", call)),
            )
            if (name in OPENS and not STORED.fullmatch(on)) or ast.unparse(call.func) == "open":
                openers.add(str(path.relative_to(ROOT)))
    assert {name for name in openers if not any(map(name.startswith, OPENERS))} == set()
    assert {one for one in OPENERS if not any(name.startswith(one) for name in openers)} == set()


def uses_of_any(tree: ast.Module) -> int:
    """Return how often a module imports or names `Any`."""
    names = (it.id for it in ast.walk(tree) if isinstance(it, ast.Name))
    imported = (it.name for it in ast.walk(tree) if isinstance(it, ast.alias))
    return [*names, *imported].count("Any")


def test_uses_of_any_are_counted_in_imports_and_annotations():
    code = "from typing import Any, cast\ndef f(it: dict[str, Any]) -> Any: ..."
    assert uses_of_any(ast.parse(code)) == 3


def test_few_values_have_any_type():
    texts = [path.read_text(encoding="utf-8") for path in product_files()]
    uses = sum(uses_of_any(ast.parse(text)) for text in texts)
    assert 1000 * uses / sum(len(text.splitlines()) for text in texts) <= ANY_PER_1000_LINES


def untyped_tables(tree: ast.Module) -> list[int]:
    """Return the lines where a table or a column does not say of which rows it is."""
    subscripted = {id(it.value) for it in ast.walk(tree) if isinstance(it, ast.Subscript)}
    annotated = [
        *(it.annotation for it in ast.walk(tree) if isinstance(it, ast.AnnAssign | ast.arg)),
        *(it.returns for it in ast.walk(tree) if isinstance(it, ast.FunctionDef)),
        *(it.func for it in ast.walk(tree) if isinstance(it, ast.Call)),
    ]
    bare = [
        name.lineno
        for annotation in annotated
        if annotation
        for name in ast.walk(annotation)
        if isinstance(name, ast.Name) and name.id == "Table" and id(name) not in subscripted
    ]
    unknown = [
        it.lineno
        for it in ast.walk(tree)
        if isinstance(it, ast.Call) and ast.unparse(it.func) in ("Table[Any]", "Column[Any]")
    ]
    return sorted({*bare, *unknown})


def test_each_table_says_of_which_rows_it_is():
    """So that mypy reports a column that reads what no row has."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in product_files()}
    places = {path: lines for path, tree in trees.items() if (lines := untyped_tables(tree))}
    assert places == {}


def test_a_table_of_unknown_rows_is_seen():
    code = """
def first() -> Table:
    return Table[Run]("runs", columns, runs)
def second(table: list[Table[Run]]) -> Table[Run]:
    return Table("runs", columns, runs)
columns = [Column[Any]("Run", read)]
"""
    assert untyped_tables(ast.parse(code)) == [2, 5, 6]


DATA_FILES = {
    "formats.toml": "formats of run files",
    "problems.toml": "kinds of problems of run files",
    "starter.toml": "the files of a starter kit",
    "guidelines.toml": "the guidelines that a task starts with",
    "texts.toml": "the notices that organizers edit",
    "assessment/models/kinds.toml": "kinds of rounds",
    "arqkit/measures/kinds.toml": "kinds of measures",
    "systems.toml": "the organizers' systems",
    "names.toml": "allowed HTML",
    "rare_signs.toml": "signs",
    "latex.toml": "signs",
    "letter_slants.toml": "signs",
    "spacing.toml": "signs",
    "typesetting.toml": "macros and signs",
    "unicode_signs.toml": "signs",
    "bare_formulas.toml": "words of formulas",
}
"""The tables and texts that are read from beside a module, because people edit them without the
code. A sentence that the code says at one place stands there."""


def data_files() -> set[str]:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.toml"))
    return {str(path.relative_to(ROOT)) for path in files if path.name != "pyproject.toml"}


def test_tables_and_texts_beside_modules_are_those_that_people_edit():
    files = data_files()
    assert [file for file in files if not file.endswith(tuple(DATA_FILES))] == []
    assert [name for name in DATA_FILES if not any(file.endswith(name) for file in files)] == []


def names_of_data(tree: ast.Module) -> set[str]:
    """Return the constants of a module that hold what `data_beside` read, or a part of it."""
    names = {"data_beside"}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            if names & {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}:
                places = (one for target in targets for one in ast.walk(target))
                names |= {one.id for one in places if isinstance(one, ast.Name)}
    return names


def refusals_from_data(tree: ast.Module) -> list[str]:
    """Return what the errors of a module take by a key from what `data_beside` read."""
    names, errors = names_of_data(tree), ("Error", "error")
    raised = [
        call
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(errors)
    ]
    return [
        ast.unparse(node)
        for call in raised
        for node in ast.walk(call)
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in names
    ]


def test_what_is_refused_is_written_in_the_code():
    """A refusal from a file is tied to its place by a key that no tool follows."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in product_files()}
    assert {
        path: texts for path, tree in trees.items() if (texts := refusals_from_data(tree))
    } == {}


def test_a_refusal_from_a_file_is_seen():
    code = """
DATA = data_beside(__file__)
TEXTS: dict[str, str] = DATA["refused"]
def refuse(name):
    raise UserError(TEXTS["closed"].format(name=name), code="closed")
"""
    assert refusals_from_data(ast.parse(code)) == ["TEXTS['closed']"]


FRONTS = ("arqlab.web", "arqlab.core.views")
"""The packages whose `__all__` says what is imported from them, and not from their modules."""


def imported(source: str) -> set[tuple[str, str]]:
    """Return the modules of ours that a source imports from, each with the names of it."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    modules = {(str(node.module), alias.name) for node in nodes for alias in node.names}
    return {each for each in modules if each[0].split(".")[0] in PACKAGES}


def imported_past_a_front(source: str) -> set[str]:
    """Return the names that a source imports from a module behind a front, which has them too."""
    return {
        f"{module}.{name}"
        for front in FRONTS
        for module, name in imported(source)
        if module.startswith(f"{front}.")
        and {name, module.rpartition(".")[2]} & {*import_module(front).__all__}
    }


def is_behind(path: Path) -> bool:
    """Return whether a file is a module of a front, which imports the others as modules."""
    return path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").startswith(FRONTS)


def test_what_a_front_has_is_imported_from_it():
    apart = [path for path in product_files() if not is_behind(path)]
    past = {path.name: imported_past_a_front(path.read_text(encoding="utf-8")) for path in apart}
    assert {name: names for name, names in past.items() if names} == {}


def test_an_import_past_a_front_is_seen():
    source = "from arqlab.web.cells import DAY\nfrom arqlab.web.tables import Cell, Table\n"
    assert imported_past_a_front(source) == {"arqlab.web.cells.DAY", "arqlab.web.tables.Table"}


def test_a_module_of_views_imports_few_modules_and_names():
    views = [path for path in product_files() if "views" in path.parts and path.stem != "__init__"]
    pairs = [imported(path.read_text(encoding="utf-8")) for path in views]
    assert median(len({module for module, _ in each}) for each in pairs) <= VIEW_MODULES
    assert median(len({name for _, name in each}) for each in pairs) <= VIEW_NAMES
