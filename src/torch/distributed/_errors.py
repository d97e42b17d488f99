"""What goes wrong between processes."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError"]


class DistError(RuntimeError):
    """Something between processes has failed."""


class DistBackendError(DistError):
    """A collective or a message has failed."""


class DistNetworkError(DistError):
    """A connection cannot be made, or has ended."""


class DistStoreError(DistError):
    """A store did not answer as it should, or not in time."""


for _error in (DistError, DistBackendError, DistNetworkError, DistStoreError):
    _error.__module__ = "torch.distributed"
