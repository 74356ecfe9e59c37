"""Progress and log messages of a running search."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

logger = logging.getLogger("rthiss")


class Progress(NamedTuple):
    """How far a search is.

    Attributes
    ----------
    stage : str
        Of the pipeline, as in the statistics: "order", "group", "refine", ...
    batch, batches : int
        Batches done, and of how many.
    work_done, work_total : int
        Candidates refined, and of how many. Their ratio is the share that is done.
    pairs : int
        Ordered pairs found so far.
    """

    stage: str
    batch: int
    batches: int
    work_done: int
    work_total: int
    pairs: int


ProgressOption: TypeAlias = Callable[[Progress], object] | bool | None
RawCallback: TypeAlias = Callable[[str, int, int, int, int, int], object] | None


class Reports(NamedTuple):
    """What the C++ side calls: each a callable or None."""

    progress: RawCallback
    log: Callable[[str], object] | None


@contextmanager
def reporting(progress: ProgressOption) -> Iterator[Reports]:
    """Callables for one search: ``progress`` is a callback that takes a `Progress`, or True for a tqdm bar."""
    log = logger.info if logger.isEnabledFor(logging.INFO) else None
    if progress is None or progress is False:
        yield Reports(None, log)
    elif progress is True:
        with _Bar() as bar:
            yield Reports(bar.update, log)
    elif callable(progress):
        callback = progress
        yield Reports(lambda *fields: callback(Progress(*fields)), log)
    else:
        raise TypeError(f"progress: expected a callable, True, False or None, got {progress!r}")


class _Bar:
    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress=True needs the package tqdm: pip install tqdm") from None
        self._bar: Any = tqdm(unit=" candidates", unit_scale=True)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def update(self, stage: str, batch: int, batches: int, work_done: int, work_total: int, pairs: int) -> None:
        bar = self._bar
        bar.total = work_total
        bar.set_postfix(pairs=pairs, refresh=False)
        bar.update(max(0, work_done - bar.n))
