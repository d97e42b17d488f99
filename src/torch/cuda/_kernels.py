"""CUDA C++ that is compiled while the program runs, by NVRTC, and kept on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import _C
from torch.cuda._device import device_index, init
from torch.cuda._driver import driver, load_library

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN_SHARED_MEMORY = 48 * 1024
_MAX_DYNAMIC_SHARED_SIZE = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class _Compiler:
    """NVRTC, which is loaded with the first kernel that is not on disk."""

    def __init__(self) -> None:
        major = str(torch.version.cuda).partition(".")[0]
        self._library = load_library(f"libnvrtc.so.{major}", "the package cuda-nvrtc", "torch.cuda._compile_kernel")
        self._library.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _check(self, code: int) -> None:
        if code != 0:
            raise RuntimeError(f"NVRTC: {self._library.nvrtcGetErrorString(code).decode()}")

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, text))
        return text.raw

    def compile(self, source: str, name: str, options: Sequence[str]) -> tuple[str, bytes]:
        """The function's name in the binary, and the binary.

        Raises:
            RuntimeError: with the compiler's messages.
        """
        library = self._library
        program = ctypes.c_void_p()
        self._check(library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
        try:
            self._check(library.nvrtcAddNameExpression(program, name.encode()))
            encoded = [option.encode() for option in options]
            words = (ctypes.c_char_p * len(encoded))(*encoded)
            if library.nvrtcCompileProgram(program, len(encoded), words) != 0:
                log = self._text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
                raise RuntimeError(f"Kernel compilation failed:\n{log}")
            lowered = ctypes.c_char_p()
            self._check(library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered)))
            return (lowered.value or b"").decode(), self._text(program, "CUBIN")
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))


_compiler = cache(_Compiler)


def _cache_folder() -> Path | None:
    """Where compiled kernels are kept: PYTORCH_KERNEL_CACHE_PATH; nowhere with USE_PYTORCH_KERNEL_CACHE=0."""
    if os.environ.get("USE_PYTORCH_KERNEL_CACHE") == "0":
        return None
    named = os.environ.get("PYTORCH_KERNEL_CACHE_PATH")
    if named:
        return Path(named)
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "torch" / "kernels"


def _read(file: Path) -> tuple[str, bytes] | None:
    """What `_write` has written; None if it is not there, or not whole."""
    try:
        head, _, binary = file.read_bytes().partition(b"\n")
    except OSError:
        return None
    digest, _, lowered = head.decode(errors="replace").partition(" ")
    return (lowered, binary) if hashlib.sha256(binary).hexdigest() == digest else None


def _write(file: Path, lowered: str, binary: bytes) -> None:
    """Whole or not at all. A folder that cannot be written costs the next process a compilation, no more."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "wb") as output:
            output.write(f"{hashlib.sha256(binary).hexdigest()} {lowered}\n".encode() + binary)
        Path(temporary).replace(file)
    except OSError:
        return


def _compiled(source: str, name: str, options: tuple[str, ...]) -> tuple[str, bytes]:
    key = hashlib.sha256(repr((torch.version.cuda, source, name, options)).encode()).hexdigest()
    folder = _cache_folder()
    kept = _read(folder / key) if folder else None
    if kept is not None:
        return kept
    lowered, binary = _compiler().compile(source, name, options)
    if folder:
        _write(folder / key, lowered, binary)
    return lowered, binary


class Kernel:
    """A compiled kernel: `kernel(grid, block, [tensor, 5, 0.5])` queues it on the current stream.

    Tensors are passed as the addresses of their first elements, integers as `int`, other numbers as `float`,
    and ctypes' doubles and long longs as they are.
    """

    def __init__(self, name: str, lowered: str, binary: bytes) -> None:
        self.name = name
        self._lowered, self._binary = lowered, binary
        self._functions: dict[int, ctypes.c_void_p] = {}

    def _function(self, index: int) -> ctypes.c_void_p:
        """Of the device `index`, which is current."""
        if index not in self._functions:
            _C._cuda_memory_info(index)  # gives this thread the device's context
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            driver().call("cuModuleLoadData", ctypes.byref(module), self._binary)
            driver().call("cuModuleGetFunction", ctypes.byref(function), module, self._lowered.encode())
            self._functions[index] = function
        return self._functions[index]

    @staticmethod
    def _argument(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if not value.is_cuda and not value.is_pinned():
                raise ValueError("All tensor arguments must be CUDA tensors or pinned CPU tensors")
            return ctypes.c_void_p(value.data_ptr())
        if isinstance(value, (ctypes.c_double, ctypes.c_longlong)):
            return value
        if isinstance(value, int):
            if not -(2**31) <= value < 2**31:
                raise OverflowError(f"{value} does not fit a kernel's int")
            return ctypes.c_int(value)
        if isinstance(value, float):
            return ctypes.c_float(value)
        raise TypeError(f"Unsupported argument type: {type(value)}")

    def __call__(
        self,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (1, 1, 1),
        args: Sequence[Any] | None = None,
        shared_mem: int = 0,
        stream: torch.cuda.Stream | None = None,
    ) -> None:
        """Queues the kernel.

        Args:
            grid, block: blocks, and threads of each, in three dimensions.
            args: what the kernel takes, in its order.
            shared_mem: bytes of dynamic shared memory.
            stream: None is the current one.

        Raises:
            ValueError: a tensor that the device cannot read.
            RuntimeError: the driver's own words.
        """
        index = device_index(None)
        function = self._function(index)
        if shared_mem > _PLAIN_SHARED_MEMORY:
            driver().call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED_SIZE, shared_mem)
        values = [self._argument(value) for value in args or ()]
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        handle = _C._cuda_current_stream(index) if stream is None else stream.cuda_stream
        driver().call(
            "cuLaunchKernel",
            function,
            *map(ctypes.c_uint, (*grid, *block, shared_mem)),
            ctypes.c_void_p(handle),
            places,
            None,
        )


def compile_kernel(
    kernel_source: str,
    kernel_name: str,
    compute_capability: str | None = None,
    cuda_include_dirs: list[str] | None = None,
    nvcc_options: list[str] | None = None,
) -> Kernel:
    """A kernel made of CUDA C++.

    What was compiled before, by any process, is taken from disk: see PYTORCH_KERNEL_CACHE_PATH in `_cache_folder`.

    Args:
        kernel_source: the text, with a `__global__` function.
        kernel_name: its name; an instance of a template is named like `scale<float>`.
        compute_capability: "90"; None is the current device's.
        cuda_include_dirs: where further headers are.
        nvcc_options: further options of NVRTC.

    Raises:
        RuntimeError: it does not compile, or NVRTC cannot be loaded.

    Example:
        >>> source = '__global__ void twice(float* x, int n) { int i = threadIdx.x; if (i < n) x[i] *= 2; }'
        >>> twice = torch.cuda._compile_kernel(source, "twice")  # doctest: +SKIP
        >>> twice((1, 1, 1), (32, 1, 1), [torch.ones(5, device="cuda"), 5])  # doctest: +SKIP
    """
    if not kernel_source:
        raise ValueError("Kernel source cannot be empty")
    if not kernel_name:
        raise ValueError("Kernel name cannot be empty")
    init()
    capability = compute_capability or "".join(map(str, torch.cuda.get_device_capability()))
    options = (
        f"--gpu-architecture=sm_{capability}",
        "--std=c++17",
        *(f"-I{folder}" for folder in cuda_include_dirs or ()),
        *(nvcc_options or ()),
    )
    return Kernel(kernel_name, *_compiled(kernel_source, kernel_name, options))
