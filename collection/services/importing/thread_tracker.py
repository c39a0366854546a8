"""Which posts of a file are taken in, as they pass: each id once, and an answer as its question is
(protocol §2).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from arqlab.formats.formulas.seen_ids import SeenIds
from arqlab.ir.records import Problem
from arqlab.texts.html.dump_posts import IN, LATER, OUT, ReadyPost
from collection.services.importing.post_store import StoredPost

QUESTION = "question"


@dataclass
class ThreadTracker:
    """What is known of the posts that passed, a bit for each id; and the answers whose question did
    not pass yet.
    """

    source: str
    seen: SeenIds = field(default_factory=SeenIds)
    questions: SeenIds = field(default_factory=SeenIds)
    later: SeenIds = field(default_factory=SeenIds)
    outside: SeenIds = field(default_factory=SeenIds)
    orphans: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))

    def take(self, post: ReadyPost, counts: Counter[str]) -> StoredPost | Problem | None:
        """Return how a post is stored; None where it lies outside the window."""
        if not self.seen.add(post.number):
            found, todo = (
                f"the post {post.number} again",
                "Take one of the two rows out; the first was taken.",
            )
            return Problem(self.source, post.line, found, "each post once", todo)
        place = self._place(post)
        if place == OUT:
            counts["outside_the_window"] += 1
            return None
        counts[f"{post.kind}s"] += 1
        return StoredPost(post.number, place == IN, post.values)

    def _place(self, post: ReadyPost) -> str:
        """Return where a post lies; an answer lies where its question does, or further out."""
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
        """Return where a question lies; None of one that did not pass."""
        if question not in self.questions:
            return None
        return OUT if question in self.outside else LATER if question in self.later else IN

    def waiting(self) -> Iterator[tuple[int, int, int]]:
        """Return number, question and line of the answers that came before their question or without
        it.
        """
        return zip(self.orphans, self.parents, self.lines, strict=True)

    def without_question(self, number: int, question: int, line: int) -> Problem:
        """Return that an answer's question is not there."""
        found, todo = (
            f"the answer {number} to {question}, which is not there",
            "Import its question; the answer is in.",
        )
        return Problem(
            self.source, line, found, "a question of that Id, here or in an earlier file", todo
        )
