"""Settings of PyTorch's compiler that programs set. They are kept; eager code does not depend on them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def patch(arguments: Any = None, **changes: Any) -> Iterator[None]:
    """A block, or a decorated function, with other settings: by name, as a dict, or as a name and its value."""
    module = sys.modules[__name__]
    wanted = dict(arguments or {}, **changes)
    before = {name: getattr(module, name) for name in wanted if hasattr(module, name)}
    for name, value in wanted.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name in wanted:
            setattr(module, name, before[name]) if name in before else delattr(module, name)


suppress_errors = False
verbose = False
cache_size_limit = 8
recompile_limit = 8
accumulated_recompile_limit = 256
accumulated_cache_size_limit = 256
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
optimize_ddp = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
allow_rnn = False
disable = False
triton = SimpleNamespace(unique_kernel_names=True, cudagraphs=False)
