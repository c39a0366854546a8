"""The posts of a file to import: each id once, and answers with their question (protocol §2)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import Problem
from arqkit.texts.html.dump_posts import IN, LATER, OUT, ReadyPost
from collection.services.importing.post_store import StoredPost

QUESTION = "question"


@dataclass
class ThreadTracker:
    """The posts read so far, with a bit per id, and the answers read before their question."""

    source: str
    seen: SeenIds = field(default_factory=SeenIds)
    questions: SeenIds = field(default_factory=SeenIds)
    later: SeenIds = field(default_factory=SeenIds)
    outside: SeenIds = field(default_factory=SeenIds)
    orphans: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))

    def add(self, post: ReadyPost, counts: Counter[str]) -> StoredPost | Problem | None:
        """Return the post to store, a problem for a duplicate, or None outside the window."""
        if not self.seen.add(post.number):
            found, todo = (
                f"the post {post.number} again",
                "Remove one of the two rows. The first was imported.",
            )
            return Problem(self.source, post.line, found, "each post once", todo)
        place = self._place(post)
        if place == OUT:
            counts["outside_the_window"] += 1
            return None
        counts[f"{post.kind}s"] += 1
        return StoredPost(post.number, place == IN, post.values)

    def _place(self, post: ReadyPost) -> str:
        """Return the place of a post relative to the window; an answer follows its question."""
        if post.kind == QUESTION:
            self.questions.add(post.number)
            if post.place != IN:
                (self.later if post.place == LATER else self.outside).add(post.number)
            return post.place
        places = {post.place, self.place_of(post.thread) or IN}
        if OUT not in places and post.thread not in self.questions:
            self.orphans.append(post.number)
            self.parents.append(post.thread)
            self.lines.append(post.line)
        return OUT if OUT in places else LATER if LATER in places else IN

    def place_of(self, question: int) -> str | None:
        """Return the place of a question relative to the window, or None if it was not read."""
        if question not in self.questions:
            return None
        return OUT if question in self.outside else LATER if question in self.later else IN

    def waiting(self) -> Iterator[tuple[int, int, int]]:
        """Yield id, question and line of the answers that were read before their question."""
        return zip(self.orphans, self.parents, self.lines, strict=True)

    def without_question(self, number: int, question: int, line: int) -> Problem:
        """Return the problem of an answer whose question is missing."""
        found, todo = (
            f"the answer {number} to the missing question {question}",
            "Import the question. The answer was imported.",
        )
        return Problem(
            self.source, line, found, "a question of that Id, here or in an earlier file", todo
        )
