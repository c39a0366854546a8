"""Equation embeddings by a graph convolutional network (002 §4.1).

The paper's text does not describe the first layer; here it is linear. All else is the paper's:
three graph convolutions of width 512, batch normalization before the first and the third, the mean
of all nodes, 64 dimensions, and the soft norm. `equation_training` trains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

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


def tensor(values: NDArray[Any]) -> Tensor:
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
