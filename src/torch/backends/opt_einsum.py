"""The order of products in `torch.einsum` of more than two operands: from left to right, without opt_einsum."""

enabled = False
strategy = None


def is_available() -> bool:
    """Whether `torch.einsum` asks opt_einsum for an order: no."""
    return False


def get_opt_einsum() -> None:
    """opt_einsum, if it is used: None."""
