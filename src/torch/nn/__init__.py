"""Neural networks: modules, their parameters, losses, and `functional` and `init` beside them."""

from typing import Any

from torch.nn import attention, functional, grad, init, parallel, utils
from torch.nn.modules import *  # noqa: F403
from torch.nn.modules import __all__ as _modules
from torch.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from torch.nn.parallel import DataParallel
from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """What a function that makes tensors takes (device, dtype, memory_format), of a module's keyword arguments.

    They may also stand in a dictionary `factory_kwargs` among them. TypeError for others, or if one stands in both.
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    unknown = kwargs.keys() - names - {"factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for name in sorted(names & kwargs.keys()):
        if name in result:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        result[name] = kwargs[name]
    return result


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
