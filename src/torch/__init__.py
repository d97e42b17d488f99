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

from torch import _spins as _spins

_spins.limit()
from torch import _C  # noqa: E402

_spins.restore()
from torch._C import (  # noqa: E402
    AcceleratorError,
    Generator,
    OutOfMemoryError,
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    default_generator,
    device,
    dtype,
    get_default_dtype,
    get_num_threads,
    is_grad_enabled,
    jagged,
    layout,
    memory_format,
    preserve_format,
    set_num_threads,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)

_dtypes = {name: value for name, value in vars(_C._dtypes).items() if isinstance(value, dtype)}
globals().update(_dtypes)
# Types that programs compare with, and that no tensor has here.
globals().update({name: value for name, value in vars(_C._named_dtypes).items() if isinstance(value, dtype)})

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
from torch.torch_version import TorchVersion  # noqa: E402

__version__ = TorchVersion(version.__version__)

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
bit, chalf = uint1, complex32  # noqa: F821 - dtypes from the tables above

# `torch.version.cuda` asks the plug-in, which may be installed after this package was built.
version.__getattr__ = _bindings.version_attribute  # type: ignore[method-assign]

_C.__getattr__ = _bindings.core_attribute  # type: ignore[attr-defined]
_bindings.show_core_module("_functorch", "torch._functorch._levels")

_bindings.export_functions(globals())


