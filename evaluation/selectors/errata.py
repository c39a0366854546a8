"""The errata of released leaderboards: what has changed since, when, why and by whom."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Q

from arqkit.standings import FLAGS, OUT_OF_COMPETITION, STANDINGS, WITHDRAWN, standing_of
from arqlab.core.models import AuditEvent, Lab, User
from arqlab.labs.selectors import organizers_of
from evaluation.models import Erratum, Leaderboard, ReleasedRun, RunFacts
from evaluation.selectors.records import released_runs, run_facts
from submissions.models import Run, standings_of

ORGANIZERS = "the organizers"

_CHANGES = [f"run.{verb}" for verb in ("correct", "move", "primary", "alternate")]
"""The events that may change what is listed of a run, beside its withdrawal."""


def errata_of(leaderboard: Leaderboard, runs: Sequence[ReleasedRun] | None = None) -> list[Erratum]:
    """Return the errata of a version, the oldest first.

    The last of them may not be stored yet: what has changed is seen by comparing its `runs` with
    what the lab says of them now, so that no way to change a run can forget its erratum.
    """
    stored = list(leaderboard.errata.select_related("run", "author").order_by("made_at", "pk"))
    entries = released_runs(leaderboard) if runs is None else runs
    facts = {entry.run_id: entry.facts for entry in entries}
    for erratum in stored:
        if erratum.run_id in facts:
            facts[erratum.run_id].update(erratum.facts)
    unstored = [_change(entry, facts[entry.run_id]) for entry in entries]
    return stored + sorted(filter(None, unstored), key=lambda erratum: erratum.made_at)


def erratum_marks(errata: Iterable[Erratum]) -> dict[int, str]:
    """Return what boards show beside a run of errata: all of them, as sentences."""
    marks: dict[int, str] = {}
    for erratum in errata:
        if erratum.run_id:
            marks[erratum.run_id] = f"{marks.get(erratum.run_id, '')} {erratum.sentence}".strip()
    return marks


def party_of(author: User | None, lab: Lab) -> str:
    """Return the author of an erratum as everyone reads it: a team of the lab, or its organizers.

    People are named to organizers only.
    """
    if author is None or author.is_superuser or author in organizers_of(lab):
        return ORGANIZERS
    team = lab.teams.filter(memberships__user=author).first()
    return f"team {team.name}" if team else ORGANIZERS


def _change(entry: ReleasedRun, before: RunFacts) -> Erratum | None:
    """Return the unsaved erratum of a run whose facts differ from those before, or None."""
    run = entry.run
    now = run_facts(run, standings_of(run))
    facts = {name: value for name, value in now.items() if value != before.get(name)}
    if not facts:
        return None
    leaderboard = entry.leaderboard
    erratum = Erratum(leaderboard=leaderboard, run=run, name=str(entry), facts=facts)
    erratum.text = _text(now, facts)
    added = {*now["standings"]} - {*before["standings"]}
    if WITHDRAWN.key in added and run.withdrawn_at:
        erratum.made_at, erratum.author = run.withdrawn_at, run.withdrawn_by
        # Who withdrew a run before there were errata did not write the reason for everyone.
        recorded_at = leaderboard.recorded_at
        is_public = recorded_at is not None and run.withdrawn_at >= recorded_at
        erratum.reason = run.withdrawal_reason if is_public else ""
    else:
        event = _event(leaderboard, run)
        erratum.made_at = event.at if event else leaderboard.recorded_at or leaderboard.released_at
        erratum.author = event.actor if event else None
        reason = event.detail.get("reason", "") if event and event.verb in _CHANGES else ""
        erratum.reason = run.out_of_competition if OUT_OF_COMPETITION.key in added else reason
    erratum.party = party_of(erratum.author, leaderboard.task.lab)
    return erratum


def _event(leaderboard: Leaderboard, run: Run) -> AuditEvent | None:
    """Return the newest event since the release that may have changed what is listed of a run."""
    events = AuditEvent.objects.filter(lab=leaderboard.task.lab_id, at__gte=leaderboard.released_at)
    listing = Q(verb__in=["qrels.freeze", "leaderboard.release"])
    team = Q(verb="team.rename", target=run.team.name)
    of_run = Q(verb__in=_CHANGES, detail__run=run.pk)
    return (
        events.filter(listing | team | of_run)
        .select_related("actor")
        .order_by("-at", "-pk")
        .first()
    )


def _text(facts: RunFacts, changed: Collection[str]) -> str:
    """Return what has changed as one sentence without its full stop."""
    parts = []
    if "standings" in changed:
        standing = standing_of([one for one in STANDINGS if one.key in facts["standings"]])
        parts.append(standing.word or "official again")
    if "team" in changed:
        parts.append(f"team changed to {facts['team']}")
    if "tag" in changed:
        parts.append(f"tag changed to {facts['tag']}")
    if "data" in changed:
        parts.append(f"data changed to {facts['data'] or 'unknown'}")
    if "flags" in changed:
        words = [flag.yes if flag.key in facts["flags"] else flag.no for flag in FLAGS]
        parts.append(f"changed to {', '.join(words).lower()}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]
