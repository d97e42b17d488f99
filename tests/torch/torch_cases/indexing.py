"""Indexing: what is read, and what assignments change."""

from __future__ import annotations

from typing import Any

from torch_golden import Case

READS = (
    "x[0]",
    "x[-1]",
    "x[1, 2]",
    "x[1, 2, 3]",
    "x[...]",
    "x[..., 1]",
    "x[0, ..., 1]",
    "x[:]",
    "x[1:]",
    "x[:, 1:3]",
    "x[:, ::2]",
    "x[:, 0:1, 1:100]",
    "x[None]",
    "x[:, None, 0]",
    "x[..., None]",
    "x[()]",
    "x[True]",
    "x[False]",
    "x[torch.tensor(1)]",
    "x[torch.tensor([1, 0, 1])]",
    "x[[1, 0]]",
    "x[[1, 0], [2, 1]]",
    "x[:, [2, 0]]",
    "x[:, [2, 0], [1, 3]]",
    "x[[0, 1], :, [1, 3]]",
    "x[[[0], [1]], [0, 2]]",
    "x[torch.tensor([[0, 1], [1, 0]])]",
    "x[x > 5]",
    "x[x[:, 0, 0] > 5]",
    "x[:, torch.tensor([True, False, True])]",
    "x[0][torch.tensor([[True, False, True, False]] * 3)]",
    "x[torch.tensor([-1, 0])]",
    "x[1:1]",
    "x[:, -2:]",
    "x[0, torch.tensor([0, 2]), 1:3]",
    "x[None, 1, None, [0, 1]]",
    "x[np.array([1, 0])]",
    "x[np.int64(1)]",
    "x[1].stride()",
    "x[:, 1:3].is_contiguous()",
    "x[0].data_ptr() == x.data_ptr()",
    "x[2]",
    "x[0, 5]",
    "x[0, 0, 0, 0]",
    "x[torch.tensor([5])]",
    "x[torch.tensor([True, False, True])]",
    "x[1.5]",
    "x[::-1]",
    "x[[0, 1], [0, 1, 2]]",
    "torch.tensor(1)[0]",
)
WRITES = (
    "x[0] = 100",
    "x[1, 2, 3] = -1.5",
    "x[:, 1] = torch.arange(4.0)",
    "x[..., 0] = torch.tensor([[1.0], [2.0]])",
    "x[[0, 1], [1, 2]] = 7",
    "x[torch.tensor([1])] = torch.zeros(3, 4)",
    "x[x > 5] = 0",
    "x[x > 5] = torch.arange(18.0)",
    "x[torch.tensor([True, False])] = 9",
    "x[:, [2, 0]] = torch.ones(4)",
    "x[...] = 3",
    "x[()] = 4",
    "x[None] = 5",
    "x[True] = 6",
    "x[0] += 1",
    "x[:, 0, 1:] *= 2",
    "x[1] = True",
    "x[0] = torch.zeros(5)",
    "x[9] = 1",
)


def _namespace(torch: Any) -> dict[str, Any]:
    import numpy as np

    return {"torch": torch, "np": np, "x": torch.arange(24.0).reshape(2, 3, 4)}


def _read(text: str) -> Case:
    return Case(lambda torch: eval(text, _namespace(torch)))


def _write(text: str) -> Case:
    def function(torch: Any) -> Any:
        names = _namespace(torch)
        exec(text, names)
        return names["x"]

    return Case(function)


def _gradient(text: str) -> Case:
    def function(torch: Any) -> Any:
        names = _namespace(torch)
        leaf = names["x"].double().requires_grad_()
        names["x"] = leaf
        result = eval(text, names)
        (result * torch.arange(result.numel(), dtype=torch.float64).reshape(result.shape)).sum().backward()
        return leaf.grad

    return Case(function)


CASES: dict[str, Case] = {text: _read(text) for text in READS}
CASES.update({text: _write(text) for text in WRITES})
CASES.update({f"gradient {text}": _gradient(text) for text in READS[:36]})
