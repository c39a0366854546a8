"""Equation embeddings by a graph convolutional network (002 §4.1).

The paper's text does not describe the first layer; here it is linear. All else is the paper's:
three graph convolutions of width 512, batch normalization before the first and the third, the mean
of all nodes, 64 dimensions, and the soft norm. `equation_training` trains it.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.extras import needs_extra
from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.retrieval.graphs import (
    ATTRIBUTES,
    CHARACTERS,
    FEATURES,
    NOTHING,
    TAGS,
    Graphs,
    Vocabulary,
    parse_formula,
)
from arqkit.retrieval.triplets import Contexts, Rows, TrainingSettings, right_order
from arqkit.retrieval.vectors import VectorIndex

with needs_extra("models"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
    from torch_geometric.nn import SimpleConv
    from torch_geometric.utils import scatter

WIDTH, DIMENSIONS = 512, 64
MASKED = 0.15
MOMENTUM = 0.1  # of the running norm, as in batch normalization
AT_ONCE = 512  # graphs that are embedded together
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

EXCHANGES = 32  # of characters in a graph, on average
BATCH = 128  # triplets

BINS, MARGIN = 64, 1.0
HELD_OUT, HELD_OUT_TRIPLETS = 0.2, 10_000  # of threads, and from these


class Network(nn.Module):
    """Embeds formulas: a vector of 64 numbers for each, most with a norm below 1."""

    def __init__(self) -> None:
        """Make a network with random weights."""
        super().__init__()
        self.first = nn.EmbeddingBag(FEATURES + 1, WIDTH, mode="sum", padding_idx=NOTHING)
        nn.init.normal_(self.first.weight, std=FEATURES**-0.5)
        self.norms = nn.ModuleList([nn.BatchNorm1d(WIDTH), nn.Identity(), nn.BatchNorm1d(WIDTH)])
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.summed = SimpleConv(aggr="sum", combine_root="sum")
        self.last = nn.Linear(WIDTH, DIMENSIONS)
        self.heads = nn.ModuleList(
            [nn.Linear(WIDTH, size) for size in (TAGS, ATTRIBUTES + 1, CHARACTERS + 1)]
        )
        self.register_buffer("norm", torch.ones(()))

    def nodes(self, columns: Tensor, edges: Tensor) -> Tensor:
        """Return the output of the last convolution for each node."""
        nodes = torch.relu(self.first(columns))
        for norm, layer in zip(self.norms, self.layers, strict=True):
            nodes = torch.relu(self.summed(layer(norm(nodes)), edges))
        return nodes

    def forward(self, graphs: Graphs) -> Tensor:
        """Return the embeddings of graphs, with the soft norm of the batch or of the training."""
        columns, edges = tensor(graphs.columns), tensor(graphs.edges())
        nodes = self.nodes(columns, edges)
        means = scatter(nodes, tensor(graphs.owners()), dim_size=len(graphs), reduce="mean")
        vectors = self.last(means).float()
        if not self.training:
            return vectors / self.norm
        lengths = vectors.norm(dim=1)
        scale = lengths.mean() + lengths.std()
        self.norm.lerp_(scale.detach(), MOMENTUM)
        return vectors / scale

    def masking_loss(self, graphs: Graphs, draw: np.random.Generator) -> Tensor:
        """Return the loss of predicting tag, attribute and character of 15% of the nodes."""
        masked = draw.random(len(graphs.columns)) < MASKED
        columns = np.where(masked[:, None], NOTHING, graphs.columns)
        nodes = self.nodes(tensor(columns), tensor(graphs.edges()))[tensor(masked)]
        first = np.array([0, TAGS, TAGS + ATTRIBUTES])
        lacks = np.array([-100, ATTRIBUTES, CHARACTERS])  # -100: a rare tag has no class
        right = graphs.columns[masked]
        right = tensor(np.where(right == NOTHING, lacks, right - first))
        losses = [
            functional.cross_entropy(head(nodes).float(), right[:, place])
            for place, head in enumerate(self.heads)
        ]
        return sum(losses, torch.zeros(())) / len(losses)


def tensor(values: NDArray[np.generic]) -> Tensor:
    """Return integers or truth values as a tensor on the device."""
    kind = bool if values.dtype == bool else np.int64
    return torch.from_numpy(np.ascontiguousarray(values, kind)).to(DEVICE)


class EquationModel:
    """A trained network with its vocabulary: it embeds formulas."""

    def __init__(self, vocabulary: Vocabulary, network: Network) -> None:
        """Take what `train` or `open` made."""
        self.vocabulary, self.network = vocabulary, network.to(DEVICE).eval()

    def embed(self, graphs: Graphs) -> NDArray[np.float32]:
        """Return the embeddings of graphs: a row of 64 numbers for each."""
        order = np.argsort(np.diff(graphs.starts), kind="stable")
        vectors = np.zeros((len(graphs), DIMENSIONS), np.float32)
        for some in np.split(order, range(AT_ONCE, len(order), AT_ONCE)):
            with torch.inference_mode():
                vectors[some] = self.network(graphs.taken(some)).cpu().numpy()
        return vectors

    def save(self, folder: Path) -> None:
        """Write the network and its vocabulary to a folder."""
        self.vocabulary.save(folder / "vocabulary.json")
        torch.save(self.network.state_dict(), folder / "network.pt")

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open what `save` wrote."""
        network = Network()
        network.load_state_dict(torch.load(folder / "network.pt", map_location=DEVICE))
        return cls(Vocabulary.open(folder / "vocabulary.json"), network)

    def vectors_of(self, latex: Iterable[str]) -> NDArray[np.float32]:
        """Return the embeddings of formulas in LaTeX."""
        return self.embed(self.vocabulary.graphs([parse_formula(text) for text in latex]))


