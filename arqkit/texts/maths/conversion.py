"""The converter from LaTeX to MathML for visual identity, and the name of its conversions."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

from arqkit.formulas.layout import layout_strings
from arqkit.texts.maths.mathjax import LONGEST
from arqkit.texts.maths.typesetting import TEMML, on_one_line, presentation_mathml

SCRIPT = Path(__file__).with_name("latexml.pl")
SECONDS = 10  # for one formula; the median is about 0.05
_READS_FILES = re.compile(
    r"\\(?:input|include|openin|openout|read|write|usepackage|RequirePackage|csname|catcode)|\^\^"
)

# Display environments belong to documents; inside a formula, inner environments replace them.
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{(align|flalign|gather|multline|eqnarray)\*?\}")
_INNER = {"align": "aligned", "flalign": "aligned", "gather": "gathered", "multline": "gathered"}

# The version of our macros, repairs and normalization. Raise it when they change.
RULES = 3

NO_MATHML = "The converter returns no MathML."
NO_LAYOUT = "The MathML from the converter cannot be read."


@cache
def latexml_name() -> str | None:
    """Return the name and version of LaTeXML for its conversions, or None if it is missing."""
    perl = shutil.which("perl")
    if perl is None:
        return None
    command = [perl, "-MLaTeXML", "-e", "print $LaTeXML::VERSION"]
    process = subprocess.run(  # noqa: S603 no input
        command, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    version = process.stdout.strip()
    return f"latexml {version}" if process.returncode == 0 and version else None


@contextmanager
def latexml(*, content: bool = False) -> Iterator[Callable[[str], str | None]]:
    """Start LaTeXML and yield a function that converts a formula, without dollars, or returns None.

    It returns Presentation MathML, or Content MathML: an operator tree. Raises RuntimeError if
    LaTeXML is not installed or its process ends.
    """
    if latexml_name() is None:
        raise RuntimeError(
            "LaTeXML is not installed."
            " Install it (apt-get install latexml) or set ARQLAB_LATEXML=0."
        )
    command = ["perl", str(SCRIPT), str(SECONDS), str(int(content))]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(  # noqa: S603 no input
        command, stdin=pipe, stdout=pipe, stderr=quiet, encoding="utf-8"
    ) as process:
        try:
            yield lambda latex: _converted(process, latex)
        finally:
            process.kill()


def _converted(process: "subprocess.Popen[str]", latex: str) -> str | None:
    source = unescape(latex).strip()
    is_refused = not source or len(source) > LONGEST or _READS_FILES.search(source)
    if is_refused or not process.stdin or not process.stdout:
        return None
    inner = _ENVIRONMENT.sub(_inner_environment, on_one_line(source))
    process.stdin.write(json.dumps(f"${inner}$") + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise RuntimeError(
            "The LaTeXML process ended. Start the conversion again; finished conversions are kept."
        )
    layout = json.loads(answer)
    return layout if isinstance(layout, str) else None


def _inner_environment(match: re.Match[str]) -> str:
    if match[2] == "eqnarray":
        return r"\begin{array}{rcl}" if match[1] == "begin" else r"\end{array}"
    return rf"\{match[1]}{{{_INNER[match[2]]}}}"


@contextmanager
def converter(*, exact: bool) -> Iterator[Callable[[str], str | None]]:
    """Yield what converts formulas, or returns None: LaTeXML, else Temml, if `exact`, else Temml.

    Raises RuntimeError if LaTeXML is needed but not installed.
    """
    if not exact:
        yield presentation_mathml
        return
    with latexml() as convert:
        yield lambda latex: convert(latex) or presentation_mathml(latex)


def converter_name(*, exact: bool) -> str:
    """Return the name of a converter; conversions under different names are not comparable."""
    engines = f"{latexml_name()}, {_temml_name()}" if exact else _temml_name()
    return f"{engines}, rules {RULES}"


@cache
def _temml_name() -> str:
    version = re.search(r'version:"([\d.]+)"', TEMML.read_text(encoding="utf-8"))
    return f"temml {version[1] if version else 'of unknown version'}"


def latex_mathml(batch: Sequence[str], *, exact: bool, content: bool = False) -> list[str | None]:
    """Return the MathML of formulas, without dollars; None for those that cannot be converted.

    Content MathML needs LaTeXML. Raises RuntimeError if that is needed but not installed.
    """
    with latexml(content=True) if content else converter(exact=exact) as convert:
        return [convert(latex) for latex in batch]


class ConvertedLatex(NamedTuple):
    """A formula's LaTeX, without dollars, and its layout string, or the error."""

    latex: str
    layout: str | None
    error: str | None


def latex_layouts(batch: Sequence[str], *, exact: bool) -> list[ConvertedLatex]:
    """Convert formulas with one converter. Whatever error one causes, the others are converted."""
    try:
        return _layouts(batch, exact)
    except Exception as error:  # noqa: BLE001
        if len(batch) == 1:
            return [ConvertedLatex(batch[0], None, f"{type(error).__name__}: {error}")]
        middle = len(batch) // 2
        halves = batch[:middle], batch[middle:]
        return [converted for half in halves for converted in latex_layouts(half, exact=exact)]


def _layouts(batch: Sequence[str], exact: bool) -> list[ConvertedLatex]:
    mathml = latex_mathml(batch, exact=exact)
    results = zip(batch, mathml, layout_strings(mathml), strict=True)
    return [
        ConvertedLatex(latex, layout, None if layout else NO_LAYOUT if text else NO_MATHML)
        for latex, text, layout in results
    ]
