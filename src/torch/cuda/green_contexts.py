"""Parts of a device with multiprocessors of their own: names that programs mention."""

from torch import _unavailable

__getattr__ = _unavailable.define(__name__, "a device is not divided here: use streams with priorities")
