"""The training of equation embeddings (002 §4.2 to 4.4): histogram loss on pairs, and masking.

Formulas of the same post, thread or of linked threads are pairs, as those of the same section,
paper or of citing papers are in the paper. Characters of identifiers are exchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.extras import needs_extra
from arqkit.retrieval.equations import DEVICE, EquationModel, Network
from arqkit.retrieval.graphs import (
    ATTRIBUTES,
    CHARACTERS,
    NOTHING,
    TAGS,
    Graphs,
    Vocabulary,
    parse_formula,
)
from arqkit.retrieval.triplets import Contexts, Rows, TrainingSettings, right_order

with needs_extra("models"):
    import torch
    from torch import Tensor

BINS, MARGIN = 64, 1.0
EXCHANGES = 32  # of characters in a graph, on average
BATCH = 128  # triplets
HELD_OUT, HELD_OUT_TRIPLETS = 0.2, 10_000  # of threads, and from these


def exchanged(graphs: Graphs, identifier: int, draw: np.random.Generator) -> Graphs:
    """Return graphs in which characters of identifiers are exchanged (002 §4.3).

    `identifier` is the column of their tag. Each graph has its own permutation of the characters,
    made of exchanges of two at a time.
    """
    counts = draw.poisson(EXCHANGES, len(graphs))
    permuted = np.tile(np.arange(CHARACTERS), (len(graphs), 1))
    every = np.arange(len(graphs))
    for number in range(counts.max(initial=0)):
        some = every[counts > number]
        left, right = draw.integers(CHARACTERS, size=(2, len(some)))
        permuted[some, left], permuted[some, right] = permuted[some, right], permuted[some, left]
    columns, first = graphs.columns.copy(), TAGS + ATTRIBUTES
    named = (columns[:, 0] == identifier) & (columns[:, 2] != NOTHING)
    columns[named, 2] = first + permuted[graphs.owners()[named], columns[named, 2] - first]
    return replace(graphs, columns=columns)


def histogram_loss(near: Tensor, far: Tensor) -> Tensor:
    """Return the probability that a negative pair is more similar than a positive one.

    Both are spread over the bins of a histogram between -1 and 1 (002 §4.2 and formula 4).
    """
    bins = torch.linspace(-1, 1, BINS, device=near.device)
    width = 2 / (BINS - 1)

    def histogram(similarities: Tensor) -> Tensor:
        distances = (similarities.clamp(-1, 1)[:, None] - bins).abs()
        return torch.relu(1 - distances / width).mean(dim=0)

    return (histogram(far) * histogram(near).cumsum(dim=0)).sum()


def triplet_loss(near: Tensor, far: Tensor) -> Tensor:
    """Return the mean of how far pairs are from the margin (002 §4.2, formula 1)."""
    return torch.relu(MARGIN - near + far).mean()


LOSSES = {"histogram": histogram_loss, "triplet": triplet_loss}


class TooFewFormulasError(Exception):
    """A collection has no pairs to learn from; the message says why."""


class TrainingData(NamedTuple):
    """What the network is trained with: graphs, and triplets of them to train and to hold out."""

    vocabulary: Vocabulary
    graphs: Graphs
    triplets: Rows
    held_out: Rows


def training_data(
    formulas: pl.DataFrame, links: Iterable[tuple[str, str]], settings: TrainingSettings
) -> TrainingData:
    """Return triplets of a collection (see `Contexts`); a fifth of its threads are held out."""
    contexts = Contexts(formulas, links)
    kept, held = contexts.split(HELD_OUT, seed=settings.seed)
    counts = settings.triplets, min(settings.triplets, HELD_OUT_TRIPLETS)
    drawn = [
        contexts.looks[contexts.triplets(count, among=threads, seed=settings.seed)]
        for count, threads in zip(counts, (kept, held), strict=True)
    ]
    if not all(map(len, drawn)):
        raise TooFewFormulasError(
            f"Too few of {len(contexts.by_thread):,} threads have formulas that differ, and the "
            "network learns from pairs of these. Train it on a larger collection."
        )
    looks, places = np.unique(np.concatenate(drawn), return_inverse=True)
    latex = formulas["latex"].unique().sort().gather(looks)
    parsed = [parse_formula(text) for text in latex]
    vocabulary = Vocabulary.of(parsed)
    triplets, held_out = np.split(places.reshape(-1, 3), [len(drawn[0])])
    return TrainingData(vocabulary, vocabulary.graphs(parsed), triplets, held_out)


def train(
    data: TrainingData,
    settings: TrainingSettings,
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> EquationModel:
    """Return a trained network, and write it to a folder with the course of its training.

    After each epoch, all is kept in the folder, so that a training that was stopped goes on.
    `history.json` has the mean losses of each epoch and the ranking score of what is held out.
    """
    torch.manual_seed(settings.seed)
    network = Network().to(DEVICE)
    optimizer = torch.optim.Adam(network.parameters(), lr=settings.rate)
    decay = torch.optim.lr_scheduler.LinearLR(
        optimizer, 1.0, 1 / settings.epochs, total_iters=settings.epochs - 1
    )
    kept, history = folder / "training.pt", list[Mapping[str, float]]()
    if kept.exists():
        saved = torch.load(kept, map_location=DEVICE)
        for part, state in zip((network, optimizer, decay), saved["states"], strict=True):
            part.load_state_dict(state)
        history = saved["history"]
    for epoch in range(len(history), settings.epochs):
        network.train()
        losses, triplets = list[list[float]](), len(data.triplets)
        for done, (pairs, masking) in enumerate(_steps(network, data, settings, epoch)):
            progress(epoch * triplets + done * BATCH, settings.epochs * triplets)
            optimizer.zero_grad()
            (pairs + masking).backward()
            optimizer.step()
            losses.append([pairs.item(), masking.item()])
        decay.step()
        model = EquationModel(data.vocabulary, network)
        history.append(_entry(model, data, losses))
        states = [part.state_dict() for part in (network, optimizer, decay)]
        torch.save({"states": states, "history": history}, kept.with_suffix(".part"))
        kept.with_suffix(".part").replace(kept)
    model = EquationModel(data.vocabulary, network)
    model.save(folder)
    record = {"settings": asdict(settings), "epochs": history}
    (folder / "history.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    kept.unlink(missing_ok=True)
    return model


def _steps(
    network: Network, data: TrainingData, settings: TrainingSettings, epoch: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the losses of each batch of an epoch: of the pairs, and of the masking task."""
    draw = np.random.default_rng([settings.seed, epoch])
    order = draw.permutation(len(data.triplets))
    for some in np.split(order, range(BATCH, len(order), BATCH)):
        graphs = data.graphs.taken(data.triplets[some].T.ravel())
        if settings.exchanges:
            graphs = exchanged(graphs, data.vocabulary.identifiers, draw)
        with _precision():
            anchor, positive, negative = network(graphs).chunk(3)
            masking = network.masking_loss(graphs, draw) if settings.masks else torch.zeros(())
        near, far = (anchor * positive).sum(dim=1), (anchor * negative).sum(dim=1)
        yield LOSSES[settings.loss](near, far), masking


def _precision() -> torch.autocast:
    """Return the context of a computation: in 16 bits where the processor has them."""
    has_them = DEVICE.type == "cuda" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.autocast(DEVICE.type, torch.bfloat16, enabled=has_them)


def _entry(model: EquationModel, data: TrainingData, losses: list[list[float]]) -> dict[str, float]:
    """Return the record of an epoch."""
    held, places = np.unique(data.held_out, return_inverse=True)
    vectors = model.embed(data.graphs.taken(held))
    score = float(right_order(vectors, places.reshape(-1, 3)).mean())
    pairs, masking = np.mean(losses, axis=0).tolist()
    return {"pairs": pairs, "masking": masking, "ranking_score": score}
