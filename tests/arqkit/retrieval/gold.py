"""What Tangent-S wrote of ARQMath-1's judged formulas: their trees, and its scores of each pair."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

from lxml import etree

from arqkit.retrieval.trees import Tree
from tests.real_data import DATA

_ESCAPES = {"&lsqb;&rsqb;": "[]", "lsqb;&rsqb;": "[]"}


class Judged(NamedTuple):
    """A topic's tree, and the judged formulas: visual id, tree and the three scores."""

    topic: str
    tree: Tree
    formulas: list[tuple[str, Tree, tuple[float, float, float]]]


def judged(kind: str) -> list[Judged]:
    """Return the topics of a file: `slt` or `opt`."""
    topics: list[Judged] = []
    for cells in rows(f"tangent-s/judged-2020.{kind}.tsv.gz"):
        if cells[0] == "Q":
            topic = cells[1]
        elif cells[0] == "E":
            topics.append(Judged(topic, tree_of(cells[1]), []))
        elif cells[0] == "R":
            topics[-1].formulas.append((cells[1], tree_of(cells[3]), tuple(json.loads(cells[4]))))
    return topics


def rows(name: str) -> Iterator[list[str]]:
    """Yield the cells of a file's lines."""
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from (line.rstrip("\n").split("\t") for line in lines)


def tree_of(text: str) -> Tree:
    """Return the tree of a string such as `[V!x[+[N!1]],a[N!2]]`."""
    if text.startswith('\\"'):
        text = text[2:-2].replace('\\"\\"', '"')
    tree, stack, edge, place = Tree([], [], []), [-1], "n", 0
    while place < len(text):
        if text[place] == "[":
            end = place + 1
            while text[end] not in "[]" and not (text[end] == "," and text[end + 2] == "["):
                end += 1
            stack.append(tree.add(_label(text[place + 1 : end]), stack[-1], edge))
            edge, place = "n", end
        elif text[place] == "]":
            stack.pop()
            place += 1
        else:
            edge, place = text[place + 1], place + 2
    return tree


def _label(text: str) -> str:
    for escape, character in _ESCAPES.items():
        text = text.replace(escape, character)
    return unescape(text)


def pairs(tree: Tree | None) -> Counter[tuple[str, str, str]]:
    """Return the symbol pairs of a tree: of each node with its parent and its parent's parent."""
    found: Counter[tuple[str, str, str]] = Counter()
    if tree is None:
        return found
    for node, label in enumerate(tree.labels):
        path, above = "", node
        for _ in range(2):
            if tree.parents[above] < 0:
                break
            path = tree.edges[above] + path
            above = tree.parents[above]
            found[tree.labels[above], label, path] += 1
    return found or Counter({(tree.labels[0], "", ""): 1})


def dice(first: Tree | None, second: Tree | None) -> float:
    """Return the Dice coefficient of the symbol pairs of two trees."""
    a, b = pairs(first), pairs(second)
    return 2 * (a & b).total() / (a.total() + b.total()) if a or b else 1.0


def topic_formulas(edition: int, kind: str) -> dict[str, str]:
    """Return the MathML of an edition's topic formulas by id: `slt` or `opt`."""
    path = DATA / f"arqmath-{edition}/topic-formulas.{kind}.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        return {row[0]: row[-1] for row in list(csv.reader(lines, delimiter="\t"))[1:]}


def formulas_of_topics() -> dict[str, str]:
    """Return the id of the formula of each topic of ARQMath-1's Task 2."""
    root = etree.parse(DATA / "arqmath-1/topics.task2.xml").getroot()
    return {topic.get("number"): topic.findtext("Formula_Id") for topic in root}


def collection_formulas() -> Iterator[tuple[str, str, str]]:
    """Yield the id, the visual id (perhaps empty) and the MathML of the sample's formulas."""
    path = DATA / "collection/formulas.slt.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in list(csv.reader(lines, delimiter="\t"))[1:]:
            yield row[0], row[4], row[5]
