"""Equation embeddings for a lab: a network trained on the collection embeds its formulas (002)."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from arqkit.retrieval.equations import (
    EquationIndex,
    EquationModel,
    TooFewFormulasError,
    train,
    training_data,
)
from arqkit.retrieval.triplets import TrainingSettings
from arqlab.core.errors import UserError
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.formula_topics import rank_formulas
from contrib.retrieval.services.indexes import Progress, built_index, equations_index, index_folder
from contrib.retrieval.services.timing import Ranked

NETWORK = "network"


def equation_facts(sources: Sources, settings: Mapping[str, object]) -> Mapping[str, object]:
    """Return the hash of the trained network."""
    network = network_folder(sources, settings) / "network.pt"
    return {"model_sha256": hashlib.sha256(network.read_bytes()).hexdigest()}


def by_equations(sources: Sources, settings: Mapping[str, object], progress: Progress) -> Ranked:
    """Return the formulas nearest to each topic's, or the answers with the nearest ones (002)."""
    index = opened_equations(build_equations(sources, settings, progress))
    return rank_formulas(
        sources, progress, lambda topic, latex, depth: index.search(topic.query_id, latex, depth)
    )


@lru_cache(maxsize=2)
def opened_equations(folder: Path) -> EquationIndex:
    """Return the index in a folder, opened once in a process: a finished folder never changes."""
    return EquationIndex.open(folder)


def network_folder(sources: Sources, settings: Mapping[str, object]) -> Path:
    """Return the folder of a network, which may have been trained on another machine."""
    _, options = equations_index(settings)
    return index_folder(sources, name=NETWORK, options=options)


def build_equations(sources: Sources, settings: Mapping[str, Any], progress: Progress) -> Path:
    """Return the folder of the embeddings of a collection's formulas, built if it is missing.

    The network is trained first, unless it was. A training that was killed goes on with the epoch
    that it was in. Raise `UserError` if the collection has too few formulas to learn from.
    """
    name, options = equations_index(settings)

    def train_network(folder: Path) -> None:
        training = TrainingSettings(**settings)
        try:
            data = training_data(sources.contexts(), sources.linked_threads(), training)
        except TooFewFormulasError as error:
            raise UserError(str(error), code="too-few-formulas") from error
        train(data, training, folder, progress)

    def embed(folder: Path) -> None:
        formulas = _counted(sources, progress)
        EquationIndex.build(EquationModel.open(network), formulas).save(folder)

    network = built_index(sources, name=NETWORK, options=options, build=train_network, resumes=True)
    return built_index(sources, name=name, options=options, build=embed)


def _counted(sources: Sources, progress: Progress) -> Iterator[pl.DataFrame]:
    total, done = sources.count_formulas(), 0
    for some in sources.formulas():
        progress(done, total)
        yield some.select("formula_id", pl.col("latex").fill_null(""))
        done += some.height
