"""How a command ends when nobody reads its output any more."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

UNREAD = 141
"""The exit code of a command whose reader has gone, as shells report it: 128 + SIGPIPE."""


@contextmanager
def ending_when_unread() -> Iterator[None]:
    """Flush the standard output when the block ends; exit with `UNREAD` if its reader has gone.

    Without this, `command | head` may print a traceback, or "Exception ignored" when the
    interpreter flushes a buffer that nobody can receive.
    """
    try:
        try:
            yield
        finally:
            # Now, while the error can be handled: the interpreter would only flush it at exit.
            sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at exit. What is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(UNREAD)
