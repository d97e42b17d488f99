"""Names of sparse types from before `torch.dtype`: `isinstance(x, torch.cuda.sparse.FloatTensor)`."""

from __future__ import annotations

from torch._legacy import TENSOR_TYPES

globals().update({kind.__name__: kind for name, kind in TENSOR_TYPES.items() if name.rpartition(".")[0] == __name__})
