"""Which names `torch` shows, and where each one comes from.

An operator comes from the compiled core, which knows from native_functions.yaml which ones `torch` shows. A name below
comes from a Python module, which is imported when the name is first used; it stands in front of the operator of that
name (`torch.norm` takes more than `norm` of the core does). Every other name may be a submodule.
"""

from __future__ import annotations

import sys
from importlib import import_module

from torch import _C

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The types that torch.FloatTensor and its like are of.
LEGACY_NAMES = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")

# What programs take from PyTorch's core by way of `torch`; dir(torch) does not have it.
UNLISTED_ATTRIBUTES = {
    "StorageBase": "torch._C",
    "to_dlpack": "torch.utils.dlpack",
    **dict.fromkeys(
        [
            "legacy_contiguous_format",
            "per_channel_affine",
            "per_channel_affine_float_qparams",
            "per_channel_symmetric",
            "per_tensor_affine",
            "per_tensor_symmetric",
            "qscheme",
            "read_vitals",
            "set_vital",
            "vitals_enabled",
        ],
        "torch._core_names",
    ),
}
LAZY_ATTRIBUTES = {
    **dict.fromkeys(["load", "save"], "torch.serialization"),
    **dict.fromkeys(["finfo", "iinfo"], "torch._type_info"),
    **dict.fromkeys(
        ["fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state", "thread_safe_generator"],
        "torch.random",
    ),
    **dict.fromkeys(
        [
            "atleast_1d",
            "atleast_2d",
            "atleast_3d",
            "broadcast_shapes",
            "block_diag",
            "broadcast_tensors",
            "cartesian_prod",
            "cdist",
            "chain_matmul",
            "cond",
            "einsum",
            "get_default_device",
            "is_storage",
            "is_tensor",
            "lu",
            "meshgrid",
            "nonzero",
            "norm",
            "set_default_device",
            "set_default_dtype",
            "split",
            "stft",
            "tensordot",
            "typename",
            "unique",
            "unique_consecutive",
            "unravel_index",
        ],
        "torch.functional",
    ),
    "set_printoptions": "torch._tensor_str",
    **dict.fromkeys(["pca_lowrank", "svd_lowrank"], "torch._lowrank"),
    "lobpcg": "torch._lobpcg",
    **dict.fromkeys(
        [
            "dsmm",
            "hsmm",
            "saddmm",
            "sparse_compressed_tensor",
            "sparse_coo_tensor",
            "sparse_csc_tensor",
            "sparse_csr_tensor",
            "spmm",
        ],
        "torch.sparse._making",
    ),
    **dict.fromkeys(["eig", "lstsq", "matrix_rank", "solve", "symeig"], "torch._linalg_utils"),
    **dict.fromkeys(["Tag", "ops"], "torch._ops"),
    "from_dlpack": "torch.utils.dlpack",
    "_has_compatible_shallow_copy_type": "torch._utils",
    "PyTorchFileReader": "torch._file_reader",
    **dict.fromkeys(
        ["is_anomaly_enabled", "is_anomaly_check_nan_enabled", "set_anomaly_enabled"], "torch.autograd.anomaly_mode"
    ),
    **dict.fromkeys(["Event", "Stream", "get_device", "get_device_module"], "torch._devices"),
    **dict.fromkeys(
        ["has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp", "has_spectral"],
        "torch.__config__",
    ),
    **dict.fromkeys(["fork", "wait"], "torch.jit"),
    **dict.fromkeys(
        [
            "SymBool",
            "SymFloat",
            "SymInt",
            "sym_constrain_range",
            "sym_constrain_range_for_size",
            "sym_float",
            "sym_fresh_size",
            "sym_int",
            "sym_ite",
            "sym_max",
            "sym_min",
            "sym_not",
            "sym_sqrt",
            "sym_sum",
        ],
        "torch._symbolic",
    ),
    **dict.fromkeys(
        [
            "affine_grid_generator",
            "embedding_bag",
        ],
        "torch.nn.functional.positional",
    ),
    "vmap": "torch.func",
    "compile": "torch._compile",
    "autocast": "torch.amp",
    **dict.fromkeys(
        [
            "autocast_decrement_nesting",
            "autocast_increment_nesting",
            "clear_autocast_cache",
            "get_autocast_cpu_dtype",
            "get_autocast_dtype",
            "get_autocast_gpu_dtype",
            "get_autocast_ipu_dtype",
            "get_autocast_xla_dtype",
            "is_autocast_cache_enabled",
            "is_autocast_cpu_enabled",
            "is_autocast_enabled",
            "is_autocast_ipu_enabled",
            "is_autocast_xla_enabled",
            "set_autocast_cache_enabled",
            "set_autocast_cpu_dtype",
            "set_autocast_cpu_enabled",
            "set_autocast_dtype",
            "set_autocast_enabled",
            "set_autocast_gpu_dtype",
            "set_autocast_ipu_dtype",
            "set_autocast_ipu_enabled",
            "set_autocast_xla_dtype",
            "set_autocast_xla_enabled",
        ],
        "torch.amp.autocast_mode",
    ),
    **dict.fromkeys(
        [
            "are_deterministic_algorithms_enabled",
            "get_deterministic_debug_mode",
            "get_float32_matmul_precision",
            "get_num_interop_threads",
            "init_num_threads",
            "is_deterministic_algorithms_warn_only_enabled",
            "is_warn_always_enabled",
            "set_deterministic_debug_mode",
            "set_float32_matmul_precision",
            "set_flush_denormal",
            "set_num_interop_threads",
            "set_warn_always",
            "use_deterministic_algorithms",
        ],
        "torch._switches",
    ),
    **dict.fromkeys(["Storage", "TypedStorage", "UntypedStorage", "from_file"], "torch.storage"),
    **dict.fromkeys(
        [
            "_assert",
            "_assert_async",
            "_check",
            "_check_index",
            "_check_is_size",
            "_check_not_implemented",
            "_check_tensor_all",
            "_check_tensor_all_with",
            "_check_type",
            "_check_value",
            "_check_with",
        ],
        "torch._checks",
    ),
    "Future": "torch.futures",
    "GradScaler": "torch.amp",
    **dict.fromkeys(
        ["DeviceObjType", "TensorType", "_cast_Double", "_cast_Float", "_cast_Half", "_cast_Int", "_cast_Long"],
        "torch._core_names",
    ),
    "_shape_as_tensor": "torch._core_names",
    **dict.fromkeys(["ScriptFunction", "ScriptModule"], "torch.jit"),
    "set_default_tensor_type": "torch._legacy",
    **dict.fromkeys([f"{name}Tensor" for name in LEGACY_NAMES], "torch._legacy"),
    **dict.fromkeys(
        [f"{value._type_name}Storage" for value in vars(_C._dtypes).values() if isinstance(value, _C.dtype)],
        "torch.storage",
    ),
}

