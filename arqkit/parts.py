"""Work on the parts of something large: in this process, or on a Dask cluster.

Most of the work here holds Python's lock, so that threads gain nothing. Without a cluster, one part
is worked on after another. `dask scheduler` and `dask worker` make a cluster, also on one machine.
"""

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from arqkit.extras import needs_extra

if TYPE_CHECKING:
    from distributed import Client, Future

Part = TypeVar("Part")
Result = TypeVar("Result")

AHEAD = 2
"""Parts that wait for each thread of a cluster, or have results that were not taken yet."""
SECONDS = 10
"""How long a cluster may take to answer."""


def mapped(
    function: Callable[[Part], Result], parts: Iterable[Part], *, cluster: str = ""
) -> Iterator[Result]:
    """Yield the result of a pure function for each part, in order.

    `cluster` is the address of a Dask scheduler, such as tcp://host:8786. Its workers need the
    packages of the function, in the same versions, and no folder of this machine. A few parts and
    results are in memory at once. Raises ConnectionError if the scheduler does not answer.
    """
    if not cluster:
        yield from map(function, parts)
        return
    with needs_extra("cluster"):
        import dask
        from distributed import Client, Future
    try:
        client = Client(cluster, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {cluster}: {error}. Start one there with dask scheduler,"
            " or give another address."
        ) from error
    # A part is passed with its task: one that was scattered is lost with the worker that has it.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}), client:
        running = deque[Future]()
        for part in parts:
            running.append(client.submit(function, part, pure=False))
            if len(running) >= AHEAD * max(1, sum(client.nthreads().values())):
                yield _result(client, running.popleft())
        while running:
            yield _result(client, running.popleft())


def _result(client: "Client", future: "Future") -> Any:
    """Return a result; raise ConnectionError when no worker is left to compute it."""
    while True:
        try:
            return future.result(timeout=SECONDS)
        except TimeoutError as error:
            if future.status == "error":
                raise  # of the function
            if not client.nthreads():
                raise ConnectionError(
                    "The Dask cluster has no worker left. Start one with dask worker."
                ) from error


def kept(
    function: Callable[[Part], Result],
    parts: Iterable[Part],
    folder: Path,
    *,
    cluster: str = "",
    done: Callable[[int], object],
) -> Iterator[Result]:
    """Return what `mapped` yields, with each result on disk: one is in memory at a time.

    All are computed before this returns, and `done` is told how many are. If the folder has results
    that an earlier call for the same parts left when it was killed, these are not computed again.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths, waiting = list[Path](), deque[Path]()

    def missing() -> Iterator[Part]:
        for number, part in enumerate(parts):
            paths.append(folder / f"{number:06}")
            if not paths[-1].exists():
                waiting.append(paths[-1])
                yield part

    for result in mapped(function, missing(), cluster=cluster):
        path = waiting.popleft()
        beside = path.with_suffix(".new")
        beside.write_bytes(pickle.dumps(result))
        beside.rename(path)
        done(len(paths) - len(waiting))
    return (pickle.loads(path.read_bytes()) for path in paths)  # noqa: S301 our own files
