"""Neural networks: modules, their parameters, losses, and `functional` and `init` beside them."""

from torch.nn import attention, functional, grad, init, parallel, utils
from torch.nn.modules import *  # noqa: F403
from torch.nn.modules import __all__ as _modules
from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch.nn.parallel import DataParallel
from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "LinearCrossEntropyOptions",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "grad",
    "init",
    "parallel",
    "utils",
]
__all__ += _modules
