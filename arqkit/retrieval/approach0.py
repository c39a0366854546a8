"""Formula search by Approach0's own engine (Zhong & Zanibbi, ECIR 2019; Zhong et al., 2022).

It matches paths of operator trees from LaTeX. The engine is the package pya0, an extra; nothing of
it is here. Its parser prints messages to standard output, and an error in it ends the process that
it runs in, so that it runs in one of its own (`arqkit.retrieval.approach0_engine`).
"""

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from select import select
from subprocess import PIPE, Popen, TimeoutExpired
from tempfile import TemporaryFile
from typing import IO, Any, Literal, cast

import polars as pl

from arqkit.retrieval.rankings import RANKING, best_of

PATIENCE = 120.0
"""Seconds to wait for an answer; adding one of the sample's formulas takes less than one."""

AT_ONCE = 32
"""Formulas that are sent together: about as many as a pipe has room for if all are long."""


class EngineError(Exception):
    """The engine crashed or hung; the message says at which formula, and what to do."""


class Approach0Engine:
    """The engine in a process that `approach0_engine` started."""

    def __init__(self, process: Popen[bytes], messages: IO[bytes]) -> None:
        """Take the process and the file of its messages."""
        self.process, self._messages = process, messages
        self._written, self._read = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        self.patience, self._asked = PATIENCE, "the start"

    def ask(self, latex: Iterable[str]) -> list[Any]:
        """Return the engine's answers for a few formulas, which are sent together: waiting for each
        is slow on a busy machine. Raise EngineError if it crashes or hangs.
        """
        formulas = list(latex)
        with suppress(BrokenPipeError):  # it has ended: there is nothing to read
            self._written.write("".join(f"{json.dumps(text)}\n" for text in formulas).encode())
        return [self._answer(f"the formula {text[:200]}") for text in formulas]

    def _answer(self, place: str) -> object:
        self._asked = place
        if not select([self._read], [], [], self.patience)[0]:
            raise self._hung()
        if not (line := self._read.readline()):
            raise self._ended()
        return json.loads(line)

    def finish(self) -> None:
        """Wait until the index is whole. Raise EngineError if it does not become so."""
        self._asked = "the end"
        try:
            self.process.communicate(timeout=self.patience)
        except TimeoutExpired:
            raise self._hung() from None
        if self.process.returncode:
            raise self._ended()

    def _hung(self) -> EngineError:
        self.process.kill()
        return EngineError(
            f"Approach0 did not answer within {self.patience:g} seconds at {self._asked}. Start "
            "again; if it hangs there again, use the system tangent-s."
        )

    def _ended(self) -> EngineError:
        code = self.process.wait()
        how = signal.Signals(-code).name if code < 0 else f"the exit status {code}"
        self._messages.seek(0)
        last = self._messages.read().decode(errors="replace").strip().rpartition("\n")[2][-300:]
        return EngineError(
            f"Approach0 ended with {how} at {self._asked}. Its last message: {last or 'none'}. "
            "Start again; if it ends there again, use the system tangent-s."
        )


@contextmanager
def approach0_engine(work: Literal["add", "search"], folder: Path) -> Iterator[Approach0Engine]:
    """Run the engine with the index in a folder, to add formulas or to search for them.

    After a block without an error, the index is whole. Raise EngineError if it is not.
    """
    # No input of users is in the command.
    command = [sys.executable, "-m", "arqkit.retrieval.approach0_engine", work, str(folder)]
    path = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with (
        TemporaryFile() as messages,
        Popen(command, 0, stdin=PIPE, stdout=PIPE, stderr=messages, env=path) as process,  # noqa: S603
    ):
        engine = Approach0Engine(process, messages)
        try:
            yield engine
            engine.finish()
        finally:
            process.kill()


class Approach0Index:
    """An index of distinct LaTeX formulas, and the items that have each."""

    def __init__(self, folder: Path) -> None:
        """Open the index that `build` wrote into a folder."""
        self._folder = folder / "engine"
        self._items = pl.read_parquet(folder / "items.parquet")

    @classmethod
    def build(cls, formulas: Iterable[tuple[str, str]], folder: Path) -> None:
        """Write the index of formulas (item, LaTeX) into a folder. Raise EngineError.

        A formula that the engine cannot parse is not found.
        """
        numbers, items, remaining = dict[str, int](), list[tuple[str, int]](), iter(formulas)
        (folder / "engine").mkdir()
        with approach0_engine("add", folder / "engine") as engine:
            while some := list(islice(remaining, AT_ONCE)):
                new = dict.fromkeys(latex for _, latex in some if latex not in numbers)
                numbers.update(zip(new, engine.ask(new), strict=True))
                items += [(item, numbers[latex]) for item, latex in some]
        schema = {"item": pl.String, "number": pl.Int64}
        pl.DataFrame(items, schema=schema, orient="row").write_parquet(folder / "items.parquet")

    def engine(self) -> AbstractContextManager[Approach0Engine]:
        """Return the engine that `search` asks; it runs during a `with` block."""
        return approach0_engine("search", self._folder)

    def search(self, engine: Approach0Engine, topic: str, latex: str, depth: int) -> pl.DataFrame:
        """Return the ranking (topic, item, score) of at most `depth` formulas that have the
        1,000 best LaTeX, with equal scores for equal LaTeX. Raise EngineError.
        """
        [best] = engine.ask([latex])
        scores = {"number": pl.Int64, "score": pl.Float64}
        hits = pl.DataFrame(best, schema=scores, orient="row").join(self._items, on="number")
        named = hits.with_columns(topic=pl.lit(topic, pl.String)).select(list(RANKING))
        return best_of(named, limit=depth)
