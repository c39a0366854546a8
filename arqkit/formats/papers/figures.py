"""Figures of overview papers as PDF, SVG and PNG, with the data behind each as TSV.

They are drawn in greys, which print, by matplotlib, which is imported when a figure is drawn. The
same numbers give the same bytes.
"""

from __future__ import annotations

import io
import logging
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arqkit.extras import needs_extra
from arqkit.formats.latex import latex_text
from arqkit.formats.papers.sentences import KappaFacts
from arqkit.formats.tables import table_text
from arqkit.judgments.qrels import JudgedTopic
from arqkit.labels import LabelScale
from arqkit.leaderboard import BoardRun
from arqkit.measures.columns import Reals
from arqkit.topics import heading as heading_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, TALLEST = 6.3, 9.0  # inches: the text of an A4 page
FONT = "DejaVu Sans"
FEWEST_LEVELS = 2
"""The levels that topics must have for a figure by level, which compares them."""
SMALLEST = 4.5  # points: the size of labels below which some are left out
STYLE: dict[Any, Any] = {
    "font.family": FONT,
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "arqlab",
    "text.parse_math": False,
}
FORMATS: Mapping[str, Mapping[str, None]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {},
}
"""The formats of a figure, each with the metadata that it must not have."""
_VERSION = 2
"""The version of the drawings. Increase it when they change, so that they are drawn again."""
logging.getLogger("fontTools").setLevel(logging.WARNING)  # it lists every glyph
_DRAWING = Lock()  # matplotlib's settings belong to the process


class PaperFigure(NamedTuple):
    """A figure: its file name, its caption in LaTeX, its data, and how to draw it."""

    name: str
    caption: str
    tsv: str
    draw: Callable[[Figure], None]
    height: float

    @property
    def key(self) -> str:
        """Return a digest of everything that the images show."""
        content = (STYLE, self.name, self.caption, self.tsv, _VERSION)
        return sha256(repr(content).encode()).hexdigest()

    def images(self) -> dict[str, bytes]:
        """Draw the figure and return it in all formats."""
        with needs_extra("figures"):
            import matplotlib as mpl
            from matplotlib.figure import Figure

        with _DRAWING, mpl.rc_context(STYLE):
            figure = Figure(figsize=(WIDTH, self.height), layout="constrained")
            self.draw(figure)
            images = {}
            for format_, metadata in FORMATS.items():
                image = io.BytesIO()
                figure.savefig(image, format=format_, dpi=200, metadata=dict(metadata))
                images[format_] = image.getvalue()
        return images

    def latex(self) -> str:
        """Return the figure as a float of LaTeX."""
        return "\n".join(
            [
                r"\begin{figure}[!htb]",
                r"\centering",
                rf"\includegraphics[width=\linewidth]{{figures/{self.name}}}",
                rf"\caption{{{self.caption}}}",
                rf"\label{{fig:{self.name}}}",
                r"\end{figure}",
                "",
            ]
        )


class TopicScores(NamedTuple):
    """The scores of runs (rows) by topic (columns) in a measure; a missing one is NaN."""

    heading: str
    runs: Sequence[BoardRun]
    topics: Sequence[str]
    values: Reals

    def tsv(self) -> str:
        """Return a line for each run, with its scores by topic."""
        rows = (
            [
                run.team,
                run.tag,
                run.standing.key,
                *("" if np.isnan(value) else float(value) for value in line),
            ]
            for run, line in zip(self.runs, self.values, strict=True)
        )
        return table_text([["team", "run", "standing", *self.topics], *rows])


