"""Amounts of money in posts: dollar signs that do not delimit formulas."""

from __future__ import annotations

import re
import string

_CURRENCY = re.compile(r"\b(?:US|AU|CA|NZ|HK|SG|A|C)$")
_AMOUNT = re.compile(r"\s*\d[\d.,]*\s?(?:[kKmMbB]|bn|million|billion|thousand)?(?![\w^\\{])")
_WORD = re.compile(r"\\?\w+")
_PROSE = frozenset(
    [
        "and",
        "or",
        "then",
        "the",
        "to",
        "for",
        "per",
        "of",
        "is",
        "are",
        "was",
        "in",
        "with",
        "than",
        "you",
        "at",
        "each",
        "from",
        "but",
        "that",
        "cost",
        "costs",
        "dollar",
        "dollars",
        "sign",
    ]
)
_PROSE_BYTES = frozenset(word.encode() for word in _PROSE)
# Replaces all bytes outside words by spaces. A backslash belongs to the word that it begins.
_WORDS_APART = bytes(
    code if chr(code) in string.ascii_letters + string.digits + "_\\" else 32 for code in range(256)
)
_BEGINS_NO_AMOUNT = string.ascii_letters + string.punctuation
_MAY_BE_MONEY = re.compile(r"\d|\S*\s")  # an amount, or text with white space
_GROUP = re.compile(r"\{[^{}]*\}")


def may_be_money(texts: list[str], marks: list[str], formulas: list[str]) -> bool:
    """Return whether dollars between texts may be money.

    The result is that of `is_money`, at little cost if the formulas contain no words of prose.
    """
    words = (
        "\0".join(formulas).lower().encode().replace(b"\\", b" \\").translate(_WORDS_APART).split()
    )
    if _PROSE_BYTES.isdisjoint(words):
        doubtful = [
            place for place, formula in enumerate(formulas) if formula[0] not in _BEGINS_NO_AMOUNT
        ]
        judge = _is_price
    else:
        doubtful = list(range(len(formulas)))
        judge = is_money
    for place in doubtful:
        if marks[place] == "$" and judge(
            formulas[place], before=texts[place][-3:], after=texts[place + 1][:1]
        ):
            return True
    return False


def is_money(content: str, *, before: str, after: str) -> bool:
    """Return whether the dollars around `content` are money or stray signs instead of delimiters.

    `before` holds the three characters before them, `after` the one after them. Content that begins
    like an amount, or begins or ends with white space, is money if it has a word of prose outside
    braces. Any other content is money if it has two.
    """
    if not _MAY_BE_MONEY.match(content):
        return False
    if _is_price(content, before=before, after=after):
        return True
    is_bounded = bool(_AMOUNT.match(content)) or content[0].isspace() or content[-1].isspace()
    words = _WORD.findall(_GROUP.sub(" ", content))
    return sum(word.lower() in _PROSE for word in words) > (0 if is_bounded else 1)


def _is_price(content: str, *, before: str, after: str) -> bool:
    if not _AMOUNT.match(content):
        return False
    return content[-1].isspace() or after.isdigit() or bool(_CURRENCY.search(before))
