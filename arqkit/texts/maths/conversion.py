"""The converter from LaTeX to MathML for visual identity, and the name of its conversions."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from arqkit.texts.maths.latexml import latexml, latexml_name
from arqkit.texts.maths.typesetting import TEMML, presentation_mathml

# The version of our macros, repairs and normalization. Raise it when they change.
RULES = 3


class Converter(NamedTuple):
    """A conversion of a formula, without dollars, to MathML, or None if it fails.

    `name` identifies the engines and the rules.
    """

    name: str
    convert: Callable[[str], str | None]


@contextmanager
def converter(*, exact: bool) -> Iterator[Converter]:
    """Yield the converter for many formulas: LaTeXML with Temml as fallback if `exact`, else Temml.

    Raises RuntimeError if LaTeXML is needed but not installed.
    """
    if not exact:
        yield Converter(converter_name(exact=False), presentation_mathml)
        return
    with latexml() as convert:
        yield Converter(
            converter_name(exact=True), lambda latex: convert(latex) or presentation_mathml(latex)
        )


def converter_name(*, exact: bool) -> str:
    """Return the name of a converter without starting it.

    Conversions under different names are not comparable.
    """
    engines = f"{latexml_name()}, {_temml_name()}" if exact else _temml_name()
    return f"{engines}, rules {RULES}"


@cache
def _temml_name() -> str:
    version = re.search(r'version:"([\d.]+)"', TEMML.read_text(encoding="utf-8"))
    return f"temml {version[1] if version else 'of unknown version'}"
