"""Element-wise functions of CUDA tensors, written in CUDA C++ and compiled when they are first called."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.cuda._kernels import compile_kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch.cuda._kernels import Kernel

__all__: list[str] = []

_MOST_TENSORS = 8
_THREADS, _MOST_BLOCKS = 256, 4096
_NAMES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.int8: "signed char",
    torch.uint8: "unsigned char",
    torch.int16: "short",
    torch.int32: "int",
    torch.int64: "long long",
    torch.bool: "bool",
}
_HEAD = re.compile(r"template\s*<\s*typename\s+\w+\s*>\s*\w+\s+(?P<name>\w+)\s*\(")  # template <typename T> T name(


class _Function:
    """What `_create_jit_fn` returns."""

    def __init__(self, code: str, outputs: int, returns: bool, scalars: dict[str, float]) -> None:
        heads = list(_HEAD.finditer(code))
        if not heads:
            raise Exception(f"Couldn't parse code, please check correctness:\n {code}")
        self.code, self.name = code, heads[-1]["name"]  # the others are what it calls
        self.outputs, self.returns, self.scalars = outputs, returns, scalars

    def __call__(self, *tensors: Tensor, **kwargs: float) -> Any:
        """The results, in the type that the tensors have in common; float16 and bfloat16 are computed in float32.

        Raises:
            TypeError: a number that the function has no default for, or a type that it cannot have.
            ValueError: the tensors are not all on one CUDA device, or they are too many.
            RuntimeError: shapes that do not broadcast, or code that does not compile.
        """
        if not 1 <= len(tensors) <= _MOST_TENSORS:
            raise ValueError(f"jiterator takes 1 to {_MOST_TENSORS} tensors, got {len(tensors)}")
        if len({tensor.device for tensor in tensors}) > 1 or not tensors[0].is_cuda:
            raise ValueError("jiterator takes tensors of one CUDA device")
        unknown = sorted(kwargs.keys() - self.scalars.keys())
        if unknown:
            raise TypeError(f"{self.name} has no number of the name {unknown[0]}: {', '.join(self.scalars) or 'none'}")
        common = tensors[0].dtype
        for tensor in tensors[1:]:
            common = torch.promote_types(common, tensor.dtype)
        computed = torch.float32 if common in (torch.float16, torch.bfloat16) else common
        if computed not in _NAMES:
            raise TypeError(f"jiterator does not compute with {common}")
        inputs = [tensor.to(computed).contiguous() for tensor in torch.broadcast_tensors(*tensors)]
        results = [torch.empty(inputs[0].shape, dtype=computed, device=inputs[0].device) for _ in range(self.outputs)]
        count = inputs[0].numel()
        if count:
            kernel = _compile(
                self.code, self.name, len(inputs), self.outputs, self.returns, len(self.scalars), computed
            )
            numbers = [ctypes.c_double(value) for value in (self.scalars | kwargs).values()]
            blocks = min((count + _THREADS - 1) // _THREADS, _MOST_BLOCKS)
            with torch.cuda.device(inputs[0].device):
                kernel((blocks, 1, 1), (_THREADS, 1, 1), [*results, *inputs, *numbers, ctypes.c_longlong(count)])
        rounded = [result.to(common) for result in results]
        return rounded[0] if self.outputs == 1 else tuple(rounded)


@cache
def _compile(
    code: str, name: str, inputs: int, outputs: int, returns: bool, scalars: int, dtype: torch.dtype
) -> Kernel:
    """A kernel that calls the function for every element."""
    kind = _NAMES[dtype]

    def listed(pattern: str, count: int) -> list[str]:
        return [pattern.format(number) for number in range(count)]

    parameters = listed(f"{kind}* out{{}}", outputs) + listed(f"const {kind}* in{{}}", inputs)
    parameters += [*listed("double number{}", scalars), "long long count"]
    values = listed("in{}[index]", inputs) + listed(f"static_cast<{kind}>(number{{}})", scalars)
    if returns:
        work = f"out0[index] = {name}<{kind}>({', '.join(values)});"
    else:
        places = listed("out{}[index]", outputs)
        work = f"{name}<{kind}>({', '.join([*values, *places])});"
    source = f"""{code}
__global__ void jitted_{name}({", ".join(parameters)}) {{
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; index < count; index += step) {{
    {work}
  }}
}}
"""
    # What does not say where it runs is a kernel's.
    return compile_kernel(source, f"jitted_{name}", nvcc_options=["--device-as-default-execution-space"])


def _create_jit_fn(code_string: str, **kwargs: float) -> Callable[..., Tensor]:
    """An element-wise function of CUDA tensors, made of CUDA C++.

    Args:
        code_string: `template <typename T> T name(T x, T y, T alpha) { ... }`, and in front of it what it calls.
        kwargs: the function's last parameters, numbers that are the same for all elements, and their defaults.

    Returns:
        A function of tensors, which are broadcast, and of the numbers by their names.

    Raises:
        Exception: there is no such function in the text.

    Example:
        >>> relu = torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x > 0 ? x : 0; }")
        >>> relu(torch.tensor([-1.0, 2.0], device="cuda"))  # doctest: +SKIP
    """
    return _Function(code_string, 1, True, kwargs)


def _create_multi_output_jit_fn(code_string: str, num_outputs: int, **kwargs: float) -> Callable[..., Any]:
    """The same for `void name(T x, T y, T alpha, T& first, T& second)`, with `num_outputs` results."""
    return _Function(code_string, num_outputs, False, kwargs)
