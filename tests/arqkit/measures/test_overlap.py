"""Lexical overlap: SQuAD's F1 written out, on random bags, and whose references count."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.measures.overlap import Reference, answer_tokens, lexical_overlap, token_f1

BAGS = st.lists(st.sampled_from("abcde"), min_size=1, max_size=12)


def squad_f1(prediction, truth):
    """Return the F1 as the evaluation script of SQuAD computes it, token by token."""
    left, same = list(truth), 0
    for token in prediction:
        if token in left:
            left.remove(token)
            same += 1
    if not same:
        return 0.0
    precision, recall = same / len(prediction), same / len(truth)
    return 2 * precision * recall / (precision + recall)


@given(BAGS, BAGS)
def test_f1_is_that_of_squad(one, other):
    assert token_f1(Counter(one), Counter(other)) == pytest.approx(squad_f1(one, other), abs=1e-9)


@given(BAGS, st.lists(st.tuples(BAGS, st.frozensets(st.integers(1, 3))), max_size=6))
def test_the_value_is_the_best_f1_with_what_others_contributed(answer, known):
    references = [Reference(" ".join(tokens), teams) for tokens, teams in known]
    teams = {}
    for tokens, each in known:
        teams.setdefault(tuple(tokens), []).append(each)
    others = [
        tokens
        for tokens, sets in teams.items()
        if frozenset() in sets or frozenset().union(*sets) != {1}
    ]
    found = lexical_overlap({"A.1": references}).values({"A.1": " ".join(answer)}, team=1)

    expected = {"A.1": max(squad_f1(answer, tokens) for tokens in others)} if others else {}
    assert found == pytest.approx(expected, abs=1e-9)


def test_tokens_are_words_numbers_commands_and_signs():
    found = answer_tokens(r"Let $\Alpha_{12} \le x'$ cost \$5: Größe")

    signs = ["let", r"\Alpha", "_", "{", "12", "}", r"\le", "x", "'", "cost", "5", ":", "größe"]
    assert found == signs


def test_topics_without_texts_or_references_have_no_value():
    overlap = lexical_overlap({"A.1": [Reference("a b")], "A.2": [Reference("$$")], "A.4": []})
    answers = {"A.1": " ", "A.2": "a", "A.3": "a", "A.4": "a"}

    assert overlap.values(answers, team=1) == {}
    assert overlap.values({"A.1": "c"}, team=1) == {"A.1": 0.0}


def test_another_tokenizer_can_be_used():
    overlap = lexical_overlap({"A.1": [Reference("ab")]}, tokenizer=list)

    assert overlap.values({"A.1": "bc"}, team=1) == {"A.1": 0.5}
