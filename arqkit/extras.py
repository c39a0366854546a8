"""The optional parts of the distribution, and how to install what one of them needs.

The distribution is installed from a checkout of ArqLab. Its name on PyPI is not ours, so that no
text may say `pip install` with the name alone; `tests/test_extras.py` reads them all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Extra = Literal[
    "approach0", "archives", "client", "cluster", "figures", "measures", "models", "retrieval"
]
SYSTEMS = frozenset(["approach0", "cluster", "models"])
"""The extras that a server has after `bin/setup --systems`; it has the others anyway."""


def how_to_install(extra: str, *, on_server: bool = False) -> str:
    """Return the command that installs an extra, for a server or for the distribution alone."""
    if on_server:
        return "bin/setup --systems" if extra in SYSTEMS else "bin/setup"
    return f"pip install './arqkit[{extra}]'"


def lacks_package(package: str, extra: str, *, on_server: bool = False) -> str:
    """Return the sentence for a missing package, with what to do."""
    command = how_to_install(extra, on_server=on_server)
    return f"The package {package} is not installed. In a checkout of ArqLab, run: {command}"


@contextmanager
def needs_extra(extra: Extra) -> Iterator[None]:
    """Import the packages of an extra; raise ModuleNotFoundError with what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        sentence = lacks_package(error.name or "", extra)
        raise ModuleNotFoundError(sentence, name=error.name) from error
