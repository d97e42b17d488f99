"""Neural networks: modules, their parameters, losses, and `functional` and `init` beside them."""

from torch.nn import functional, init, utils
from torch.nn.modules import *  # noqa: F403
from torch.nn.modules import __all__ as _modules
from torch.nn.parameter import Buffer, Parameter

__all__ = ["Buffer", "Parameter", "functional", "init", "utils"]
__all__ += _modules
