"""Find the lines of the keys of a TOML text, which the standard library does not report."""

import re
import tomllib
from collections import Counter

_HEADER = re.compile(r"\s*\[(\[?)\s*([\w.\s\"-]+?)\s*\]")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")
_INLINE_TABLE = re.compile(r"\s*\{")

TomlPath = tuple[str | int, ...]


class TomlLines:
    """The lines of a TOML text by path, such as ("tasks", 1, "qrels", 0)."""

    def __init__(self, text: str) -> None:
        self._lines: dict[TomlPath, int] = {}
        seen: Counter[TomlPath] = Counter()
        table: TomlPath = ()
        key: TomlPath = ()
        for number, line in enumerate(text.split("\n"), start=1):
            if header := _HEADER.match(line):
                table = self._table(header[2], bool(header[1]), seen)
                key = table
                self._lines.setdefault(table, number)
            elif found := _KEY.match(line):
                key = (*table, found[1])
                self._lines.setdefault(key, number)
            elif _INLINE_TABLE.match(line):
                self._lines.setdefault((*key, seen[key]), number)
                seen[key] += 1

    def __call__(self, path: TomlPath) -> int | None:
        """Return the line of a path, or of the nearest enclosing key or table."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path)

    def _table(self, name: str, is_array: bool, seen: "Counter[TomlPath]") -> TomlPath:
        path: TomlPath = ()
        parts = [part.strip().strip('"') for part in name.split(".")]
        for part in parts[:-1]:
            path = (*path, part)
            path = (*path, seen[path] - 1) if seen[path] else path
        path = (*path, parts[-1])
        if is_array:
            seen[path] += 1
            return (*path, seen[path] - 1)
        return path


def syntax_fault(error: tomllib.TOMLDecodeError) -> tuple[int | None, str]:
    """Return the line and the reason of a TOML syntax error."""
    reason, _, place = str(error).partition(" (at ")
    line = re.search(r"line (\d+)", place)
    return (int(line[1]) if line else None), reason
