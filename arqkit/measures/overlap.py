r"""Similarity of generated answers with known relevant ones: lexical overlap (LO, 004 §6.3.2).

An answer and a reference are bags of tokens. Their F1 is the harmonic mean of the shares of common
tokens; the value of a topic is the largest F1 of its references. References that only the answer's
own team contributed are left out, because a run would be compared with itself.

ARQMath-3 has the tokens of MathBERTa. The tokens here need no model: words and numbers in lower
case, LaTeX commands, and every other character by itself except the dollars around formulas.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, TypeVar

Prepared = TypeVar("Prepared", bound=Sized)
Tokenizer = Callable[[str], Sequence[str]]

_TOKEN = re.compile(r"\\[a-zA-Z]+|[^\W\d_]+|\d+|[^\w\s$]|_")


def answer_tokens(text: str) -> list[str]:
    """Return the tokens of a text with LaTeX between dollars."""
    return [
        token if token.startswith("\\") else token.lower()
        for token in _TOKEN.findall(text.replace("\\$", "$"))
    ]


def token_f1(first: Counter[str], second: Counter[str]) -> float:
    """Return the F1 of two bags of tokens; 0 if they have nothing in common."""
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0


@dataclass(frozen=True)
class Reference:
    """A known relevant answer, with the teams that contributed it; none if nobody did."""

    text: str
    teams: frozenset[int] = frozenset()


class BestReference(Generic[Prepared]):
    """The references of each topic, prepared once for many runs, and how similar an answer is.

    `prepare` makes what is compared of a text, which is empty for a text without tokens.
    """

    def __init__(
        self,
        references: Mapping[str, Collection[Reference]],
        prepare: Callable[[str], Prepared],
        similarity: Callable[[Prepared, Prepared], float],
    ) -> None:
        self._prepare, self._similarity = prepare, similarity
        self._known = {topic: self._merged(texts) for topic, texts in references.items()}

    def _merged(self, references: Collection[Reference]) -> list[tuple[Prepared, set[int]]]:
        """Return each text, prepared, and its teams: two teams may have the same answer."""
        teams: dict[str, set[int]] = {}
        always = {reference.text for reference in references if not reference.teams}
        for reference in references:
            teams.setdefault(reference.text, set()).update(reference.teams)
        prepared_texts = [
            (self._prepare(text), set() if text in always else of_text)
            for text, of_text in teams.items()
        ]
        return [(prepared, of_text) for prepared, of_text in prepared_texts if len(prepared)]

    def values(self, answers: Mapping[str, str], *, team: int) -> dict[str, float]:
        """Return the value of each topic for the answers of a team.

        A topic without an answer's text, or without a reference of others, has no value.
        """
        values = {}
        for topic, text in answers.items():
            others = [
                reference for reference, teams in self._known.get(topic, ()) if teams != {team}
            ]
            if others and text.strip():
                answer = self._prepare(text)
                values[topic] = max(self._similarity(answer, other) for other in others)
        return values


def lexical_overlap(
    references: Mapping[str, Collection[Reference]], tokenizer: Tokenizer = answer_tokens
) -> BestReference[Counter[str]]:
    """Return the lexical overlap with the references of topics."""
    return BestReference(references, lambda text: Counter(tokenizer(text)), token_f1)
