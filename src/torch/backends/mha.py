"""The fast path of `torch.nn.MultiheadAttention` in inference."""

_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether the fast path may be taken."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allows or forbids the fast path. Both compute the same numbers here."""
    global _enabled
    _enabled = value
