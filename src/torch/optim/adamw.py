"""AdamW stands beside Adam, of which it is one form."""

from torch.optim.adam import AdamW

__all__ = ["AdamW"]
