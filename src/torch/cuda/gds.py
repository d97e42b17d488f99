"""GPUDirect Storage: names that programs mention."""

from torch import _unavailable

__getattr__ = _unavailable.define(__name__, "files are not read past the host here: use torch.load and Tensor.cuda")
