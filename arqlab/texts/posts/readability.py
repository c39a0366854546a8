"""How easily a text reads: the Reading Ease of Rudolf Flesch, as the labs measured it of their
questions (000 §4.1).

    RE = 206.835 - 0.846 wl - 1.015 sl

where wl is the number of syllables in 100 words and sl the words of a sentence, on average. 100 is
very easy, 30 is difficult; the scale is open at both ends.

Source: R. Flesch, "A new readability yardstick", Journal of Applied Psychology 32 (1948) 221-233.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

import pyphen

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A sentence ends with its paragraph, or where its mark is followed by a blank.
_SENTENCE_END = re.compile(r"[.!?:;]+(?=[\"'”’)\]]*(?:\s|$))|\n\s*\n")
_VOWELS = re.compile(r"[aeiouyà-öø-ÿ]+")
_SILENT = re.compile(r"(?<=[^aeiouy])(?<![^aeiouy]l)(?:e|(?<![sczxg])(?<![cs]h)es|(?<![td])ed)$")


class TextCounts(NamedTuple):
    """What the formula counts in a text."""

    words: int
    sentences: int
    syllables: int


def reading_ease(counts: TextCounts) -> float | None:
    """Return the Reading Ease of a text with these counts; None for a text without words."""
    if not counts.words or not counts.sentences:
        return None
    syllables_in_100_words = 100 * counts.syllables / counts.words
    return 206.835 - 0.846 * syllables_in_100_words - 1.015 * counts.words / counts.sentences


def count_text(text: str) -> TextCounts:
    """Count the words, sentences and syllables of a plain English text; numbers and formulas are no
    words.

    As Flesch had it, colons and semicolons end a sentence, too; so do blank lines.
    """
    parts = [_WORD.findall(part) for part in _SENTENCE_END.split(text)]
    words = [word for part in parts for word in part]
    return TextCounts(len(words), sum(map(bool, parts)), sum(map(syllables, words)))


@lru_cache(maxsize=50_000)
def syllables(word: str) -> int:
    """Return the number of syllables of an English word.

    That is the number of places where it may be hyphenated, or of its groups of vowels where that
    is larger: hyphens never leave a single letter at an edge (`i-dea`), and groups never part two
    vowels (`be-ing`).
    """
    plain = word.lower()
    groups = len(_VOWELS.findall(_SILENT.sub("", plain)))
    parts = [part for part in re.split(r"[-'’]", plain) if len(part) > 2]
    return max(1, groups, sum(len(_hyphens().positions(part)) + 1 for part in parts))


@cache
def _hyphens() -> pyphen.Pyphen:
    """Read the dictionary when the first word is counted: it takes longer than the start of a
    command should.
    """
    return pyphen.Pyphen(lang="en_US", left=2, right=2)
