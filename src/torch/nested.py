"""Nested tensors: names that programs mention. There are none here; torch.nn.utils.rnn packs and pads sequences."""

from torch import _unavailable

__getattr__ = _unavailable.define(__name__, "nested tensors are not supported: pad them, with a mask")
