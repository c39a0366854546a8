"""Readability of a text: Rudolf Flesch's Reading Ease, as used by the labs (000 §4.1).

    RE = 206.835 - 0.846 wl - 1.015 sl

Here wl is the number of syllables in 100 words, and sl the mean number of words in a sentence. 100
is very easy and 30 is difficult; the scale is open at both ends.

Source: R. Flesch, "A new readability yardstick", Journal of Applied Psychology 32 (1948) 221-233.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

import pyphen

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# A sentence ends with its paragraph, or at punctuation followed by white space.
_SENTENCE_END = re.compile(r"[.!?:;]+(?=[\"'”’)\]]*(?:\s|$))|\n\s*\n")
_VOWELS = re.compile(r"[aeiouyà-öø-ÿ]+")
_SILENT = re.compile(r"(?<=[^aeiouy])(?<![^aeiouy]l)(?:e|(?<![sczxg])(?<![cs]h)es|(?<![td])ed)$")


class TextCounts(NamedTuple):
    """The counts of a text that Reading Ease needs."""

    words: int
    sentences: int
    syllables: int


def reading_ease(counts: TextCounts) -> float | None:
    """Return the Reading Ease of a text with these counts, or None for a text without words."""
    if not counts.words or not counts.sentences:
        return None
    syllables_in_100_words = 100 * counts.syllables / counts.words
    return 206.835 - 0.846 * syllables_in_100_words - 1.015 * counts.words / counts.sentences


def count_text(text: str) -> TextCounts:
    """Count the words, sentences and syllables of a plain English text.

    Numbers and formulas are not words. As in Flesch's paper, colons and semicolons end a sentence;
    so do blank lines.
    """
    parts = [_WORD.findall(part) for part in _SENTENCE_END.split(text)]
    words = [word for part in parts for word in part]
    return TextCounts(len(words), sum(map(bool, parts)), sum(map(syllables, words)))


@lru_cache(maxsize=50_000)
def syllables(word: str) -> int:
    """Return the number of syllables of an English word.

    This is the number of hyphenation points plus one, or the number of groups of vowels if that is
    larger. Hyphenation never separates a single letter at an edge (`i-dea`), and groups never
    separate two vowels (`be-ing`).
    """
    plain = word.lower()
    groups = len(_VOWELS.findall(_SILENT.sub("", plain)))
    parts = [part for part in re.split(r"[-'’]", plain) if len(part) > 2]
    return max(1, groups, sum(len(_hyphens().positions(part)) + 1 for part in parts))


@cache
def _hyphens() -> pyphen.Pyphen:
    """Return the hyphenation dictionary, loaded on first use because that takes long."""
    return pyphen.Pyphen(lang="en_US", left=2, right=2)