class EquationIndex(NamedTuple):
    """The embeddings of a collection's formulas, and the network that made them.

    The paper has inner products. Here the nearest formulas are those with the highest cosine, so
    that none is nearer to a formula than its copy.
    """

    model: EquationModel
    vectors: VectorIndex

    @classmethod
    def build(cls, model: EquationModel, formulas: Iterable[pl.DataFrame]) -> Self:
        """Return the index of formulas (formula_id and latex), which come some at a time."""

        def blocks() -> Iterator[tuple[list[str], NDArray[np.float32]]]:
            for some in formulas:
                looks = some["latex"].unique(maintain_order=True)
                places = some["latex"].replace_strict(looks, range(len(looks)))
                yield some["formula_id"].to_list(), model.vectors_of(looks)[places.to_numpy()]

        return cls(model, VectorIndex.build(blocks()))

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        self.model.save(folder)
        self.vectors.save(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Return the index in a folder."""
        return cls(EquationModel.open(folder), VectorIndex.open(folder))

    def search(self, topic: str, latex: str, depth: int = MOST_ITEMS) -> pl.DataFrame:
        """Return the ranking (topic, item, score) of the formulas that are nearest to one."""
        return self.vectors.search([topic], self.model.vectors_of([latex]), limit=depth)


with needs_extra("models"):
    import torch
    from torch import Tensor


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
    training_threads, held_out_threads = contexts.split(HELD_OUT, seed=settings.seed)
    counts = settings.triplets, min(settings.triplets, HELD_OUT_TRIPLETS)
    drawn = [
        contexts.looks[contexts.triplets(count, among=threads, seed=settings.seed)]
        for count, threads in zip(counts, (training_threads, held_out_threads), strict=True)
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
    checkpoint, history = folder / "training.pt", list[Mapping[str, float]]()
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=DEVICE)
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
        torch.save({"states": states, "history": history}, checkpoint.with_suffix(".part"))
        checkpoint.with_suffix(".part").replace(checkpoint)
    model = EquationModel(data.vocabulary, network)
    model.save(folder)
    record = {"settings": asdict(settings), "epochs": history}
    (folder / "history.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    checkpoint.unlink(missing_ok=True)
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
    formulas, places = np.unique(data.held_out, return_inverse=True)
    vectors = model.embed(data.graphs.taken(formulas))
    score = float(right_order(vectors, places.reshape(-1, 3)).mean())
    pairs, masking = np.mean(losses, axis=0).tolist()
    return {"pairs": pairs, "masking": masking, "ranking_score": score}
