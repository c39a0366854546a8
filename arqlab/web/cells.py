"""How values look on pages: states, times, labels, runs, scores; filters and tables ask here."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from math import isfinite
from typing import Any, Protocol

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import floatformat, linebreaksbr
from django.utils.html import conditional_escape, escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from arqkit.labels import ScaleLabel
from arqkit.measures.names import MeasureRefusedError, parse_measure
from arqkit.standings import Standing

DASH = "–"


class NamedRun(Protocol):
    """A run as pages name it: one of the database, or one that a leaderboard lists."""

    @property
    def tag(self) -> str:
        """Return its tag."""

    @property
    def team(self) -> object:
        """Return its team, or the name of it."""

    @property
    def standing(self) -> Standing:
        """Return its standing."""


def chip(state: str, text: str = "") -> SafeString:
    """Return the chip of a state in `static/css/states.css`, labelled with `text` or the state."""
    return format_html('<span class="chip chip-{}">{}</span>', state, (text or state).capitalize())


def standing_chip(standing: Standing | None) -> str:
    """Return the chip of a run's standing; an official run has none."""
    return chip(standing.key, standing.word) if standing and standing.word else ""


def run_name(run: NamedRun, url: str = "") -> SafeString:
    """Return the tag of a run, linked to `url`, with the chip of its standing and its erratum.

    Pages name runs with this filter, or with `run.label` where there is only text.
    """
    link = format_html('<a href="{}">{}</a>', url, run.tag) if url else escape(run.tag)
    if run.standing.word:
        link = format_html("{} {}", link, standing_chip(run.standing))
    return format_html("{}{}", link, erratum_mark(run))


def erratum_mark(run: NamedRun) -> SafeString:
    """Return what has changed since the release of a leaderboard that lists a run, if anything."""
    erratum = getattr(run, "erratum", "")
    return format_html(' <small class="erratum">{}</small>', erratum) if erratum else SafeString()


def team_name(run: NamedRun) -> str:
    """Return the team of a run for its column; empty for a baseline, which has a chip."""
    return str(run.team) if run.standing.has_team else ""


def score(value: float | str | None, decimals: int = 4) -> str:
    """Format a score with four decimals; a missing score is a dash."""
    is_known = isinstance(value, float | int) and isfinite(value)
    return f"{value:.{decimals}f}" if is_known else DASH


def signed(value: float | None) -> str:
    """Format a difference of scores with its sign and four decimals, or as a dash if missing."""
    return DASH if value is None else f"{value:+.4f}".replace("-", "−")


def p_value(value: float | None) -> str:
    """Format a p-value with three decimals, or as a dash if it is missing."""
    return DASH if value is None else "<0.001" if value < 0.001 else f"{value:.3f}"


def moment(when: datetime | None) -> str:
    """Return a time in UTC, which times.js converts to local time; a dash for None."""
    if when is None:
        return DASH
    utc = when.astimezone(UTC)
    return format_html(
        '<time class="nowrap" datetime="{}" data-local>{} UTC</time>',
        f"{utc:%Y-%m-%dT%H:%M:%SZ}",
        f"{utc:%Y-%m-%d %H:%M}",
    )


def day(when: date | None) -> str:
    """Return a day, such as 5 May 2027; a dash for None."""
    if when is None:
        return DASH
    iso, words = f"{when:%Y-%m-%d}", f"{when.day} {when:%b %Y}"
    return format_html('<time class="nowrap" datetime="{}">{}</time>', iso, words)


def address(text: str) -> str:
    """Return an email address whose line may break before its @ and dots."""
    return format_html_join("", "<wbr>{}", ((part,) for part in re.split("(?=[@.])", text)))


def deadline(when: datetime | None) -> str:
    """Return a deadline anywhere on earth and in UTC, a dash for None.

    times.js replaces the second line with "in 3 days" and the local time.
    """
    if when is None:
        return DASH
    utc, last = when.astimezone(UTC), when.astimezone(timezone(timedelta(hours=-12)))
    return format_html(
        '<time class="deadline" datetime="{}" data-deadline>{} anywhere on earth '
        '<span class="deadline-local" data-deadline-local>{} UTC</span></time>',
        f"{utc:%Y-%m-%dT%H:%M:%SZ}",
        f"{last.day} {last:%B %Y, %H:%M}",
        f"{utc:%Y-%m-%d %H:%M}",
    )


