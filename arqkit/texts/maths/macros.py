r"""Macros that a formula of a post defines for later formulas, as MathJax does on the site.

A definition is put before each formula that uses it, so that every formula can be typeset on its
own, and only once. The scope is a post with its title and its comments: an answer looks the same in
its thread as on the judging page. On the site a whole page shares its macros, but the author of an
answer could not rely on that.
"""

import re
from typing import NamedTuple

_NAME = r"\\(?:[A-Za-z@]+|[^A-Za-z\s])"
_START = re.compile(
    r"\\(?P<how>(?:re|provide)?newcommand|providecommand|DeclareMathOperator|[gex]?def)\s*(?P<star>\*?)\s*"
    rf"(?:\{{\s*(?P<braced>{_NAME})\s*\}}|(?P<bare>{_NAME}))\s*"
    r"(?:\[(?P<count>\d)\]\s*(?:\[(?P<default>[^\]]*)\]\s*)?)?(?P<pattern>(?:#\d\s*)*)(?=\{)"
)
_USED = re.compile(_NAME)
LONGEST = 5_000  # characters of definitions before one formula


class Definition(NamedTuple):
    """A macro: its name with the backslash, and the LaTeX that defines it."""

    name: str
    latex: str


class Definitions:
    """The macros defined by the formulas read so far; use one object per post."""

    def __init__(self) -> None:
        self._known: dict[str, Definition] = {}

    def before(self, latex: str) -> str:
        """Return the formula preceded by the earlier definitions that it uses; store its own."""
        definitions, bare = take_definitions(latex)
        needed = self._needed(bare, {name for name, _ in definitions})
        for definition in definitions:
            self._known[definition.name] = definition
        if not definitions and not needed:
            return latex
        whole = "".join(definition.latex for definition in [*needed, *definitions])
        return f"{whole}{bare}" if len(whole) <= LONGEST else latex

    def _needed(self, latex: str, defined_here: set[str]) -> list[Definition]:
        """Return the definitions that a formula uses, directly or indirectly, in their order."""
        if not self._known:
            return []
        needed: set[str] = set()
        waiting = [latex]
        while waiting:
            for name in _USED.findall(waiting.pop()):
                if name in self._known and name not in needed and name not in defined_here:
                    needed.add(name)
                    waiting.append(self._known[name].latex)
        return [definition for name, definition in self._known.items() if name in needed]


def take_definitions(latex: str) -> tuple[list[Definition], str]:
    r"""Return the macros that a formula defines, each as a \def, and the formula without them.

    As on the site, a formula may redefine built-in macros, which `\newcommand` would refuse.
    """
    definitions: list[Definition] = []
    pieces: list[str] = []
    place = 0
    for match in _START.finditer(latex):
        if match.start() < place:
            continue
        end = end_of_group(latex, match.end())
        if end is None:
            continue
        pieces.append(latex[place : match.start()])
        definitions.append(_definition(match, latex[match.end() : end]))
        place = end
    return definitions, "".join([*pieces, latex[place:]]) if definitions else latex


def _definition(match: re.Match[str], body: str) -> Definition:
    name = match["braced"] or match["bare"]
    if match["how"] == "DeclareMathOperator":
        return Definition(name, rf"\def{name}{{\operatorname{match['star']}{body}}}")
    count = int(match["count"] or 0)
    if match["default"] is not None:
        # Uses of the macro nearly always omit the optional argument.
        body = body.replace("#1", match["default"])
        for number in range(2, count + 1):
            body = body.replace(f"#{number}", f"#{number - 1}")
        count -= 1
    pattern = match["pattern"].replace(" ", "") or "".join(
        f"#{number}" for number in range(1, count + 1)
    )
    return Definition(name, rf"\def{name}{pattern}{body}")


def end_of_group(latex: str, start: int) -> int | None:
    """Return the position after the group that opens at `start`, or None if it never ends."""
    depth, place = 0, start
    while place < len(latex):
        character = latex[place]
        if character == "\\":
            place += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return place + 1
        place += 1
    return None
