"""Packages of code and weights in one file: names that programs mention. None are written or read here."""

from torch import _unavailable

__getattr__ = _unavailable.define(__name__, "torch.package is not supported: save a state_dict with torch.save")
