"""Statements of C++, compiled into a module that measures them."""

from __future__ import annotations

import hashlib
from typing import Any

_SOURCE = """
#include <chrono>
#include <torch/extension.h>
{global_setup}
double timeit(int64_t number) {{
  pybind11::gil_scoped_release without_gil;
  {setup}
  for (int64_t warm_up = 0; warm_up < 10; ++warm_up) {{
    {statement}
  }}
  const auto start = std::chrono::steady_clock::now();
  for (int64_t call = 0; call < number; ++call) {{
    {statement}
  }}
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}}
"""


def compile_timer(statement: str, setup: str, global_setup: str) -> Any:
    """A module whose `timeit(number)` gives the seconds of so many runs."""
    from torch.utils.cpp_extension import load_inline

    source = _SOURCE.format(statement=statement, setup=setup, global_setup=global_setup)
    name = f"timer_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    return load_inline(name, source, functions=["timeit"])
