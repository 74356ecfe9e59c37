"""The result of a search."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import scipy.sparse

IdArray = npt.NDArray[np.int32] | npt.NDArray[np.int64]


def as_int64(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same memory under NumPy's own name of the type: C has two integers of 64 bits."""
    return array.view(np.int64)


class NeighborLists:
    """The neighbours of every query, as compressed sparse rows.

    Attributes
    ----------
    indptr : ndarray of int64, shape (m + 1,)
        The neighbours of query ``i`` stand at ``indptr[i]:indptr[i + 1]``.
    indices : ndarray of int32 or int64, shape (nnz,)
        Row numbers of the neighbours, ascending for each query. int32 where the number of rows searched and `nnz` are
        below 2^31.
    distances : ndarray of float64, shape (nnz,), or None
        True distances, rounded once, in the unit of the data; with ``metric="cosine_similarity"`` the similarities.
        None where they were not asked for.
    shape : tuple of int
        (m, n): queries, and rows searched.
    statistics : Mapping
        What the search did: engine, index, seconds for each stage, pairs that each tier of arithmetic decided, and what
        ``"auto"`` chose.

    Examples
    --------
    >>> import numpy as np, rthiss
    >>> near = rthiss.self_join(np.array([[0.0], [1.0], [1.0]]), 1.0, return_distance=True)
    >>> near
    <rthiss.NeighborLists: 3 queries, 3 rows, 6 pairs, with distances>
    >>> near[0]
    array([1, 2], dtype=int32)
    >>> near.counts
    array([2, 2, 2])
    >>> near.to_scipy().toarray()
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """

    __slots__ = ("distances", "indices", "indptr", "shape", "statistics")

    def __init__(
        self,
        indptr: npt.NDArray[np.int64],
        indices: IdArray,
        distances: npt.NDArray[np.float64] | None,
        shape: tuple[int, int],
        statistics: Mapping[str, Any] | None = None,
    ) -> None:
        self.indptr = indptr
        self.indices = indices
        self.distances = distances
        self.shape = shape
        self.statistics: Mapping[str, Any] = statistics if statistics is not None else {}

    @property
    def nnz(self) -> int:
        """Number of pairs."""
        return len(self.indices)

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of neighbours of each query, int64, shape (m,)."""
        return np.diff(self.indptr)

    def pairs(self) -> npt.NDArray[np.int64]:
        """All pairs (query, neighbour) in ascending order, int64, shape (nnz, 2)."""
        pairs = np.empty((self.nnz, 2), dtype=np.int64)
        pairs[:, 0] = np.repeat(np.arange(len(self)), self.counts)
        pairs[:, 1] = self.indices
        return pairs

    def to_scipy(self) -> "scipy.sparse.csr_matrix":
        """The same as a `scipy.sparse.csr_matrix` of shape (m, n): distances, or 1.0 where there are none.

        Equal rows keep their entry, an explicit zero: `eliminate_zeros` would drop neighbours. Shares memory with this
        result. Needs SciPy.
        """
        from scipy.sparse import csr_matrix

        data = np.ones(self.nnz) if self.distances is None else self.distances
        return csr_matrix((data, self.indices, self.indptr), shape=self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, query: int) -> IdArray:
        """Row numbers of the neighbours of one query."""
        begin, end = self._range(query)
        return self.indices[begin:end]

    def distances_of(self, query: int) -> npt.NDArray[np.float64]:
        """Distances to the neighbours of one query, in the order of ``lists[query]``."""
        if self.distances is None:
            raise ValueError("the search was made without return_distance=True")
        begin, end = self._range(query)
        return self.distances[begin:end]

    def _range(self, query: int) -> tuple[int, int]:
        rows = len(self)
        if not -rows <= query < rows:
            raise IndexError(f"query {query} of {rows}")
        place = query % rows
        return int(self.indptr[place]), int(self.indptr[place + 1])

    def __repr__(self) -> str:
        distances = ", with distances" if self.distances is not None else ""
        return f"<rthiss.NeighborLists: {self.shape[0]} queries, {self.shape[1]} rows, {self.nnz} pairs{distances}>"
