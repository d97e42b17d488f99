"""Neural networks: modules, their parameters, losses, and `functional` and `init` beside them."""

from torch.nn import attention, functional, init, parallel, utils
from torch.nn.modules import *  # noqa: F403
from torch.nn.modules import __all__ as _modules
from torch.nn.parallel import DataParallel
from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "functional",
    "init",
    "parallel",
    "utils",
]
__all__ += _modules
