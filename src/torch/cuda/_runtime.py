"""The CUDA runtime that the plug-in has loaded, for the few calls of it that programs make themselves."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import torch
from torch.cuda._device import init


class cudaStatus:
    """Codes of the runtime that programs look for."""

    SUCCESS = 0
    ERROR_NOT_READY = 34


class CudaError(RuntimeError):
    """A call of the runtime that has failed; `code` is its number."""

    def __init__(self, code: int) -> None:
        self.code = int(code)
        super().__init__(f"{cudart().cudaGetErrorString(self.code)} ({self.code})")


def check_error(res: int) -> None:
    """Raises CudaError unless `res`, what a call of `cudart()` has returned, is success."""
    if int(res) != cudaStatus.SUCCESS:
        raise CudaError(res)


class _Runtime:
    """Functions of the runtime, which return codes; `cudaMemGetInfo` returns bytes, free and in all."""

    cudaError = cudaStatus

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def cudaGetErrorString(self, code: int) -> str:
        self._library.cudaGetErrorString.restype = ctypes.c_char_p
        return self._library.cudaGetErrorString(int(code)).decode()

    def cudaProfilerStart(self) -> int:
        return self._library.cudaProfilerStart()

    def cudaProfilerStop(self) -> int:
        return self._library.cudaProfilerStop()

    def cudaHostRegister(self, address: int, size: int, flags: int) -> int:
        return self._library.cudaHostRegister(ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_uint(flags))

    def cudaHostUnregister(self, address: int) -> int:
        return self._library.cudaHostUnregister(ctypes.c_void_p(address))

    def cudaStreamCreate(self, place: int) -> int:
        return self._library.cudaStreamCreate(ctypes.c_void_p(place))

    def cudaStreamDestroy(self, stream: int) -> int:
        return self._library.cudaStreamDestroy(ctypes.c_void_p(stream))

    def cudaMemGetInfo(self, device: int) -> tuple[int, int]:
        return torch.cuda.mem_get_info(device)


@cache
def _load() -> _Runtime:
    name = f"libcudart.so.{str(torch.version.cuda).partition('.')[0]}"
    try:
        return _Runtime(ctypes.CDLL(name))  # the one in this process, by its name
    except OSError as error:
        raise RuntimeError(f"torch.cuda.cudart: {name} cannot be loaded: {error}") from None


def cudart() -> Any:
    """The CUDA runtime: `cudaProfilerStart`, `cudaHostRegister`, `cudaMemGetInfo`, ...

    Raises:
        RuntimeError: CUDA cannot be used.
    """
    init()
    return _load()
