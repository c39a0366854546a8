r"""Lexical overlap (LO) of generated answers with known relevant ones (004 §6.3.2).

An answer and a reference are bags of tokens. Their F1 is the harmonic mean of the shares of common
tokens; the value of a topic is the largest F1 of its references. References that only the answer's
own team contributed are left out, because a run would be compared with itself.

ARQMath-3 has the tokens of MathBERTa. The tokens here need no model: words and numbers in lower
case, LaTeX commands, and every other character by itself except the dollars around formulas.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

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


class LexicalOverlap:
    """The references of each topic, tokenized once for many runs."""

    def __init__(
        self, references: Mapping[str, Collection[Reference]], tokenizer: Tokenizer = answer_tokens
    ) -> None:
        self._tokenizer = tokenizer
        self._bags = {topic: self._merged(texts) for topic, texts in references.items()}

    def _merged(self, references: Collection[Reference]) -> list[tuple[Counter[str], set[int]]]:
        """Return the bag and the teams of each text: two teams may have the same answer."""
        teams: dict[str, set[int]] = {}
        always = {reference.text for reference in references if not reference.teams}
        for reference in references:
            teams.setdefault(reference.text, set()).update(reference.teams)
        bags = [
            (Counter(self._tokenizer(text)), set() if text in always else known)
            for text, known in teams.items()
        ]
        return [(bag, known) for bag, known in bags if bag]

    def values(self, answers: Mapping[str, str], *, team: int) -> dict[str, float]:
        """Return the value of each topic for the answers of a team.

        A topic without an answer's text, or without a reference of others, has no value.
        """
        values = {}
        for topic, text in answers.items():
            bag = Counter(self._tokenizer(text))
            others = [
                reference for reference, teams in self._bags.get(topic, ()) if teams != {team}
            ]
            if others and text.strip():
                values[topic] = max(token_f1(bag, reference) for reference in others)
        return values
