"""The CUDA plug-in."""

from torch import _C


def is_built() -> bool:
    """Whether the plug-in is installed; says nothing about a device (see torch.cuda.is_available)."""
    return _C._cuda_version() is not None


class _Matmul:
    """Switches of products of matrices on CUDA devices. They are kept; products are exact here."""

    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False


matmul = _Matmul()
