"""torch: tensors on CPU and CUDA with automatic differentiation.

`import torch` loads the compiled core and the `Tensor` class, nothing else: `torch.nn`, `torch.optim`,
`torch.save` and every other part is imported when it is first used. `torch/README.md` lists what the compiled core
(`torch._C`) provides.
"""

# The dtypes `bool`, `int` and `float` shadow Python's names here, so this file holds no logic and no annotations.
import math as _math

try:
    from torch import version
except ImportError as error:
    raise ImportError(
        "torch is not built here: torch/version.py, which the build writes, is missing. "
        "Run `python setup.py develop` in the source folder, or leave that folder to import an installed torch."
    ) from error

from torch import _C
from torch._C import (
    Generator,
    Size,
    UntypedStorage,
    bfloat16,
    bool,
    channels_last,
    contiguous_format,
    default_generator,
    device,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    get_num_threads,
    int8,
    int16,
    int32,
    int64,
    is_grad_enabled,
    layout,
    memory_format,
    preserve_format,
    set_num_threads,
    strided,
    uint8,
)

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64

from torch._tensor import Tensor  # noqa: E402 - the C++ side needs the dtypes and the class in this order

_C._initExtension(Tensor)

from torch import _bindings  # noqa: E402
from torch.autograd.grad_mode import (  # noqa: E402
    enable_grad,
    inference_mode,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__version__ = version.__version__

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None

# `torch.version.cuda` asks the plug-in, which may be installed after this package was built.
version.__getattr__ = _bindings.version_attribute  # type: ignore[method-assign]

_bindings.export_functions(globals())


TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch._C._VariableFunctions import *  # noqa: F403


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Imports submodules and the functions that live in them when they are first used."""
    return _bindings.lazy_attribute(name, globals())


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *_bindings.LAZY_ATTRIBUTES, *_bindings.LAZY_MODULES})


__all__ = [
    "Generator",
    "Size",
    "Tensor",
    "UntypedStorage",
    "bfloat16",
    "bool",
    "channels_last",
    "contiguous_format",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "float",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "get_num_threads",
    "half",
    "inf",
    "inference_mode",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "long",
    "memory_format",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "preserve_format",
    "set_grad_enabled",
    "set_num_threads",
    "short",
    "strided",
    "uint8",
    "version",
]
__all__ += _bindings.EXPORTED
