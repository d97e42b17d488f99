"""Writes PyTorch's public names by namespace, with real PyTorch: python tests/torch/golden/make_public_names.py

src/torch/_public_names.py: what torch._missing and docs/coverage.md are made from.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path

import torch

SOURCE = Path(__file__).resolve().parents[3] / "src" / "torch" / "_public_names.py"
# What else begins with a capital in torch comes from the inside of its compiler.
CLASSES = re.compile(
    r"\w*(Storage|Tensor)|Generator|Size|Tag|OutOfMemoryError|AcceleratorError|Event|Stream|Sym(Bool|Float|Int)"
)
MODULES = [
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.parametrizations",
    "torch.nn.utils.prune",
    "torch.nn.attention",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.optim.swa_utils",
    "torch.distributions",
    "torch.distributions.constraints",
    "torch.distributions.transforms",
    "torch.utils.data",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.autograd.graph",
    "torch.amp",
    "torch.func",
    "torch.fx",
    "torch.jit",
    "torch.hub",
    "torch.library",
    "torch.serialization",
    "torch.testing",
    "torch.multiprocessing",
    "torch.profiler",
    "torch.overrides",
    "torch.utils.checkpoint",
    "torch.utils.benchmark",
    "torch.utils.flop_counter",
    "torch.accelerator",
    "torch.compiler",
    "torch.masked",
    "torch.random",
]
NAMESPACES = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn": torch.nn,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.fft": torch.fft,
    "torch.special": torch.special,
    "torch.signal.windows": torch.signal.windows,
    **{name: import_module(name) for name in MODULES},
}


def public_names(namespace: str, home: object) -> list[str]:
    """Functions, classes and values that are torch's own: neither modules nor what a module imported for itself."""
    names = []
    for name in dir(home):
        value = getattr(home, name, None)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        origin = getattr(value, "__module__", None) or "torch"
        if not inspect.isclass(home) and not str(origin).startswith("torch"):
            continue
        if namespace in MODULES and name not in getattr(home, "__all__", [name]):
            continue
        if namespace == "torch" and name not in torch.__all__ and not hasattr(torch._C._VariableFunctions, name):
            continue
        if namespace == "torch" and name[0].isupper() and CLASSES.fullmatch(name) is None:
            continue
        names.append(name)
    return names


def main() -> None:
    table = {namespace: public_names(namespace, home) for namespace, home in NAMESPACES.items()}
    lines = [
        '"""The public names of PyTorch 2.13 by namespace. Written by tests/torch/golden/make_public_names.py."""',
        "",
    ]
    lines += ["NAMES = {"]
    for namespace, names in table.items():
        lines += [f'    "{namespace}": """', *textwrap.wrap(" ".join(names), 116), '""",']
    SOURCE.write_text("\n".join([*lines, "}"]) + "\n")
    print({namespace: len(names) for namespace, names in table.items()})


if __name__ == "__main__":
    main()
