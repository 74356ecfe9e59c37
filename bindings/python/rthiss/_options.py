"""The options that every search has, checked once."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, TypedDict, TypeVar

from rthiss import _core
from rthiss._inputs import as_count

Metric = Literal["euclidean", "cosine", "cosine_similarity"]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class SearchKeywords(TypedDict, total=False):
    """How to search: every choice gives the same answer. Described at `rthiss.Index`."""

    metric: Metric
    engine: str
    index: str
    preset: Literal["auto", "paper"]
    threads: int | None
    memory_limit: int | None
    max_results: int | None
    nonfinite: Literal["error", "ignore"]
    seed: int


def make_options(
    *,
    metric: Metric = "euclidean",
    engine: str = "auto",
    index: str = "auto",
    preset: Literal["auto", "paper"] = "auto",
    threads: int | None = None,
    memory_limit: int | None = None,
    max_results: int | None = None,
    nonfinite: Literal["error", "ignore"] = "error",
    seed: int = 1,
) -> _core.Options:
    return _core.Options(
        metric=metric,
        engine=engine,
        index=index,
        preset=preset,
        threads=_or_zero(threads, "threads"),
        memory_limit=_or_zero(memory_limit, "memory_limit"),
        max_results=_or_zero(max_results, "max_results"),
        nonfinite=nonfinite,
        seed=as_count(seed, "seed", 0),
    )


def _or_zero(value: Any, name: str) -> int:
    return 0 if value is None else as_count(value, name, 1)


def spell_out_options(function: _Function) -> _Function:
    """Shows the options in the signature of a function that takes them as ``**options``."""
    signature = inspect.signature(function)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    options = inspect.signature(make_options).parameters.values()
    function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function