def scores_figure(scores: TopicScores) -> PaperFigure:
    """Draw the spread over topics of each run's scores, in the order of the leaderboard."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        lines = [line[~np.isnan(line)] for line in scores.values]
        axes.boxplot(
            lines,
            orientation="horizontal",
            widths=0.6,
            showmeans=True,
            meanprops={"marker": "D", "mfc": "black", "mec": "black", "ms": 2.5},
            medianprops={"color": "black", "lw": 1},
            boxprops={"lw": 0.6},
            whiskerprops={"lw": 0.6},
            capprops={"lw": 0.6},
            flierprops={"marker": ".", "ms": 1.5, "mec": "0.5"},
        )
        names = [
            f"{run.standing.marked(_short(run.tag, 28))} ({_short(run.team, 16)})"
            for run in scores.runs
        ]
        size = min(8.0, 72 * TALLEST / len(names) * 0.7)
        axes.set_yticks(range(1, len(names) + 1), names, fontsize=size)
        axes.invert_yaxis()
        axes.set_xlabel(f"{scores.heading} by topic")
        axes.grid(axis="x", color="0.85", lw=0.5)
        axes.set_axisbelow(True)

    caption = (
        f"{latex_text(scores.heading)} of each run over {len(scores.topics)} topics: quartiles "
        "(box), median (line), mean (diamond), whiskers to 1.5 times the height of the box, and "
        "topics beyond them."
    )
    height = min(TALLEST, 0.7 + 0.19 * len(scores.runs))
    return PaperFigure("scores", caption, scores.tsv(), draw, height)


def topics_figure(scores: TopicScores) -> PaperFigure:
    """Draw the best score, the quartiles and the median of the runs that count, by topic."""
    competing = scores.values[[run.counts for run in scores.runs]]
    some = np.flatnonzero(~np.isnan(competing).all(axis=0))
    columns = [column[~np.isnan(column)] for column in competing.T[some]]
    low, middle, high = np.array([np.quantile(column, (0.25, 0.5, 0.75)) for column in columns]).T
    best = np.array([column.max() for column in columns])
    order = np.lexsort((best, middle))[::-1]
    names = [scores.topics[some[place]] for place in order]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = np.arange(len(names))
        axes.bar(places, (high - low)[order], 0.7, low[order], color="0.8", label="Quartiles")
        axes.plot(places, best[order], "^", color="black", ms=3, label="Best")
        axes.plot(places, middle[order], "_", color="black", ms=5, label="Median")
        _topic_axis(axes, names)
        axes.set_ylabel(scores.heading)
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)

    rows = zip(names, *(part[order].tolist() for part in (best, high, middle, low)), strict=True)
    table = [["topic", "best", "upper quartile", "median", "lower quartile"], *rows]
    caption = (
        f"{latex_text(scores.heading)} of {len(competing)} runs by topic: best, median and "
        "quartiles. Topics are sorted by the median."
    )
    return PaperFigure("topics", caption, table_text(table), draw, 2.8)


def labels_figure(topics: Sequence[JudgedTopic], scale: LabelScale) -> PaperFigure:
    """Draw the number of items of each topic by label."""
    labels = [label for label in scale if any(topic.labels[label.value] for topic in topics)]
    counts = np.array([[topic.labels[label.value] for topic in topics] for label in labels])
    names = [topic.topic for topic in topics]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        below = np.zeros(len(names))
        for place, (label, line) in enumerate(zip(labels, counts, strict=True)):
            grey = str(round(0.9 * place / max(len(labels) - 1, 1), 2))
            kind = {} if label.is_judgment else {"hatch": "////"}
            axes.bar(
                range(len(names)),
                line,
                0.8,
                below,
                color=grey if label.is_judgment else "white",
                edgecolor="0.3",
                lw=0.2,
                label=_shown(label.word),
                **kind,  # type: ignore[arg-type]
            )
            below += line
        _topic_axis(axes, names)
        axes.set_ylabel("Assessed items")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(labels))

    rows = zip(names, *counts.tolist(), strict=True)
    table = [["topic", *(label.word for label in labels)], *rows]
    caption = f"Assessed items by topic and label, over {len(names)} topics."
    if reports := [latex_text(label.word) for label in labels if not label.is_judgment]:
        caption += f" Hatched: not a judgment ({', '.join(reports)})."
    return PaperFigure("labels", caption, table_text(table), draw, 2.8)


def levels_figure(
    topics: Sequence[JudgedTopic], scale: LabelScale, levels: Mapping[str, str], field: str
) -> PaperFigure | None:
    """Draw the mean number of items above the lowest label by level of the topics (003 Figure 2).

    `levels` has the level of each topic, a value of the `field` such as complexity; the levels are
    in its order. None unless there are two.
    """
    groups: dict[str, list[JudgedTopic]] = {}
    counted = {topic.topic: topic for topic in topics}
    for name, level in levels.items():
        if name in counted:
            groups.setdefault(level, []).append(counted[name])
    if len(groups) < FEWEST_LEVELS:
        return None
    *labels, _ = sorted(scale.judgments, key=lambda label: -label.value)
    means = np.array(
        [
            [sum(topic.labels[label.value] for topic in group) / len(group) for label in labels]
            for group in groups.values()
        ]
    )
    word = heading_of(field).lower()

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        places = np.arange(len(groups))
        below = np.zeros(len(groups))
        for place, (label, heights) in enumerate(zip(labels, means.T, strict=True)):
            grey = str(round(0.8 * place / max(len(labels) - 1, 1), 2))
            axes.bar(
                places, heights, 0.6, below, color=grey, edgecolor="0.3", label=_shown(label.word)
            )
            below += heights
        names = [f"{level} ({len(group)})" for level, group in groups.items()]
        axes.set_xticks(places, [_shown(name) for name in names])
        axes.set_xlabel(f"{word.capitalize()} (topics)")
        axes.set_ylabel("Mean items per topic")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(labels))

    rows = [
        [level, len(group), *line]
        for (level, group), line in zip(groups.items(), means.tolist(), strict=True)
    ]
    table = [[word, "topics", *(label.word for label in labels)], *rows]
    caption = f"Mean number of items with any degree of relevance per topic, by {word} and label."
    return PaperFigure("levels", caption, table_text(table), draw, 2.8)


def kappa_figure(rounds: Sequence[KappaFacts], *, ways: int, binarization: str) -> PaperFigure:
    """Draw Cohen's kappa by assessor and of all, for labels as they are and for binary ones."""

    def draw(figure: Figure) -> None:
        grid = figure.subplots(1, len(rounds), sharey=True, squeeze=False)
        for axes, facts in zip(grid[0], rounds, strict=True):
            both = [*facts.assessors.values(), facts.total]
            places = np.arange(len(both))
            for side, (shift, colour) in enumerate(((-0.2, "0.65"), (0.2, "black"))):
                heights = [value[side] or 0.0 for value in both]
                label = (f"{ways}-way", binarization)[side]
                axes.bar(places + shift, heights, 0.4, color=colour, label=label)
            axes.set_xticks(places, [*facts.assessors, "Total"])
            axes.set_title(_shown(facts.title), fontsize=8)
            axes.axhline(0, color="black", lw=0.6)
        grid[0][0].set_ylabel("Cohen's kappa")
        handles, names = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=2)

    rows: list[list[object]] = [["round", "assessor", "items", "graded", "binary"]]
    for facts in rounds:
        for name, (graded, binary) in [*facts.assessors.items(), ("Total", facts.total)]:
            rows.append([facts.title, name, facts.items, _cell(graded), _cell(binary)])
    caption = (
        f"Inter-annotator agreement (mean pairwise Cohen's kappa) by assessor and over all "
        f"(Total): {ways}-way classification (gray) and {latex_text(binarization)} (black)."
    )
    return PaperFigure("agreement", caption, table_text(rows), draw, 2.4)


def _topic_axis(axes: Axes, names: Sequence[str]) -> None:
    room = 72 * (WIDTH - 0.7) / len(names)
    every = ceil(SMALLEST / room)
    places = range(0, len(names), every)
    labels = [_shown(names[place]) for place in places]
    axes.set_xticks(places, labels, rotation=90, fontsize=min(8.0, room * every))
    axes.set_xlim(-0.7, len(names) - 0.3)
    axes.tick_params(axis="x", length=0)


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    with needs_extra("figures"):
        from matplotlib.font_manager import findfont, get_font

    return frozenset(get_font(findfont(FONT)).get_charmap())


def _short(text: str, longest: int) -> str:
    text = _shown(text)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _shown(text: str) -> str:
    """Return a text for a figure: characters that the font lacks are their code points."""
    signs = (sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cf", "Cs"))
    return "".join(sign if ord(sign) in _glyphs() else f"[U+{ord(sign):04X}]" for sign in signs)


def _cell(value: float | None) -> object:
    return "" if value is None else value
