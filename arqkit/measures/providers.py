"""The measures that ir_measures computes with the providers installed here."""

import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

import ir_measures
import numpy as np
import polars as pl
from ir_measures.providers import Evaluator, Provider
from numpy.typing import NDArray


class MeasureRefusedError(ValueError):
    """A measure that is invalid or that no installed provider computes.

    The message is for users.
    """


class MeasureFailedError(Exception):
    """A provider failed on a run."""


# Errors of providers when a value is undefined or a program fails.
_FAILURES = (
    ArithmeticError, AssertionError, LookupError, OSError, RuntimeError, TypeError, ValueError,
    subprocess.SubprocessError,
)  # fmt: skip
# gdeval reads files with columns separated by spaces.
_WITHOUT_BLANKS = (
    pl.col("item").str.replace_all("%", "%25", literal=True)
    .str.replace_all(" ", "%20", literal=True)
)  # fmt: skip


@lru_cache(maxsize=1024)
def require_provider(name: str) -> Provider:
    """Return the first installed provider that computes a measure, as ir_measures chooses it.

    Raises MeasureRefusedError if no installed provider computes it, with the package to install, or
    if the provider returns no value for a run that retrieves one relevant item.
    """
    measure = ir_measures.parse_measure(name)
    able: list[Provider] = [
        provider for provider in ir_measures.DefaultPipeline.providers if provider.supports(measure)
    ]
    provider = next((provider for provider in able if provider.is_available()), None)
    if provider is None:
        asked = [provider.install_instructions() or provider.NAME for provider in able]  # type: ignore[no-untyped-call]
        missing = " or ".join(map(str, asked))
        todo = f"Install a provider ({missing}) or use" if missing else "Use"
        raise MeasureRefusedError(f"No installed provider computes {name}. {todo} another measure.")
    try:
        metrics = list(provider.evaluator([measure], {"1": {"1": 1}}).iter_calc({"1": {"1": -1.0}}))
    except _FAILURES as error:
        raise _undefined(name) from error
    if len(metrics) != 1 or not np.isfinite(metrics[0].value):
        raise _undefined(name)
    return provider


def _undefined(name: str) -> MeasureRefusedError:
    return MeasureRefusedError(
        f"{name} has no value for some runs, so it has no mean over topics. Use another measure."
    )


class ProvidedMeasures:
    """Measures, given by name, that their providers compute for many runs.

    `judged` has the columns topic, code (of the topic, from 0), item and label.
    """

    def __init__(self, judged: pl.DataFrame, names: Iterable[str], *, topics: int) -> None:
        self._topics, self._lock = topics, threading.Lock()
        self._names = {ir_measures.parse_measure(name): name for name in names}
        passes: dict[tuple[Provider, ir_measures.Measure | None], list[ir_measures.Measure]] = (
            defaultdict(list)
        )
        for measure in self._names:
            # ir_measures joins a measure without `rel` to any pass of pytrec_eval, even one that
            # ranks judged items only or maps labels to gains. Such a measure gets its own pass.
            alone = None if "rel" in measure.params else measure
            passes[require_provider(self._names[measure]), alone].append(measure)
        uses_gdeval = any(provider is ir_measures.gdeval for provider, _ in passes)
        self._item = _WITHOUT_BLANKS if uses_gdeval else pl.col("item")
        labels = _nested(judged.select("code", self._item, value="label")) if self._names else {}
        self._codes = judged.select("topic", "code").unique()
        self._evaluators: list[Evaluator] = [
            provider.evaluator(group, labels) for (provider, _), group in passes.items()
        ]

    def values(self, index: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
        """Return the value of each topic by the measure's name. `index` has topic, item and order.

        Scores are descending whole numbers; below 2**24, no provider finds a tie. Raises
        MeasureFailedError if a provider fails.
        """
        values = {name: np.zeros(self._topics) for name in self._names.values()}
        if not values:
            return values
        rows = index.join(self._codes, on="topic")
        run = _nested(rows.select("code", self._item, value=-pl.col("order").cast(pl.Float64)))
        # Several threads score runs; no provider promises that it can be called by two at once.
        with self._lock:
            for evaluator in self._evaluators:
                try:
                    for metric in evaluator.iter_calc(run):
                        values[self._names[metric.measure]][int(metric.query_id)] = metric.value
                except _FAILURES as error:
                    raise MeasureFailedError(", ".join(map(str, evaluator.measures))) from error
        # trec_eval divides by zero if a topic has no relevant item. The value is 0, as for other
        # measures.
        return {name: np.nan_to_num(by_topic, copy=False) for name, by_topic in values.items()}


def _nested(rows: pl.DataFrame) -> dict[str, dict[str, float]]:
    lists = rows.group_by("code").agg("item", "value")
    return {
        str(code): dict(zip(items, values, strict=True))
        for code, items, values in lists.iter_rows()
    }
