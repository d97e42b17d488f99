"""Where libraries find the parts of PyTorch's loader: `collate`, `worker`, `pin_memory`, `fetch`."""

from torch import _bindings

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
HAS_NUMPY = True
python_exit_status = False

__getattr__ = _bindings.submodules(__name__)