# What type checkers read in place of `_bindings`' tables and `__getattr__`; a test compares the two.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch import (
        __config__ as __config__,
        __future__ as __future__,
        accelerator as accelerator,
        amp as amp,
        ao as ao,
        autograd as autograd,
        backends as backends,
        classes as classes,
        compiler as compiler,
        cpu as cpu,
        cuda as cuda,
        distributed as distributed,
        distributions as distributions,
        export as export,
        fft as fft,
        func as func,
        functional as functional,
        futures as futures,
        fx as fx,
        hub as hub,
        jit as jit,
        library as library,
        linalg as linalg,
        masked as masked,
        mps as mps,
        mtia as mtia,
        multiprocessing as multiprocessing,
        nested as nested,
        nn as nn,
        numa as numa,
        onnx as onnx,
        optim as optim,
        overrides as overrides,
        package as package,
        profiler as profiler,
        quantization as quantization,
        quasirandom as quasirandom,
        random as random,
        return_types as return_types,
        serialization as serialization,
        signal as signal,
        sparse as sparse,
        special as special,
        storage as storage,
        testing as testing,
        torch_version as torch_version,
        types as types,
        utils as utils,
        xpu as xpu,
    )
    from torch.__config__ import (
        has_cuda as has_cuda,
        has_cudnn as has_cudnn,
        has_lapack as has_lapack,
        has_mkl as has_mkl,
        has_mkldnn as has_mkldnn,
        has_mps as has_mps,
        has_openmp as has_openmp,
        has_spectral as has_spectral,
    )
    from torch._C._dtypes import *  # noqa: F403
    from torch._C._VariableFunctions import *  # noqa: F403
    from torch._checks import (
        _assert as _assert,
        _assert_async as _assert_async,
        _check as _check,
        _check_index as _check_index,
        _check_is_size as _check_is_size,
        _check_not_implemented as _check_not_implemented,
        _check_tensor_all as _check_tensor_all,
        _check_tensor_all_with as _check_tensor_all_with,
        _check_type as _check_type,
        _check_value as _check_value,
        _check_with as _check_with,
    )
    from torch._compile import compile as compile
    from torch._core_names import (
        DeviceObjType as DeviceObjType,
        TensorType as TensorType,
        _cast_Double as _cast_Double,
        _cast_Float as _cast_Float,
        _cast_Half as _cast_Half,
        _cast_Int as _cast_Int,
        _cast_Long as _cast_Long,
        _shape_as_tensor as _shape_as_tensor,
    )
    from torch._devices import (
        Event as Event,
        Stream as Stream,
        get_device as get_device,
        get_device_module as get_device_module,
    )
    from torch._file_reader import PyTorchFileReader as PyTorchFileReader
    from torch._legacy import (
        BFloat16Tensor as BFloat16Tensor,
        BoolTensor as BoolTensor,
        ByteTensor as ByteTensor,
        CharTensor as CharTensor,
        DoubleTensor as DoubleTensor,
        FloatTensor as FloatTensor,
        HalfTensor as HalfTensor,
        IntTensor as IntTensor,
        LongTensor as LongTensor,
        ShortTensor as ShortTensor,
        set_default_tensor_type as set_default_tensor_type,
    )
    from torch._linalg_utils import (
        eig as eig,
        lstsq as lstsq,
        matrix_rank as matrix_rank,
        solve as solve,
        symeig as symeig,
    )
    from torch._lobpcg import lobpcg as lobpcg
    from torch._lowrank import pca_lowrank as pca_lowrank, svd_lowrank as svd_lowrank
    from torch._ops import Tag as Tag, ops as ops
    from torch._switches import (
        are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
        get_deterministic_debug_mode as get_deterministic_debug_mode,
        get_float32_matmul_precision as get_float32_matmul_precision,
        get_num_interop_threads as get_num_interop_threads,
        init_num_threads as init_num_threads,
        is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
        is_warn_always_enabled as is_warn_always_enabled,
        set_deterministic_debug_mode as set_deterministic_debug_mode,
        set_float32_matmul_precision as set_float32_matmul_precision,
        set_flush_denormal as set_flush_denormal,
        set_num_interop_threads as set_num_interop_threads,
        set_warn_always as set_warn_always,
        use_deterministic_algorithms as use_deterministic_algorithms,
    )
    from torch._symbolic import (
        SymBool as SymBool,
        SymFloat as SymFloat,
        SymInt as SymInt,
        sym_constrain_range as sym_constrain_range,
        sym_constrain_range_for_size as sym_constrain_range_for_size,
        sym_float as sym_float,
        sym_fresh_size as sym_fresh_size,
        sym_int as sym_int,
        sym_ite as sym_ite,
        sym_max as sym_max,
        sym_min as sym_min,
        sym_not as sym_not,
        sym_sqrt as sym_sqrt,
        sym_sum as sym_sum,
    )
    from torch._tensor_str import (
        set_printoptions as set_printoptions,
    )
    from torch._type_info import (
        finfo as finfo,
        iinfo as iinfo,
    )
    from torch._utils import _has_compatible_shallow_copy_type as _has_compatible_shallow_copy_type
    from torch.amp import (
        GradScaler as GradScaler,
        autocast as autocast,
    )
    from torch.amp.autocast_mode import (
        autocast_decrement_nesting as autocast_decrement_nesting,
        autocast_increment_nesting as autocast_increment_nesting,
        clear_autocast_cache as clear_autocast_cache,
        get_autocast_cpu_dtype as get_autocast_cpu_dtype,
        get_autocast_dtype as get_autocast_dtype,
        get_autocast_gpu_dtype as get_autocast_gpu_dtype,
        get_autocast_ipu_dtype as get_autocast_ipu_dtype,
        get_autocast_xla_dtype as get_autocast_xla_dtype,
        is_autocast_cache_enabled as is_autocast_cache_enabled,
        is_autocast_cpu_enabled as is_autocast_cpu_enabled,
        is_autocast_enabled as is_autocast_enabled,
        is_autocast_ipu_enabled as is_autocast_ipu_enabled,
        is_autocast_xla_enabled as is_autocast_xla_enabled,
        set_autocast_cache_enabled as set_autocast_cache_enabled,
        set_autocast_cpu_dtype as set_autocast_cpu_dtype,
        set_autocast_cpu_enabled as set_autocast_cpu_enabled,
        set_autocast_dtype as set_autocast_dtype,
        set_autocast_enabled as set_autocast_enabled,
        set_autocast_gpu_dtype as set_autocast_gpu_dtype,
        set_autocast_ipu_dtype as set_autocast_ipu_dtype,
        set_autocast_ipu_enabled as set_autocast_ipu_enabled,
        set_autocast_xla_dtype as set_autocast_xla_dtype,
        set_autocast_xla_enabled as set_autocast_xla_enabled,
    )
    from torch.autograd.anomaly_mode import (
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
        is_anomaly_enabled as is_anomaly_enabled,
        set_anomaly_enabled as set_anomaly_enabled,
    )
    from torch.func import vmap as vmap
    from torch.functional import (
        atleast_1d as atleast_1d,
        atleast_2d as atleast_2d,
        atleast_3d as atleast_3d,
        block_diag as block_diag,
        broadcast_shapes as broadcast_shapes,
        broadcast_tensors as broadcast_tensors,
        cartesian_prod as cartesian_prod,
        cdist as cdist,
        chain_matmul as chain_matmul,
        cond as cond,
        einsum as einsum,
        get_default_device as get_default_device,
        is_storage as is_storage,
        is_tensor as is_tensor,
        lu as lu,
        meshgrid as meshgrid,
        nonzero as nonzero,
        norm as norm,
        set_default_device as set_default_device,
        set_default_dtype as set_default_dtype,
        split as split,
        stft as stft,
        tensordot as tensordot,
        typename as typename,
        unique as unique,
        unique_consecutive as unique_consecutive,
        unravel_index as unravel_index,
    )
    from torch.futures import (
        Future as Future,
    )
    from torch.jit import (
        ScriptFunction as ScriptFunction,
        ScriptModule as ScriptModule,
        fork as fork,
        wait as wait,
    )
    from torch.nn.functional.positional import (
        affine_grid_generator as affine_grid_generator,
        embedding_bag as embedding_bag,
    )
    from torch.random import (
        fork_rng as fork_rng,
        get_rng_state as get_rng_state,
        initial_seed as initial_seed,
        manual_seed as manual_seed,
        seed as seed,
        set_rng_state as set_rng_state,
        thread_safe_generator as thread_safe_generator,
    )
    from torch.serialization import (
        load as load,
        save as save,
    )
    from torch.sparse._making import (
        dsmm as dsmm,
        hsmm as hsmm,
        saddmm as saddmm,
        sparse_compressed_tensor as sparse_compressed_tensor,
        sparse_coo_tensor as sparse_coo_tensor,
        sparse_csc_tensor as sparse_csc_tensor,
        sparse_csr_tensor as sparse_csr_tensor,
        spmm as spmm,
    )
    from torch.storage import (
        Storage as Storage,
        TypedStorage as TypedStorage,
        UntypedStorage as UntypedStorage,
        from_file as from_file,
    )
    from torch.utils.dlpack import from_dlpack as from_dlpack

    # Not in the stubs of the core, which list what tensors can be of.
    complex32: dtype
    float8_e5m2: dtype
    float8_e4m3fn: dtype
    float8_e5m2fnuz: dtype
    float8_e4m3fnuz: dtype
    float8_e8m0fnu: dtype
    float4_e2m1fn_x2: dtype
    qint8: dtype
    quint8: dtype
    qint32: dtype
    quint4x2: dtype
    quint2x4: dtype
    bits1x8: dtype
    bits2x4: dtype
    bits4x2: dtype
    bits8: dtype
    bits16: dtype
    int1: dtype
    int2: dtype
    int3: dtype
    int4: dtype
    int5: dtype
    int6: dtype
    int7: dtype
    uint1: dtype
    uint2: dtype
    uint3: dtype
    uint4: dtype
    uint5: dtype
    uint6: dtype
    uint7: dtype
else:

    def __getattr__(name):
        """Imports submodules and the functions that live in them when they are first used."""
        return _bindings.lazy_attribute(name, globals())


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *_bindings.LAZY_ATTRIBUTES, *_bindings.public_submodules()})


__all__ = [
    "AcceleratorError",
    "Generator",
    "OutOfMemoryError",
    "Size",
    "Tensor",
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "default_generator",
    "device",
    "dtype",
    "e",
    "enable_grad",
    "get_default_dtype",
    "get_num_threads",
    "inf",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "jagged",
    "layout",
    "memory_format",
    "nan",
    "newaxis",
    "no_grad",
    "pi",
    "preserve_format",
    "set_grad_enabled",
    "set_num_threads",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
    "version",
]
__all__ += _dtypes
__all__ += _bindings.EXPORTED
