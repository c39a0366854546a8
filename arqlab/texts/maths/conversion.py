"""The converter from LaTeX to MathML that a lab uses for visual identity, and the name that its
conversions are kept under.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from arqlab.texts.maths.latexml import latexml, latexml_name
from arqlab.texts.maths.typesetting import TEMML, presentation_mathml

# version of our own macros, repairs and normalisation before conversion; raise it when they change
RULES = 3


class Converter(NamedTuple):
    """A way from one formula, without its dollars, to MathML, or None where it fails. `name` names
    engines and rules.
    """

    name: str
    convert: Callable[[str], str | None]


@contextmanager
def converter(*, exact: bool) -> Iterator[Converter]:
    """Return the converter for many formulas: `exact` is LaTeXML, and Temml where that fails; else it
    is Temml alone.

    Raises RuntimeError if LaTeXML is wanted and not installed.
    """
    if not exact:
        yield Converter(converter_name(exact=False), presentation_mathml)
        return
    with latexml() as convert:
        yield Converter(
            converter_name(exact=True), lambda latex: convert(latex) or presentation_mathml(latex)
        )


def converter_name(*, exact: bool) -> str:
    """Return the name of a converter without starting it: conversions of another name are not
    comparable with its own.
    """
    engines = f"{latexml_name()}, {_temml_name()}" if exact else _temml_name()
    return f"{engines}, rules {RULES}"


@cache
def _temml_name() -> str:
    version = re.search(r'version:"([\d.]+)"', TEMML.read_text(encoding="utf-8"))
    return f"temml {version[1] if version else 'of unknown version'}"
