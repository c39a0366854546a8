"""Print our figures beside those of papers 000, 003 and 004, from the labs' public data.

Each lab is loaded and its runs are submitted as in a real lab, in a temporary folder on SQLite. The
program exits with 1 if a figure that should agree to the printed digits does not. docs/papers.md
lists every table of the papers.
"""

import os
import sys
import tempfile
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common import environment, set_up_django, shared_data

if TYPE_CHECKING:
    from benchmarks.papers.figures import Figure


def main() -> None:
    """Load each lab, print its figures, and exit."""
    data = shared_data()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= environment(Path(folder))
        set_up_django()
        from django.core.management import call_command

        from benchmarks.papers.figures import LABS, lab_figures, table_6

        found = list(table_6())
        for lab in LABS:
            call_command("load_lab", str(data / lab), stdout=StringIO())
            found += lab_figures(lab, data)
    print("\n".join(lines_of(found)))
    sys.exit(any(one.is_wrong for one in found))


def lines_of(figures: Iterable["Figure"]) -> list[str]:
    """Return the lines to print, by table, with the number of figures in each state last."""
    ordered = sorted(figures, key=lambda one: one.table)
    lines, table = [], ""
    for one in ordered:
        if one.table != table:
            lines += ["", f"{one.table:<58}{'paper':>8}{'ours':>10}{'difference':>12}"]
            table = one.table
        difference = one.ours - float(one.printed)
        note = "" if one.agrees else f"  {one.differs or 'WRONG'}"
        row = f"  {one.what:<56}{one.printed:>8}{one.ours:>10.6g}{difference:>+12.4f}{note}"
        lines.append(row)
    agree, wrong = (sum(one.agrees for one in ordered), sum(one.is_wrong for one in ordered))
    rest = len(ordered) - agree - wrong
    return [*lines, "", f"{agree} figures agree, {rest} cannot agree, {wrong} are wrong."]


if __name__ == "__main__":
    main()
