"""Random sparse tensors to measure with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.benchmark.utils.fuzzer import FuzzedTensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FuzzedSparseTensor"]


class FuzzedSparseTensor(FuzzedTensor):
    """A COO tensor; parameters name its number of sparse dimensions, its elements or their share, and whether each
    place comes once.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        min_elements: int | None = None,
        max_elements: int | None = None,
        dim_parameter: str | None = None,
        sparse_dim: str | None = None,
        nnz: str | None = None,
        density: str | None = None,
        coalesced: str | None = None,
        dtype: torch.dtype = torch.float32,
        cuda: bool = False,
    ) -> None:
        super().__init__(
            name,
            size=size,
            min_elements=min_elements,
            max_elements=max_elements,
            dim_parameter=dim_parameter,
            dtype=dtype,
            cuda=cuda,
        )
        self._sparse_dim, self._nnz, self._density, self._coalesced = sparse_dim, nnz, density, coalesced

    @staticmethod
    def sparse_tensor_constructor(
        size: tuple[int, ...], dtype: torch.dtype, sparse_dim: int, nnz: int, is_coalesced: bool
    ) -> torch.Tensor:
        """A tensor of `nnz` elements at random places; coalesced, of as many as there are different ones."""
        values = FuzzedTensor.default_tensor_constructor((nnz, *size[sparse_dim:]), dtype)
        places = torch.rand(sparse_dim, nnz)
        indices = (places * torch.tensor(size[:sparse_dim]).unsqueeze(1)).to(torch.int64)
        made = torch.sparse_coo_tensor(indices, values, torch.Size(size))
        if is_coalesced:
            return made.coalesce()
        # Two halves with the same places are not coalesced, whatever was drawn.
        return torch.sparse_coo_tensor(torch.cat([indices, indices], 1), torch.cat([values, values]), torch.Size(size))

    def _make_tensor(self, params: dict[str, Any], state: np.random.RandomState) -> tuple[torch.Tensor, dict[str, Any]]:
        size, _, _ = self._sizes_of(params)
        sparse_dim = len(size) if self._sparse_dim is None else min(params[self._sparse_dim], len(size))
        if self._nnz is not None:
            nnz = params[self._nnz]
        else:
            share = 0.1 if self._density is None else params[self._density]
            nnz = math.ceil(math.prod(size[:sparse_dim]) * share)
        coalesced = bool(params[self._coalesced]) if self._coalesced is not None else True
        tensor = self.sparse_tensor_constructor(size, self._dtype, sparse_dim, nnz, coalesced)
        if self._cuda:
            tensor = tensor.cuda()
        properties = {
            "numel": tensor.numel(),
            "shape": tensor.size(),
            "is_coalesced": tensor.is_coalesced(),
            "density": nnz / max(math.prod(size[:sparse_dim]), 1),
            "sparsity": 1 - nnz / max(math.prod(size[:sparse_dim]), 1),
            "sparse_dim": tensor.sparse_dim(),
            "dense_dim": tensor.dense_dim(),
            "is_hybrid": tensor.dense_dim() > 0,
            "dtype": str(self._dtype),
        }
        return tensor, properties