def label(value: ScaleLabel | None, style: str = "") -> str:
    """Return a label of a scale: letter, colour and word; a dash for None.

    `short` hides the word from the eye, `key` shows the key that selects it instead of the letter.
    """
    if value is None:
        return DASH
    word = '<span class="visually-hidden">{}</span>' if style == "short" else "{}"
    return format_html(
        '<span class="label" data-colour="{}">'
        '<span class="label-letter" aria-hidden="true">{}</span>' + word + "</span>",
        value.colour,
        value.key if style == "key" else value.letter,
        value.word,
    )


def measure(name: str) -> str:
    """Format a known measure as in papers: `nDCG(judged_only=True)@1000` becomes nDCG′."""
    try:
        return parse_measure(name).heading
    except MeasureRefusedError:
        return name


def duration(seconds: float) -> str:
    """Format a duration as in `judge/status.js`: 26 s, 50 min, 3 h 20 min, 1,234 h."""
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return (
        f"{minutes // 60} h {minutes % 60:02} min"
        if minutes < 600
        else f"{round(minutes / 60):,} h"
    )


@dataclass(frozen=True, slots=True)
class CellKind:
    """A kind of values in a table: `html` formats them for the page, `css` classes their cells.

    The page sorts a cell by the value of its `<time>` or `<data>`, if it has one, or by its text.
    Files have the values themselves, or what `file` returns for them.
    """

    html: Callable[[Any], str] = conditional_escape
    css: str = ""
    file: Callable[[Any], object] = lambda value: value


def decimals(number: int) -> CellKind:
    """Return the kind of figures with so many decimals."""
    return CellKind(lambda value: score(value, number), "num")


TEXT = CellKind()
PROSE = CellKind(linebreaksbr, "wrap")
"""Text of people, with its lines."""
EXCERPT = CellKind(lambda text: linebreaksbr(Truncator(text).chars(300)), "wrap")
"""The beginning of such a text; files have the whole."""
ID = CellKind(css="id")
HASH = CellKind(
    lambda digest: format_html('<code title="{}">{}…</code>', digest, digest[:12]), "nowrap"
)
COUNT = CellKind(lambda value: intcomma(value), "num")
SCORE = decimals(4)
TENTHS = decimals(1)
HUNDREDTHS = decimals(2)
NUMBER = CellKind(floatformat, "num")
"""A figure with one decimal, if it has any."""
HOURS = CellKind(lambda value: f"{value:,.2f}", "num")
"""Hours, or money."""
TAU = decimals(3)
SIGNED = CellKind(signed, "num")
RANKS = CellKind(lambda change: f"{change:+d}".replace("-", "−") if change else "0", "num")
"""A change of rank. A fall is a plus, because rank 1 is the best."""
P_VALUE = CellKind(p_value, "num")
SHARE = CellKind(lambda value: f"{value:.0%}", "num")
SECONDS = CellKind(lambda milliseconds: f"{milliseconds / 1000:.0f}", "num")
DURATION = CellKind(
    lambda value: format_html('<data value="{}">{}</data>', value, duration(value)), "num"
)
TIME = CellKind(moment)
DAY = CellKind(day)
DEADLINE = CellKind(deadline)
MEASURE = CellKind(measure)
ADDRESS = CellKind(address)
CHIP = CellKind(chip)
SAFE = CellKind(mark_safe)  # noqa: S308  # of what is sanitized
"""HTML that was made safe before it was stored, such as titles of topics."""
RUN = CellKind(
    lambda run: format_html('{} <span class="muted">{}</span>', run_name(run), team_name(run)),
    file=str,
)
"""A run that is not the subject of its row."""
LABEL = CellKind(label, file=lambda value: value.value)
LABELS = CellKind(lambda labels: format_html_join(" ", "{}", ((label(value),) for value in labels)))
