"""Which names `torch` shows, and where each one comes from."""

from __future__ import annotations

import sys
from importlib import import_module

from torch import _C

# Operators that PyTorch shows in torch.nn.functional only, or that only other operators call.
HIDDEN_OPERATORS = frozenset(
    {
        "binary_cross_entropy",
        "broadcast_tensors",
        "cross_entropy_loss",
        "embedding",
        "gelu",
        "gelu_backward",
        "index",
        "l1_loss",
        "layer_norm",
        "leaky_relu",
        "linear",
        "mse_loss",
        "nll_loss",
        "nll_loss_backward",
        "norm",
        "sigmoid_backward",
        "silu",
        "slice",
        "smooth_l1_loss",
        "tanh_backward",
    }
)

# Second names of operators, for torch.NAME and Tensor.NAME alike (with the in-place face where there is one).
ALIASES = {
    "absolute": "abs",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
}

# Functions and methods of torch._composites.
COMPOSITES = (
    "aminmax",
    "bincount",
    "count_nonzero",
    "diag",
    "diff",
    "fliplr",
    "flipud",
    "index_add",
    "index_put",
    "inner",
    "kron",
    "median",
    "nan_to_num",
    "repeat_interleave",
    "roll",
    "scatter",
    "scatter_add",
    "tile",
    "trace",
    "unique",
    "vdot",
)

LAZY_MODULES = frozenset(
    {
        "__config__",
        "autograd",
        "backends",
        "cuda",
        "functional",
        "multiprocessing",
        "nn",
        "optim",
        "random",
        "return_types",
        "serialization",
        "storage",
        "testing",
        "utils",
    }
)

LAZY_ATTRIBUTES = {
    **dict.fromkeys(["load", "save"], "torch.serialization"),
    **dict.fromkeys(["finfo", "iinfo"], "torch._type_info"),
    **dict.fromkeys(
        ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"], "torch.random"
    ),
    **dict.fromkeys(
        [
            "atleast_1d",
            "cdist",
            "column_stack",
            "broadcast_shapes",
            "broadcast_tensors",
            "einsum",
            "hstack",
            "is_nonzero",
            "is_storage",
            "is_tensor",
            "std_mean",
            "tril_indices",
            "triu_indices",
            "typename",
            "var_mean",
            "meshgrid",
            "norm",
            "set_default_device",
            "set_default_dtype",
            "tensordot",
            "vstack",
        ],
        "torch.functional",
    ),
    **dict.fromkeys(COMPOSITES, "torch._composites"),
    "set_printoptions": "torch._tensor_str",
    **dict.fromkeys(
        [
            "BoolStorage",
            "ByteStorage",
            "DoubleStorage",
            "FloatStorage",
            "IntStorage",
            "LongStorage",
            "TypedStorage",
        ],
        "torch.storage",
    ),
}

# What PyTorch has and this torch has not. The text says what to do.
NOT_HERE = {
    "compile": "call the model itself: it runs eagerly",
    "jit": "keep the model's Python source and its state_dict (torch.save)",
    "hub": "download the files yourself and use torch.load",
    "onnx": "export from another framework that reads the state_dict",
    "distributed": "run one process",
    "fft": "use numpy.fft on tensor.numpy()",
    "linalg": "use numpy.linalg on tensor.numpy()",
    "sparse": "use dense tensors",
    "vmap": "write the batch dimension out",
    "func": "use torch.autograd",
    **dict.fromkeys(["uint16", "uint32", "uint64"], "use torch.int32 or torch.int64"),
    **dict.fromkeys(["complex32", "complex64", "complex128"], "keep real and imaginary parts in two tensors"),
}

EXPORTED: list[str] = []


def export_functions(namespace: dict[str, object]) -> None:
    """Puts the operators and their aliases into torch's namespace, and the aliases into Tensor's."""
    functions = _C._VariableFunctions
    for name in dir(functions):
        if not name.startswith("_") and name not in HIDDEN_OPERATORS:
            namespace.setdefault(name, getattr(functions, name))
            EXPORTED.append(name)
    tensor = namespace["Tensor"]
    for name in COMPOSITES:
        setattr(tensor, name, _composite_method(name))
    for alias, name in ALIASES.items():
        namespace.setdefault(alias, getattr(functions, name))
        EXPORTED.append(alias)
        for suffix in ("", "_"):
            method = getattr(tensor, name + suffix, None)
            if method is not None and not hasattr(tensor, alias + suffix):
                setattr(tensor, alias + suffix, method)


def _composite_method(name: str) -> object:
    """A method that imports its function when it is first called."""

    def method(self: object, *args: object, **kwargs: object) -> object:
        from torch import _composites

        return getattr(_composites, name)(self, *args, **kwargs)

    method.__name__ = name
    return method


def lazy_attribute(name: str, namespace: dict[str, object]) -> object:
    """`torch.NAME` for a name that `import torch` did not load; AttributeError if there is none."""
    if name in LAZY_MODULES:
        return import_module("torch." + name)
    home = LAZY_ATTRIBUTES.get(name)
    if home is not None:
        value: object = getattr(import_module(home), name)
        namespace[name] = value
        return value
    advice = NOT_HERE.get(name)
    if advice is not None:
        raise AttributeError(f"this torch {sys.modules['torch'].__version__} has no torch.{name}: {advice}")
    raise AttributeError(f"module 'torch' has no attribute '{name}'")


def version_attribute(name: str) -> str | None:
    """`torch.version.cuda`: the CUDA toolkit of the plug-in, None without one."""
    if name == "cuda":
        return _C._cuda_version()
    if name == "hip":
        return None
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
