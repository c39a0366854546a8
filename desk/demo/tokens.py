"""Tokens for the demo's systems: the words of a post, and the LaTeX tokens of its formulas."""

import re

from arqkit.texts.posts.text import plain_text

_WORD = re.compile(r"[a-z]{2,}")
_LATEX = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+|\S")
_DIGITS_APART = re.compile(r"\\[A-Za-z]+|\\.|\S")

# Commands for spacing and size, which do not change the meaning of a formula.
_SPACES = (r"\,", r"\;", r"\:", r"\!", r"\ ", r"\quad", r"\qquad", "~")
_SIZES = (r"\left", r"\right", r"\bigl", r"\bigr", r"\big", r"\Big", r"\displaystyle", r"\limits")
_LAYOUT = frozenset(_SPACES + _SIZES)
# Synonymous commands.
_SYNONYMS = {
    r"\ne": r"\neq",
    r"\le": r"\leq",
    r"\ge": r"\geq",
    r"\rightarrow": r"\to",
    r"\longrightarrow": r"\to",
    r"\ldots": r"\dots",
    r"\dfrac": r"\frac",
    r"\tfrac": r"\frac",
    r"\colon": ":",
    r"\mid": "|",
    r"\vert": "|",
}
_STOPWORDS = frozenset(
    _WORD.findall("""about above after all also an and any are as at be because been but by can
    could did do does each either every for from get gives had has have hence here how if in into is
    it its itself just let like may me more my no not of on one only or other our out over same see
    should show since so some such take than that the their them then there therefore these they
    this those thus to too under up us use used using very was we were what when where which while
    who why will with would you your""")
)


def lower_words(html: str) -> list[str]:
    """Return the words of a post outside formulas: lower case, no stop words, plurals stemmed."""
    return [
        _singular(word)
        for word in _WORD.findall(plain_text(html).lower())
        if word not in _STOPWORDS
    ]


def _singular(word: str) -> str:
    # Harman's S-stemmer (1991) without its exceptions, which matches "permutations" and
    # "permutation".
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


def latex_tokens(latex: str) -> list[str]:
    """Return the tokens of a formula for retrieval, without braces, spaces and sizes."""
    signs = (_SYNONYMS.get(sign, sign) for sign in _LATEX.findall(latex))
    return [sign for sign in signs if sign not in _LAYOUT and sign not in ("{", "}")]


def ngrams(tokens: list[str], size: int) -> list[str]:
    """Return all sequences of `size` adjacent tokens, each joined by spaces."""
    return [" ".join(tokens[start : start + size]) for start in range(len(tokens) - size + 1)]


def visual_form(latex: str) -> str:
    """Return a string that is equal for formulas that look the same, such as `a^{2}` and `{a}^2`.

    Spacing, braces around a single token and closing punctuation are ignored. This approximates the
    comparison of symbol layout trees (protocol §5) for the demo's formulas.
    """
    signs = (_SYNONYMS.get(sign, sign) for sign in _DIGITS_APART.findall(latex))
    form = " ".join(sign for sign in signs if sign not in _LAYOUT)
    before = ""
    while before != form:
        before, form = form, re.sub(r"\{ (\S+) \}", r"\1", form)
    return form.rstrip(" .,;")
