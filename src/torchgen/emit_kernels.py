"""Writes aten/Kernels.h, the kernel tables, and the sources that fill their CPU and CUDA columns."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from torchgen.output import Output, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchgen.model import Declarations, Kernel


def core_outputs(declarations: Declarations) -> Iterator[Output]:
    kernels = declarations.kernels
    yield Output(
        PurePosixPath("aten/Kernels.h"),
        fill(
            "Kernels.h",
            tables="\n".join(f"extern TORCH_API {_table_type(kernel)} {kernel.name}_kernels;" for kernel in kernels),
            cpu_kernels=_backend_declarations(kernels, "CPU"),
            cuda_kernels=_backend_declarations(kernels, "CUDA"),
        ),
    )
    yield Output(
        PurePosixPath("aten/RegisterCPU.cpp"),
        fill("RegisterCPU.cpp", tables="\n".join(_cpu_definition(kernel) for kernel in kernels)),
    )


def cuda_outputs(declarations: Declarations) -> Iterator[Output]:
    lines = [
        f"  {kernel.name}_kernels.set(DeviceType::CUDA, &run<{kernel.name}_kernels, &cuda::{kernel.name}_kernel>);"
        for kernel in declarations.kernels
        if "CUDA" in kernel.backends
    ]
    yield Output(PurePosixPath("aten/RegisterCUDA.cpp"), fill("RegisterCUDA.cpp", registrations="\n".join(lines)))


def _table_type(kernel: Kernel) -> str:
    return f"c10::KernelTable<void({', '.join(argument.type for argument in kernel.arguments)})>"


def _backend_declarations(kernels: tuple[Kernel, ...], backend: str) -> str:
    return "\n".join(
        f"void {kernel.name}_kernel({', '.join(map(str, kernel.arguments))});"
        for kernel in kernels
        if backend in kernel.backends
    )


def _cpu_definition(kernel: Kernel) -> str:
    column = f"&cpu::{kernel.name}_kernel" if "CPU" in kernel.backends else "nullptr"
    return f'{_table_type(kernel)} {kernel.name}_kernels("{kernel.name}", {column});'
