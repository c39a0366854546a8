"""The process that runs Approach0's engine: `python -m arqkit.retrieval.approach0_engine`.

Its arguments are `add` or `search` and the folder of the index. It reads a line of JSON for each
formula, its LaTeX, and answers with a line of JSON: the number of the document, or the numbers
and scores of the best ones. `arqkit.retrieval.approach0` starts it and talks to it.
"""

import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TextIO

from arqkit.extras import needs_extra

MOST = 1_000
"""Documents for a formula. The engine can miss the best ones if it is asked for fewer."""

if package := find_spec("pya0"):  # without its __init__, which loads pandas and nltk for seconds
    sys.path.extend(package.submodule_search_locations or [])
with needs_extra("approach0"):
    import _pya0


def answer_lines() -> None:
    """Answer every line; the index is whole when the process ends without an error."""
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # where the engine prints messages
        os.chdir(sys.argv[2])  # the engine refuses long paths
        work = {"add": add_documents, "search": search_documents}[sys.argv[1]]
        for answer in work(sys.stdin):
            print(json.dumps(answer), file=answers, flush=True)


def add_documents(lines: TextIO) -> Iterator[int]:
    """Add a document for each formula, and yield its number."""
    index = _opened("w")
    writer = _pya0.index_writer(index)
    for line in lines:
        yield _pya0.writer_add_doc(writer, content=f"[imath]{json.loads(line)}[/imath]")
        _pya0.writer_maintain(writer)
    _pya0.writer_flush(writer)
    _pya0.writer_close(writer)
    _pya0.index_close(index)


def search_documents(lines: TextIO) -> Iterator[list[tuple[int, float]]]:
    """Yield the numbers and the scores of the best documents for each formula, best first."""
    index = _opened("r")
    for line in lines:
        query = [{"type": "tex", "str": json.loads(line), "field": "content"}]
        hits = json.loads(_pya0.search(index, query, topk=MOST)).get("hits", [])
        yield [(hit["docid"], hit["score"]) for hit in hits]
    _pya0.index_close(index)


def _opened(option: str) -> object:
    index = _pya0.index_open(".", option=option)
    if index is None:
        raise OSError(f"{os.getcwd()} has no index that the engine can open.")
    return index


if __name__ == "__main__":
    answer_lines()
