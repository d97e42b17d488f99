"""The old home of CUDA's `GradScaler`."""

from torch.cuda.amp import GradScaler

__all__ = ["GradScaler"]
