"""The first form of `torch.library.custom_op`; libraries import it."""

from torch.library import custom_op as custom_op