# What a function in front of it calls, and nobody else: torch.unique(dim=...), torch.sparse.sampled_addmm.
HIDDEN = frozenset({"sparse_sampled_addmm", "unique_dim"})

EXPORTED: list[str] = []


def export_functions(namespace: dict[str, object]) -> None:
    """Puts the operators into torch's namespace, except those that a Python function stands in front of."""
    functions = _C._VariableFunctions
    for name in dir(functions):
        if not name.startswith("_") and name not in HIDDEN and name not in LAZY_ATTRIBUTES:
            namespace.setdefault(name, getattr(functions, name))
            EXPORTED.append(name)


def public_submodules() -> list[str]:
    """The submodules of torch whose names do not begin with a single underscore."""
    import pkgutil

    names = [module.name for module in pkgutil.iter_modules(_folders())]
    return [name for name in names if name.startswith("__") or not name.startswith("_")]


def lazy_attribute(name: str, namespace: dict[str, object]) -> object:
    """`torch.NAME` for a name that `import torch` did not load; AttributeError if there is none."""
    home = LAZY_ATTRIBUTES.get(name) or UNLISTED_ATTRIBUTES.get(name)
    if home is None and name.startswith("_foreach_"):
        home = "torch._foreach"
    if home is not None:
        value: object = getattr(import_module(home), name)
        namespace[name] = value
        return value
    if name == "torch":
        return sys.modules["torch"]  # as in PyTorch, whose core names it: some programs say torch.torch.Tensor
    from importlib.machinery import PathFinder  # here, since `import torch` does not need it

    spec = PathFinder.find_spec(f"torch.{name}", _folders())
    if spec is not None and spec.origin is not None:  # a folder without Python files has no origin
        return import_module(f"torch.{name}")
    if name.startswith("_") and not name.startswith("__"):
        # torch._unique2: no public name, and PyTorch has it
        operator: object = getattr(_C._VariableFunctions, name, None)
        if operator is not None:
            namespace[name] = operator
            return operator
    from torch._missing import missing_name

    raise missing_name("torch", name)


def submodules(package: str) -> Callable[[str], object]:
    """The `__getattr__` of a package whose modules are imported when they are first used."""

    def get(name: str) -> object:
        from importlib.machinery import PathFinder

        if not name.startswith("__"):
            spec = PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__)
            if spec is not None and spec.origin is not None:
                return import_module(f"{package}.{name}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)

    return get


def _folders() -> list[str]:
    return list(sys.modules["torch"].__path__)


def core_attribute(name: str) -> object:
    """`torch._C.NAME` for a name of PyTorch's dispatcher."""
    if name in (
        "DispatchKey",
        "DispatchKeySet",
        "_ExcludeDispatchKeyGuard",
        "_IncludeDispatchKeyGuard",
        "_get_tracing_state",
    ):
        return getattr(import_module("torch._dispatch_keys"), name)
    if not name.startswith("__"):
        found: object = getattr(import_module("torch._core_names"), name, None)
        if found is not None:
            return found
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


def show_core_module(name: str, home: str) -> None:
    """Makes the module `home` known as `torch._C.NAME`, which some programs import names from; it is loaded then."""
    module = type(sys)(f"torch._C.{name}")
    module.__getattr__ = lambda attribute: getattr(import_module(home), attribute)  # type: ignore[method-assign]
    sys.modules[module.__name__] = module
    setattr(_C, name, module)


def version_attribute(name: str) -> str | None:
    """`torch.version.cuda`: the CUDA toolkit of the plug-in, None without one."""
    if name == "cuda":
        return _C._cuda_version()
    if name == "hip":
        return None
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
